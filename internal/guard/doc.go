// Package guard answers the system calls of a sandbox that create names or connect sockets
// (seccomp_unotify(2)). It enforces what mounts cannot: a name that does not exist yet cannot be
// mounted over, and a read-only mount does not stop connect(2). It runs on the host, or inside the
// sandbox in a process that commands can neither trace nor kill.
//
// A process that starts commands installs a guard's [Guard.Program] with [Listen] on the
// thread that starts them, and [Guard.Serve] answers. Child processes inherit the program and
// cannot remove it. All data read from a command is hostile.
package guard
