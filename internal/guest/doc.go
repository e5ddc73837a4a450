// Package guest is what runs inside a sandbox, and the host's side of talking to
// it: command wrappers, the first program of a terminal session, and file access.
//
// The inner side is one small static program. [Main] decides by argv 0 what it
// is: under the name of a wrapped command it applies that command's rule,
// under its own name it offers check, init, files and connect. [NewFiles] is the host's
// end of files, [NewProxyLink] and [NewPortLink] make those of init's network,
// [Locate] finds the program to mount.
//
// A wrapper is an early and friendly no, not a wall: whoever can run programs can
// do without it. What must hold is held by the mounts, the guard and the network.
package guest
