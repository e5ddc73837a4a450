// Package link carries a connection over streams that may break.
//
// The client dials a stream; when it breaks before either end has closed the connection, the client dials the next one
// and both ends say how much they have received, so that what was on its way is sent again: every byte arrives once and
// in order, or the connection ends with an error. What has been sent is kept until the other end has confirmed it.
//
// On a new stream the server speaks first, a line with the version, because the client may have to wait until whoever
// took earlier bytes off the stream has stopped reading. The client answers with its hello: the connection's key,
// whether it is a new one, and what was received of it. The server says whether it knows it, and what it has received.
// Frames follow: a kind, a length of four bytes, and the payload.
package link
