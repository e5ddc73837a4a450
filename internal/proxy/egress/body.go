package egress

import (
	"errors"
	"io"
	"net/http/httputil"
	"sync/atomic"
	"time"
)

// body is a request's body that the transport reads from the client. The transport may
// still read it while the response is written, so its fields are atomic.
type body struct {
	client *client
	r      io.Reader
	limit  *io.LimitedReader // nil: chunked
	scan   *scanner          // nil: there are no placeholders to search for

	done    atomic.Bool // the whole body was read, so that the next request can be read
	refused atomic.Pointer[denial]
}

// newBody returns nil for a request without a body.
func newBody(c *client, h *head, scan *scanner) *body {
	b := &body{client: c, scan: scan}
	switch {
	case h.length == 0:
		return nil
	case h.length > 0:
		b.limit = &io.LimitedReader{R: c.br, N: h.length}
		b.r = b.limit
	default:
		b.r = httputil.NewChunkedReader(c.br)
	}
	return b
}

// Read fails with a *denial when the body contains a forbidden placeholder.
func (b *body) Read(p []byte) (int, error) {
	if b.done.Load() {
		return 0, io.EOF
	}
	_ = b.client.conn.SetReadDeadline(time.Now().Add(b.client.proxy.options.IdleTimeout))
	n, err := b.r.Read(p)
	if b.scan != nil {
		if d := b.scan.look(p[:n]); d != nil {
			b.refused.Store(d)
			return 0, d
		}
	}
	if b.limit != nil {
		if b.limit.N == 0 {
			b.done.Store(true)
		} else if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return n, err
	}
	if errors.Is(err, io.EOF) {
		// Drop trailers: they are header fields that were not checked.
		l := &lines{br: b.client.br, left: maxHeader}
		if _, terr := l.fields(); terr != nil {
			return n, terr
		}
		b.done.Store(true)
	}
	return n, err
}

// The transport calls Close, which must not close the client's connection.
func (b *body) Close() error { return nil }
