// Package persist makes sandboxes persistent: they outlive the process that created them.
//
// It needs no daemon. Each persistent sandbox has its own process, the keeper, which holds the isolation and serves the
// sandbox to every process of the same user that connects to its socket. A directory stores the sandbox's record, the
// socket, a log, and a lock. The keeper holds the lock until it ends, so that the lock shows whether the keeper runs,
// even after SIGKILL or a reboot. A sandbox whose keeper has ended is stopped: it can be started again from its record.
//
// [Driver] adds this to a driver whose sandboxes end with the process that creates them.
package persist
