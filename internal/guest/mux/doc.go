// Package mux carries many streams over one connection: the way of everything between the host and a guest.
//
// A frame is a head of eight bytes, big endian, and its payload:
//
//	stream  4 bytes  odd when the client opened it, even when the server did
//	flags   1 byte   open, end, stop, reset, credit
//	length  3 bytes  of the payload, or with credit, which has none, how many more bytes may be sent
//
// The first frame of a stream opens it; nothing is asked and nothing is answered. Each direction ends on its own: end says
// that no more is sent, stop that nothing more is read, reset that the stream broke. Each end may send so many bytes on a
// stream as the other one has room for, so that nobody who does not read holds up the others.
//
// What several streams send at one time leaves in one write, and what one sends leaves at once: there is no goroutine
// between a Write and the connection. One reads it and never waits for anything else.
package mux
