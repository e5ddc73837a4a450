// Package worker runs the sandboxes of a driver in other processes, many in each. The driver's own code, not a kernel, isolates
// commands in memory, so the process that holds such sandboxes is the boundary between users: it has a memory limit that the
// kernel enforces, and its death ends its own sandboxes alone.
//
// [Pool] starts workers, and [Serve] is the main function of one. The two share a connection of package session, on which each
// request names its sandbox. A worker ends with the connection, so it does not outlive the process that has started it.
package worker
