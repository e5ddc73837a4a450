// Package session is the protocol between host and guest: many commands at a time over one byte stream (an inherited
// socket, an attached exec, a pod's exec stream).
//
// Both ends first send one line with the protocol and its version, so that each detects a stream of another program at
// once. Then the stream is multiplexed (package mux), and each command
// has a stream of its own, and a second one for its input when it has any, so that unread input
// does not delay a signal. A command's stream carries frames: one byte for the kind, four for the length (big endian), then the
// content.
//
// The host's end is a [Client], the guest's is [Serve]. The client does not trust the guest: each length is limited, and
// a guest that breaks the protocol ends the session.
package session
