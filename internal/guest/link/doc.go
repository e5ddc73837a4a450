// Package link carries a connection over streams that may break.
//
// The client dials a stream; when it breaks before either end has closed the connection, the client dials the next one
// and both ends report how much they have received, so that lost bytes are sent again: every byte arrives once and
// in order, or the connection ends with an error. Each end stores sent bytes until the other end has confirmed them.
//
// On a new stream the server first sends a line with the version, because another program may still read the stream's
// first bytes until that line. The client answers with its hello: the connection's key, whether the connection is new,
// and how many bytes it has received. The server answers whether it knows the key, and how many bytes it has received.
// Frames follow: a kind, a length of four bytes, and the payload.
package link
