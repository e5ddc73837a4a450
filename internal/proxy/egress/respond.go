package egress

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"time"
)

// write sends text to the client within the idle time.
func (c *client) write(text string) bool {
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.proxy.options.IdleTimeout))
	_, err := io.WriteString(c.conn, text)
	return err == nil
}

// Write writes a piece of a body; each piece gets the whole idle time.
func (c *client) Write(p []byte) (int, error) {
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.proxy.options.IdleTimeout))
	return c.conn.Write(p)
}

// writeHead sends a status line and header; framing is its last lines, with CRLF.
func (c *client) writeHead(res *http.Response, framing string) bool {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(res.StatusCode) + " " + http.StatusText(res.StatusCode) + "\r\n")
	// Header.Write leaves invalid names out and replaces line ends in values.
	if err := res.Header.Write(&b); err != nil {
		return false
	}
	b.WriteString(framing + "\r\n")
	return c.write(b.String())
}

// respond sends a response with the proxy's own framing and reports whether it was sent completely.
func (c *client) respond(h *head, res *http.Response, keep bool) bool {
	stripHops(res.Header)
	res.Header.Del("Content-Length")
	framing := "Connection: close\r\n"
	if keep {
		framing = ""
	}
	empty := h.method == http.MethodHead || res.StatusCode < 200 ||
		res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusNotModified
	chunked := false
	switch {
	case empty:
		if h.method == http.MethodHead && res.ContentLength >= 0 {
			framing += "Content-Length: " + strconv.FormatInt(res.ContentLength, 10) + "\r\n"
		}
	case res.ContentLength >= 0:
		framing += "Content-Length: " + strconv.FormatInt(res.ContentLength, 10) + "\r\n"
	case h.http10:
		// For HTTP/1.0 the end of the connection is the end of the body, and keep is false.
	default:
		chunked = true
		framing += "Transfer-Encoding: chunked\r\n"
	}
	if !c.writeHead(res, framing) {
		return false
	}
	if empty {
		return true
	}
	return c.copyBody(res, chunked)
}

// largeBody is the length from which a body is copied in larger pieces, which halves the CPU time of a
// download.
const largeBody = 1 << 20

var largeBuffers = sync.Pool{New: func() any { return new([128 << 10]byte) }}

func (c *client) copyBody(res *http.Response, chunked bool) bool {
	src := res.Body
	if res.ContentLength >= largeBody {
		buf := largeBuffers.Get().(*[128 << 10]byte) //nolint:forcetypeassert // nothing else is put there
		defer largeBuffers.Put(buf)
		_, err := io.CopyBuffer(struct{ io.Writer }{c}, src, buf[:])
		return err == nil
	}
	buf := make([]byte, 32<<10)
	if !chunked {
		_, err := io.CopyBuffer(struct{ io.Writer }{c}, src, buf)
		return err == nil
	}
	// Write to the connection after each read, so that streams are not delayed.
	var frame bytes.Buffer
	w := httputil.NewChunkedWriter(&frame)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			frame.Reset()
			if _, werr := w.Write(buf[:n]); werr != nil {
				return false
			}
			if _, werr := c.Write(frame.Bytes()); werr != nil {
				return false
			}
		}
		if errors.Is(err, io.EOF) {
			return c.write("0\r\n\r\n")
		}
		if err != nil {
			return false
		}
	}
}

// refuseError answers a client after an error; a connection that broke or timed out gets no answer. h
// may be nil.
func (c *client) refuseError(h *head, err error) {
	var d *denial
	var g *gatewayError
	switch {
	case errors.As(err, &d):
		c.refuse(h, d)
	case errors.As(err, &g):
		c.answer(h, http.StatusBadGateway, "", "", "agent-sandbox: "+g.Error()+"\n")
	}
}

// refuse reports a denial and sends it to the client.
func (c *client) refuse(h *head, d *denial) {
	c.proxy.report(d)
	status := d.status
	if status == 0 {
		status = http.StatusForbidden
		if d.Kind == KindMalformed {
			status = http.StatusBadRequest
		}
	}
	// Most clients show only the status line of an answer to CONNECT, or nothing.
	phrase := http.StatusText(status) + " by agent-sandbox: " + printable(d.Reason)
	c.answer(h, status, phrase, "X-Agent-Sandbox-Denied: "+printable(d.Reason)+"\r\n", d.text())
}

// demandToken reports no event, because some clients send the password only after this answer.
func (c *client) demandToken() {
	c.answer(nil, http.StatusProxyAuthRequired, "", "Proxy-Authenticate: Basic realm=\"agent-sandbox\"\r\n",
		"agent-sandbox: the proxy needs the token of this run; it is in HTTPS_PROXY\n")
}

// answer sends the last answer on a connection. If phrase is empty, it sends the phrase of the status.
func (c *client) answer(h *head, status int, phrase, fields, text string) {
	if phrase == "" {
		phrase = http.StatusText(status)
	}
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + phrase + "\r\n" + fields)
	b.WriteString("Content-Type: text/plain; charset=utf-8\r\nContent-Length: " + strconv.Itoa(len(text)) + "\r\nConnection: close\r\n\r\n")
	if h == nil || h.method != http.MethodHead {
		b.WriteString(text)
	}
	if c.write(b.String()) {
		c.linger()
	}
}

// linger reads the client's remaining bytes for a moment: otherwise they would reset the connection
// before the client has read the answer.
func (c *client) linger() {
	w, ok := c.conn.(closeWriter)
	if !ok || w.CloseWrite() != nil {
		return
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, c.conn, 256<<10)
}

// printable makes a text safe for a header field and a terminal.
func printable(s string) string {
	if len(s) > 400 {
		s = s[:400]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
