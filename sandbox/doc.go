// Package sandbox is the portable API of agent-sandbox: untrusted commands run in
// a sandbox, which any backend may isolate.
//
// A [Driver] builds the isolation (see backend/bwrap and its siblings); [Create] turns a
// [Spec] into a [Sandbox] whose methods mean the same over every driver. Limits,
// output caps and error wrapping live here, once, so drivers do not repeat them.
//
// Zero values are the safe choice: no network, no host paths, no environment,
// capped output. A command that exits non-zero is data in a [Result]; an error
// means that the sandbox itself failed, and is always an [*Error].
//
// The package imports the standard library only.
package sandbox
