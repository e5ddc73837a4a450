package curl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// follow makes requests until a response is not a redirection that it should follow.
func (t *transfer) follow(ctx context.Context) *fault {
	for {
		res, f := t.exchange(ctx)
		if f != nil {
			return f
		}
		if res == nil { // The same request again, now with what the server wanted.
			continue
		}
		to := res.value("Location")
		if !t.config.location || res.status/100 != 3 || res.status == 304 || to == "" {
			return nil
		}
		if t.config.maxRedirects >= 0 && t.redirects >= t.config.maxRedirects {
			return failed(codeRedirects, "Maximum (%d) redirects followed", t.config.maxRedirects)
		}
		if f := t.redirect(res.status, to); f != nil {
			return f
		}
	}
}

// redirect turns the transfer to another URL.
func (t *transfer) redirect(status int, to string) *fault {
	next, f := t.url.resolve(to, t.config.pathAsIs)
	if f != nil {
		return f
	}
	t.redirects++
	t.stats.redirect = t.elapsed()
	if t.config.autoReferer {
		t.config.referer = t.url.text()
	}
	t.wget.follows(to, next)
	t.info("Issue another request to this URL: '%s'", next.effective())
	was := t.url
	t.url = next
	allowed := t.config.redirProtocols
	if allowed == nil {
		allowed = map[string]bool{"http": true, "https": true}
	}
	if !slices.Contains(otherProtocols, next.scheme) && defaultPorts[next.scheme] == 0 && next.scheme != "file" {
		return failed(codeProtocol, "The redirect target URL could not be parsed: Unsupported URL scheme")
	}
	if f := t.allowed(allowed); f != nil {
		return f
	}
	if next.hasUser && (next.user != was.user || next.password != was.password) {
		t.auth = basic(next.user, next.password)
		t.authHost = next.origin()
	}
	keep := map[int]bool{301: t.config.post301, 302: t.config.post302, 303: t.config.post303}
	switch {
	case (status == 301 || status == 302) && t.method == "POST" && !keep[status]:
		t.info("Switch from POST to GET")
		t.method, t.body = "GET", nil
	case status == 303 && t.method != "GET" && t.method != "HEAD" && (t.method != "POST" || !keep[303]):
		t.info("Switch to GET")
		t.method, t.body = "GET", nil
	}
	return nil
}

// exchange makes one request and reads its answer. nil without a fault means: once more.
func (t *transfer) exchange(ctx context.Context) (*response, *fault) {
	for {
		c, f := t.open(ctx)
		if f != nil {
			return nil, t.timed(ctx, f)
		}
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		res, again, f := t.request(ctx, c)
		if !stop() && f == nil && ctx.Err() != nil && res == nil {
			f = failed(codeReceive, "")
		}
		f = t.timed(ctx, f)
		switch {
		case f != nil && c.used && errors.Is(f, errNoAnswer) && (t.body == nil || !t.body.once):
			_ = c.Close() // The server had ended it in the meantime.
			t.info("Connection died, retrying a fresh connect")
			continue
		case f != nil:
			_ = c.Close()
			t.info("Closing connection %d", c.number)
			return nil, f
		case again:
			return nil, nil
		}
		return res, nil
	}
}

// timed returns the timeout in place of the error that it caused.
func (t *transfer) timed(ctx context.Context, f *fault) *fault {
	if f == nil || ctx.Err() == nil || t.tool.p.Context().Err() != nil || f.code == codeWrite {
		return f
	}
	ms := t.elapsed().Milliseconds()
	if t.last == nil && t.stats.preTransfer == 0 {
		return &fault{codeTimeout, fmt.Sprintf("Connection timed out after %d milliseconds", ms), f}
	}
	text := fmt.Sprintf("Operation timed out after %d milliseconds with %d bytes received", ms, t.stats.downloaded)
	if t.meter.total >= 0 {
		text = fmt.Sprintf("Operation timed out after %d milliseconds with %d out of %d bytes received", ms, t.stats.downloaded, t.meter.total)
	}
	return &fault{codeTimeout, text, f}
}

// request sends the request on a connection and reads its answer.
func (t *transfer) request(ctx context.Context, c *conn) (res *response, again bool, f *fault) {
	t.noteConn(c)
	head := t.requestHead(c)
	t.stats.preTransfer = t.elapsed()
	t.showSent(head)
	t.stats.requestSize += len(head)
	up := t.newUpload(ctx, c, head)
	up.start()
	defer func() {
		if res == nil || !up.isDone() {
			_ = c.Close() // What is still being sent ends with it.
		}
		sent, err := up.wait()
		t.stats.uploaded = sent
		if f == nil && err != nil && res == nil {
			f = sendFault(err)
		}
	}()
	for {
		var err error
		res, err = t.readHead(c, true)
		if err != nil {
			return nil, false, t.noAnswer(err, up)
		}
		t.stats.headerSize += res.size
		if res.status/100 != 1 || res.status == 101 {
			break
		}
		up.proceed()
	}
	if res.status >= 400 {
		up.refuse()
	} else {
		up.proceed()
	}
	t.last, t.lastURL = res, t.url
	t.wget.answered(t, res)
	t.stats.firstByte = t.elapsed()
	t.stats.headers += len(res.fields)
	for _, h := range res.fields {
		if strings.EqualFold(h.name, "Set-Cookie") && t.cookiesOn() {
			t.tool.jar.receive(h.value, t.url)
		}
	}
	again = t.wantsDigest(res)
	f = t.answerBody(c, res, again, up)
	return res, again, f
}

// noAnswer returns the error of a request without a response.
func (t *transfer) noAnswer(err error, up *upload) *fault {
	if sendErr := up.failure(); sendErr != nil {
		if f, ok := errors.AsType[*fault](sendErr); ok {
			return f
		}
	}
	if errors.Is(err, errNoAnswer) {
		return &fault{codeEmpty, "Empty reply from server", err}
	}
	return receiveFault(err)
}

func sendFault(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	return &fault{codeSend, "Failed sending data to the peer", err}
}

// answerBody reads the body after a head. It also reads an unwanted body, so that the connection can be reused.
func (t *transfer) answerBody(c *conn, res *response, again bool, up *upload) *fault {
	left, chunked, err := res.bodyLength(t.method)
	if err != nil {
		return receiveFault(err)
	}
	body := &bodyReader{br: c.br, left: left, chunked: chunked, first: true, trailer: t.trailer}
	if chunked {
		body.left = 0
	}
	ignored := again || t.config.location && res.status/100 == 3 && res.status != 304 && res.value("Location") != ""
	f := t.deliver(res, body, left, ignored)
	if f != nil {
		return f
	}
	if t.config.raw && chunked {
		body.whole = true
	}
	if !ignored && up.isDone() {
		t.stats.uploaded = up.sent
		t.meter.end()
	}
	if body.whole || left == 0 && !chunked {
		if res.canReuseConnection() && (left >= 0 || chunked) && up.isDone() {
			t.info("Connection #%d to host %s left intact", c.number, t.url.host)
			t.tool.pool.put(c)
			return nil
		}
		t.info("Closing connection %d", c.number)
	}
	_ = c.Close() // The answer has been read.
	return nil
}

// deliver writes a body to where it belongs.
func (t *transfer) deliver(res *response, body *bodyReader, length int64, ignored bool) *fault {
	if ignored {
		if _, err := io.Copy(io.Discard, spending{t, body}); err != nil {
			return receiveFault(err)
		}
		return nil
	}
	t.meter.expect(length)
	if f := t.beforeBody(res, length); f != nil {
		return f
	}
	if t.sink.nothing {
		return nil
	}
	t.wget.saves(t, res, length)
	var from io.Reader = body
	if t.config.compressed && !t.config.raw {
		var err error
		if from, err = decoded(body, res.value("Content-Encoding")); err != nil {
			return receiveFault(err)
		}
	}
	if f := t.copyBody(from); f != nil {
		return f
	}
	if from != io.Reader(body) && !body.whole {
		// Discard the rest of the body after the encoded data.
		if _, err := io.Copy(io.Discard, spending{t, body}); err != nil {
			return receiveFault(err)
		}
	}
	if t.config.failWithBody && res.status >= 400 {
		return failed(codeHTTP, "The requested URL returned error: %d", res.status)
	}
	return nil
}

// beforeBody checks the fields about the body in a response's head.
func (t *transfer) beforeBody(res *response, length int64) *fault {
	c := t.config
	if c.fail && res.status >= 400 {
		if !c.hasResume || res.status != 416 {
			return failed(codeHTTP, "The requested URL returned error: %d", res.status)
		}
	}
	if c.maxFile > 0 && length > c.maxFile {
		return failed(codeTooLarge, "Maximum file size exceeded")
	}
	if c.etagSave != "" {
		if f := t.saveETag(res.value("ETag")); f != nil {
			return f
		}
	}
	if start := t.sink.resumeAt; start > 0 && t.method == "GET" {
		switch {
		case res.status == 416, length == 0:
			t.sink.nothing = true
			return nil
		case res.status == 200 || !res.has("Content-Range"):
			return failed(codeRange, "HTTP server doesn't seem to support byte ranges. Cannot resume.")
		}
	}
	t.sink.named(res)
	return nil
}

// copyBody writes what it reads to the output.
func (t *transfer) copyBody(from io.Reader) *fault {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if e := t.tool.p.Spend(1 + n>>6); e != nil {
			return &fault{codeReceive, "Callback aborted", e}
		}
		if n > 0 {
			t.showData(n)
			t.stats.downloaded += int64(n)
			if f := t.sink.write(buf[:n]); f != nil {
				return f
			}
			if t.config.maxFile > 0 && t.stats.downloaded > t.config.maxFile {
				return failed(codeTooLarge, "Exceeded the maximum allowed file size (%d)", t.config.maxFile)
			}
			t.wget.received(n)
			t.meter.progress(t.stats.downloaded, t.stats.uploaded)
			if f := t.tooSlow(); f != nil {
				return f
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return receiveFault(err)
		}
	}
}

// tooSlow holds -Y and -y, over the whole transfer.
func (t *transfer) tooSlow() *fault {
	c := t.config
	if c.speedLimit == 0 && c.speedTime == 0 {
		return nil
	}
	limit, span := max(c.speedLimit, 1), c.speedTime
	if span == 0 {
		span = 30 * time.Second
	}
	if spent := t.elapsed(); spent > span && float64(t.stats.downloaded+t.stats.uploaded)/spent.Seconds() < float64(limit) {
		return failed(codeTimeout, "Operation too slow. Less than %d bytes/sec transferred the last %d seconds", limit, int(span.Seconds()))
	}
	return nil
}

// spending takes fuel for each read.
type spending struct {
	t *transfer
	r io.Reader
}

func (s spending) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if e := s.t.tool.p.Spend(1 + n>>6); e != nil {
		return 0, e
	}
	return n, err
}

// trailer shows a field that follows a chunked body.
func (t *transfer) trailer(line string) error {
	t.showReceived(line)
	if t.sink == nil {
		return nil
	}
	return t.headerLine(line)
}
