// Package worker runs the sandboxes of a driver in other processes, many in each. For commands in memory, the driver's
// own code isolates, not a kernel. So the process that holds such sandboxes is the boundary between users: the kernel
// enforces its memory limit, and its death ends only its own sandboxes.
//
// [Pool] starts workers, and [Serve] is the main function of one. The two share a connection of package session, on which each
// request names its sandbox. A worker ends with the connection, so it does not outlive the process that has started it.
package worker
