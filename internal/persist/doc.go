// Package keep lets sandboxes live on when the process that made them has ended.
//
// There is no daemon: each such sandbox has a process of its own, its keeper, which holds the walls and hands the
// sandbox to whoever of the same user connects to its socket. What is known of a sandbox lies in a directory of its
// own: the record, a lock that the keeper holds as long as it lives (so that the kernel, and nobody's bookkeeping,
// tells whether it does, also after SIGKILL and a reboot), the socket, and a log. A sandbox whose keeper has ended is
// stopped: it can be started again from its record.
//
// [Driver] adds that to a driver whose sandboxes live in the process that makes them.
package persist
