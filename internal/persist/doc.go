// Package persist makes sandboxes persistent: they outlive the process that created them.
//
// There is no daemon. Each persistent sandbox has a process of its own, its keeper, which holds the isolation and serves
// the sandbox to every process of the same user that connects to its socket. A directory stores what is known of the
// sandbox: the record, the socket, a log, and a lock that the keeper holds as long as it lives, so that the kernel says
// whether the keeper runs, also after SIGKILL and a reboot. A sandbox whose keeper has ended is stopped: it can be
// started again from its record.
//
// [Driver] adds this to a driver whose sandboxes end with the process that creates them.
package persist
