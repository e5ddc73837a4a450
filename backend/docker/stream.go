package docker

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// stream is the guest's standard input and output, as the engine carries them: each piece of output behind eight
// bytes that say which it is and how long (Engine API, "Attach to a container").
type stream struct {
	conn net.Conn
	in   *bufio.Reader
	rest uint32        // of the piece of output that is being read
	said session.Words // what the guest wrote to its standard error
}

func newStream(h client.HijackedResponse) *stream {
	return &stream{conn: h.Conn, in: bufio.NewReaderSize(h.Reader, 64<<10)} // two of the engine's pieces
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.await(); err != nil {
		return 0, err
	}
	n, err := s.in.Read(p[:min(len(p), int(s.rest))])
	s.rest -= uint32(n)
	return n, err
}

// await returns when there is output to read.
func (s *stream) await() error {
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
			if _, err := io.CopyN(&s.said, s.in, int64(size)); err != nil {
				return err
			}
		default:
			return sandbox.Errorf(sandbox.Internal, "the engine sends a stream %d", head[0])
		}
	}
	return nil
}

func (s *stream) Write(p []byte) (int, error) { return s.conn.Write(p) }

// Close ends the guest's input, and with it the guest.
func (s *stream) Close() error { return s.conn.Close() }
