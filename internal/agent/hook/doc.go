// Package hook runs the hooks of assistants: functions in JavaScript or TypeScript that see a request before the model
// does (Create) and its answer afterwards (Next).
//
// A hook can use only its [Request]: files and commands of the request's own sandbox, messages to
// the user, memory and a log. It can import only the assistant's own files. It has no timers, network, processes or host access.
//
// Scripts run in workers: processes of the program agent-sandbox-hooks, without environment or keys, which the engine
// kills when a script does not end. Workers enforce all of [Limits]. With [Options].Interpreter scripts run in this
// process instead, for tests and trusted scripts: time and depth are checked between the steps of a script,
// but a single call of a built-in function, such as "x".repeat(1e9) or a regular expression that backtracks,
// returns before it is interrupted, and memory is unbounded.
package hook
