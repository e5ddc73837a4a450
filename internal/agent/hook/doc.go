// Package hook runs the hooks of assistants: functions in JavaScript or TypeScript that see a request before the model
// does (Create) and its answer afterwards (Next).
//
// A hook computes, and reaches nothing but what its [Request] has: files and commands of the request's own sandbox, messages to
// the user, memory, a log. There are no modules but the assistant's own files, no timers, no network, no process, no host.
//
// Scripts run in workers: processes of their own, without environment or keys, that are killed when one does not end.
// There, all of [Limits] holds, whatever a script does. Without workers ([Options].Worker is nil) scripts run in this
// process, which is for scripts of one's own and for tests: what a script does step by step is held, in time and in depth; but a
// single call of a function of the language, such as "x".repeat(1e9) or a regular expression that backtracks, is not
// ended before it returns, and memory is not bounded at all.
package hook
