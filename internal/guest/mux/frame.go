package mux

import "encoding/binary"

// The flags of a frame.
const (
	flagOpen   = 1 << iota // the first frame of a stream
	flagEnd                // the sender sends no more
	flagStop               // the sender reads no more
	flagReset              // the stream broke
	flagCredit             // the length is the number of additional bytes that the receiver may send

	flagsKnown = flagOpen | flagEnd | flagStop | flagReset | flagCredit
)

const (
	headLength = 8
	maxLength  = 1<<24 - 1
	maxPayload = 128 << 10 // of one frame
	window     = 1 << 20   // bytes on the way on one stream, in one direction
	maxStreams = 4096      // streams that the other end may have open
	maxPending = 256 << 10 // bytes that wait for the connection; above this number, senders wait
)

type head struct {
	id     uint32
	flags  byte
	length uint32
}

func (h head) appendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, h.id)
	return binary.BigEndian.AppendUint32(b, uint32(h.flags)<<24|h.length)
}

func parseHead(b [headLength]byte) head {
	second := binary.BigEndian.Uint32(b[4:])
	return head{id: binary.BigEndian.Uint32(b[:4]), flags: byte(second >> 24), length: second & maxLength}
}
