// Package guard answers the system calls of a sandbox by which names come into being and
// sockets are connected (seccomp_unotify(2)): it keeps out what no mount can, since a name
// that does not exist yet cannot be mounted over and a read-only mount does not stop
// connect(2). It runs on the host beside the sandbox, or inside, in a process that the
// sandbox's commands can neither trace nor kill.
//
// Whoever starts commands installs a guard's [Guard.Program] with [Listen] on the thread
// that starts them and lets [Guard.Serve] answer. The program is inherited by whatever they
// start and cannot be taken off. Everything that is read from a command is hostile.
package guard
