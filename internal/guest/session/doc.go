// Package session is how host and guest talk: many commands at a time over one byte stream, whatever
// that is made of (an inherited socket, an attached exec, a pod's exec stream).
//
// Both ends first send one line that names the protocol and its version, so that a stream on which
// something else speaks is found out at once. Then the stream is multiplexed (package mux), and each command
// has a stream of its own, and a second one for its input when it has any, so that input that nobody reads
// never holds up a signal. On a command's stream go frames: one byte that says what, four that say how
// long (big endian), then that many bytes.
//
// The host's end is a [Client], the guest's is [Serve]. The client takes what comes for hostile: each
// length is bounded, and a guest that breaks the protocol ends the session.
package session
