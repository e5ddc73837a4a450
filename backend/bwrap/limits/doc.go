// Package limits enforces the memory, file size, process and processor limits of one command with cgroups and resource limits
// (cgroups(7), getrlimit(2)). Package sandbox enforces the wall-clock and output limits; the size of /tmp is that of its mount.
//
// [New] decides how this host can enforce each limit and rejects a required one that it cannot. [Limits.Attach] sets them on
// the first process of a sandbox, and [Limits.Close] removes the cgroups.
package limits
