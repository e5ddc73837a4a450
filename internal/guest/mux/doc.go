// Package mux multiplexes streams over the one connection between the host and a guest.
//
// A frame is a head of eight bytes, big endian, and a payload:
//
//	stream  4 bytes  odd when the client opened it, even when the server did
//	flags   1 byte   open, end, stop, reset, credit
//	length  3 bytes  of the payload, or with credit, which has none, how many more bytes may be sent
//
// The first frame of a stream opens it, without an answer. Each direction ends separately: end means that the sender sends no
// more, stop that the receiver reads no more, reset that the stream broke. Each end sends at most as many bytes on a stream as
// the other end has room for, so that a stream without a reader does not block the others.
//
// Frames that several streams send at the same time leave in one write. A single frame leaves at once: the goroutine
// that calls Write also writes to the connection. One goroutine reads the connection and never waits for a reader of a
// stream.
package mux
