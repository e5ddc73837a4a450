package egress

import (
	"errors"
	"io"
	"net/http/httputil"
	"sync/atomic"
	"time"
)

// body is a request's body on its way from the client to the transport. The transport
// may still read it while the response is written, hence the atomics.
type body struct {
	client *client
	r      io.Reader
	limit  *io.LimitedReader // nil: chunked
	scan   *scanner          // nil: nothing to look for

	done    atomic.Bool // all of it was read, and the next request may be
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
		// Trailers are dropped: they would be header fields that were not checked.
		l := &lines{br: b.client.br, left: maxHeader}
		if _, terr := l.fields(); terr != nil {
			return n, terr
		}
		b.done.Store(true)
	}
	return n, err
}

// Close is called by the transport; the client's connection is not its to close.
func (b *body) Close() error { return nil }
