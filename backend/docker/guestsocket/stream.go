package guestsocket

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Stream is the guest's standard input and output as the engine carries them: before each piece of output, eight bytes say
// which stream it is of and how long (Engine API, "Attach to a container").
type Stream struct {
	conn net.Conn
	in   *bufio.Reader
	rest uint32        // unread bytes of the current piece of output
	errs session.Words // the guest's standard error
}

// NewStream returns the stream of an attached container.
func NewStream(h client.HijackedResponse) *Stream {
	return &Stream{conn: h.Conn, in: bufio.NewReaderSize(h.Reader, 64<<10)} // two of the engine's pieces
}

func (s *Stream) Read(p []byte) (int, error) {
	if err := s.await(); err != nil {
		return 0, err
	}
	n, err := s.in.Read(p[:min(len(p), int(s.rest))])
	s.rest -= uint32(n)
	return n, err
}

// Stderr returns what the guest has written to its standard error so far.
func (s *Stream) Stderr() string { return s.errs.String() }

// await returns when there is output to read.
func (s *Stream) await() error {
	for s.rest == 0 {
		var head [8]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return err
		}
		size := binary.BigEndian.Uint32(head[4:])
		const output, errors = 1, 2
		switch head[0] {
		case output:
			s.rest = size
		case errors:
			if _, err := io.CopyN(&s.errs, s.in, int64(size)); err != nil {
				return err
			}
		default:
			return sandbox.Errorf(sandbox.Internal, "the engine sent output of stream %d; expected 1 or 2", head[0])
		}
	}
	return nil
}

func (s *Stream) Write(p []byte) (int, error) { return s.conn.Write(p) }

// Close ends the guest's input, and with it the guest.
func (s *Stream) Close() error { return s.conn.Close() }
