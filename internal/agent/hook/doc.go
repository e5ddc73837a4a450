// Package hook runs the hooks of assistants: functions in JavaScript or TypeScript that see a request before the model
// does (Create) and its answer afterwards (Next).
//
// A hook computes, and reaches nothing but what its [Request] has: files and commands of the request's own sandbox, messages to
// the user, memory, a log. There are no modules but the assistant's own files, no timers, no network, no process, no host.
//
// Scripts run in workers: processes of the program agent-sandbox-hooks, without environment or keys, that the engine
// kills when a script does not end. Workers enforce all of [Limits]. With [Options].Interpreter scripts run in this
// process instead, which is for tests and for trusted scripts: time and depth are checked between the steps of a script,
// but a single call of a function of the language, such as "x".repeat(1e9) or a regular expression that backtracks,
// returns before it is interrupted, and memory has no bound.
package hook
