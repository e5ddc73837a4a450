package curl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// transfer is the transfer of one URL.
type transfer struct {
	tool   *tool
	config *config
	out    *output
	given  string   // the URL as it was given
	values []string // of its patterns
	upload string
	number int

	url   *address
	sink  *sink
	body  *payload
	meter *meter
	began time.Time // of the connection that is being made

	method    string // of the request that is under way
	auth      string // Authorization
	authHost  string // the origin that credentials are for
	redirects int
	last      *response
	lastURL   *address // that last came from
	stats     stats
	challenge string // of a digest

	unresolved bool // the host does not exist

	wget      *download // the state of wget's messages and requests; nil: this is curl
	errorText string
	code      int
}

// stats holds the values for --write-out.
type stats struct {
	start         time.Time
	connects      int
	lookup        time.Duration
	connect       time.Duration
	appConnect    time.Duration
	preTransfer   time.Duration
	firstByte     time.Duration
	total         time.Duration
	redirect      time.Duration
	downloaded    int64
	uploaded      int64
	headerSize    int
	requestSize   int
	headers       int
	proxyStatus   int
	verified      bool
	remote, local string
	remotePort    int
	localPort     int
}

func (t *transfer) elapsed() time.Duration { return time.Since(t.stats.start) }

// perform makes the transfer with its retries and returns its exit status.
func (t *transfer) perform() int {
	begin := time.Now()
	delay := t.config.retryDelay
	if delay == 0 {
		delay = time.Second
	}
	for left := t.config.retry; ; left-- {
		f := t.attempt()
		wait := delay
		why := t.worthRetry(f)
		if after := t.retryAfter(); after > 0 {
			wait = after
		}
		if why == "" || left <= 0 || t.tool.p.Context().Err() != nil ||
			t.config.retryMaxTime > 0 && time.Since(begin)+wait > t.config.retryMaxTime {
			return t.end(f)
		}
		t.meter.end()
		if f != nil {
			t.tool.report(f)
		}
		t.tool.warn("Problem %s. Will retry in %d seconds. %d retries left.", why, int(wait.Seconds()), left)
		t.sink.rewind()
		if !t.pause(wait) {
			return t.end(f)
		}
		if t.config.retryDelay == 0 {
			delay = min(2*delay, 10*time.Minute)
		}
	}
}

// worthRetry names the transient error that justifies a retry; "" for none.
func (t *transfer) worthRetry(f *fault) string {
	if f != nil {
		switch {
		case f.code == codeTimeout, f.code == codeResolve && isTemporary(f):
			return ": timeout"
		case f.code == codeConnect && t.config.retryRefused && errors.Is(f, syscall.ECONNREFUSED):
			return ": connection refused"
		case t.config.retryAll && f.code != codeHTTP:
			return "(retrying all errors)"
		case f.code != codeHTTP:
			return ""
		}
	}
	if t.last != nil && (f == nil || f.code == codeHTTP) {
		switch t.last.status {
		case 408, 429, 500, 502, 503, 504:
			return ": HTTP error"
		}
	}
	if f != nil && t.config.retryAll {
		return "(retrying all errors)"
	}
	return ""
}

func isTemporary(f *fault) bool {
	var t interface{ Temporary() bool }
	return errors.As(f.err, &t) && t.Temporary()
}

func (t *transfer) retryAfter() time.Duration {
	if t.last == nil || t.last.status < 400 {
		return 0
	}
	n, err := strconv.Atoi(t.last.value("Retry-After"))
	if err != nil || n < 0 || n > 6*3600 {
		return 0
	}
	return time.Duration(n) * time.Second
}

func (t *transfer) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.tool.p.Context().Done():
		return false
	}
}

// end closes the output, reports a fault and writes the text of --write-out.
func (t *transfer) end(f *fault) int {
	if t.sink != nil {
		if err := t.sink.finish(f); err != nil && f == nil {
			f = err
		}
	}
	t.meter.end()
	if f != nil {
		t.code, t.errorText = f.code, f.text
		if t.tool.p.Context().Err() == nil {
			t.tool.report(f)
		}
	}
	if t.config.writeOut != "" {
		t.writeOut(t.config.writeOut)
	}
	return t.code
}

// attempt makes the transfer once.
func (t *transfer) attempt() *fault {
	t.stats = stats{start: time.Now()}
	t.last, t.lastURL, t.redirects = nil, nil, 0
	t.code, t.errorText = 0, ""
	guess := t.config.defaultProtocol
	var f *fault
	if t.url, f = parseAddress(t.given, guess, t.config.pathAsIs); f != nil {
		return f
	}
	if f := t.prepare(); f != nil {
		return f
	}
	if t.sink == nil {
		if t.sink, f = t.newSink(); f != nil {
			return f
		}
	}
	if t.sink.skip { // --no-clobber of a name that must not get a number.
		return nil
	}
	t.meter = t.newMeter(t.meter)
	t.meter.start()
	ctx := t.tool.p.Context()
	if t.config.maxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.config.maxTime)
		defer cancel()
	}
	if t.url.scheme == "file" {
		f = t.fromFile()
	} else {
		f = t.follow(ctx)
	}
	t.stats.total = t.elapsed()
	return f
}

// prepare looks at the URL and makes the body.
func (t *transfer) prepare() *fault {
	c := t.config
	if f := t.allowed(c.protocols); f != nil {
		return f
	}
	if t.url.hasUser && c.noUserInURL {
		return failed(67, "Login denied")
	}
	if t.upload != "" && strings.HasSuffix(t.url.path, "/") && t.url.query == "" && t.upload != "-" && t.upload != "." {
		t.url.path += escape(t.upload[strings.LastIndexByte(t.upload, '/')+1:]) // bounded: once for each transfer
	}
	t.addQuery()
	for _, r := range t.url.query {
		if r <= ' ' {
			return errBadURL
		}
	}
	t.authHost = t.url.origin()
	if f := t.credentials(); f != nil {
		return f
	}
	return t.makeBody()
}

// allowed reports whether the URL's protocol is spoken.
func (t *transfer) allowed(set map[string]bool) *fault {
	s := t.url.scheme
	if s != "http" && s != "https" && s != "file" || set != nil && !set[s] {
		return failed(codeProtocol, "Protocol \"%s\" not supported or disabled in libcurl", s)
	}
	return nil
}

// addQuery adds --url-query and the data of -G.
func (t *transfer) addQuery() {
	var parts []string
	if t.config.get && t.config.hasData {
		parts = append(parts, string(t.config.data))
	}
	parts = append(parts, t.config.urlQuery...)
	for _, p := range parts {
		switch {
		case t.url.query == "":
			t.url.query = "?" + p
		case strings.HasSuffix(t.url.query, "?"):
			t.url.query += p // bounded: by options, each of which is charged
		default:
			t.url.query += "&" + p // bounded: by options, each of which is charged
		}
	}
}

// makeBody decides on the method and the body.
func (t *transfer) makeBody() *fault {
	c := t.config
	t.method, t.body = "GET", nil
	switch {
	case t.upload != "":
		t.method = "PUT"
		if f := t.uploadBody(); f != nil {
			return f
		}
	case c.head:
		t.method = "HEAD"
	case c.get:
	case c.hasData:
		t.method, t.body = "POST", bytesPayload(c.data)
	case len(c.form) > 0:
		t.method = "POST"
		var f *fault
		if t.body, f = t.formPayload(t.boundary()); f != nil {
			return f
		}
	}
	return nil
}

// boundary separates the parts of a form.
func (t *transfer) boundary() string {
	return fmt.Sprintf("------------------------%016x", t.tool.p.Rand().Uint64())
}

func (t *transfer) uploadBody() *fault {
	p := t.tool.p
	if t.upload == "-" || t.upload == "." {
		t.body = &payload{size: -1, once: true, upload: true, open: func() (io.ReadCloser, error) { return io.NopCloser(p.Stdin), nil }}
		return nil
	}
	f, err := p.Open(t.upload)
	if err != nil {
		t.tool.say("curl: Can't open '" + t.upload + "'!\n" + tryHelp)
		return failed(codeRead, "Failed to open/read local data from file/application")
	}
	info, err := f.Stat()
	_ = f.Close() // It was read only.
	if err != nil || info.IsDir() {
		return failed(codeRead, "Failed to open/read local data from file/application")
	}
	t.body = &payload{size: info.Size, upload: true, open: func() (io.ReadCloser, error) { return p.Open(t.upload) }}
	if !info.Mode.IsRegular() {
		t.body.size = -1
	}
	if !t.config.hasResume {
		return nil
	}
	skip := max(t.config.resume, 0)
	if skip > info.Size {
		return failed(codeRead, "Could only read %d bytes from the input", info.Size)
	}
	t.body.size -= skip
	t.body.open = func() (io.ReadCloser, error) {
		f, err := p.Open(t.upload)
		if err == nil {
			_, err = f.Seek(skip, io.SeekStart)
		}
		return f, err
	}
	return nil
}

// fromFile reads a file:// URL, of the machine's own tree.
func (t *transfer) fromFile() *fault {
	path := unescape(t.url.path)
	p := t.tool.p
	if t.upload != "" {
		return failed(codeProtocol, "Protocol \"file\" not supported or disabled in libcurl")
	}
	f, err := p.Open(path)
	if err != nil {
		return failed(codeFile, "Couldn't open file %s", path)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return failed(codeRead, "Failed to open/read local data from file/application")
	}
	if info.IsDir() {
		return nil
	}
	if t.config.include || t.config.head {
		head := fmt.Sprintf("Content-Length: %d\r\nAccept-ranges: bytes\r\nLast-Modified: %s\r\n",
			info.Size, info.Mtime.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"))
		if err := t.sink.write([]byte(head)); err != nil {
			return err
		}
		if t.config.head {
			return nil
		}
		if err := t.sink.write([]byte("\r\n")); err != nil {
			return err
		}
	}
	t.meter.expect(info.Size)
	if start, end, ok := t.fileRange(info.Size); ok {
		if _, err := f.Seek(start, io.SeekStart); err != nil {
			return failed(codeRead, "Failed to open/read local data from file/application")
		}
		return t.copyBody(io.LimitReader(f, end-start))
	}
	return t.copyBody(f)
}

// fileRange returns the part of a file that -r and -C select.
func (t *transfer) fileRange(size int64) (start, end int64, ok bool) {
	if t.config.hasResume && t.config.resume > 0 {
		return min(t.config.resume, size), size, true
	}
	from, to, found := strings.Cut(t.config.rangeOf, "-")
	if !found {
		return 0, 0, false
	}
	first, err1 := strconv.ParseInt(from, 10, 62)
	last, err2 := strconv.ParseInt(to, 10, 62)
	switch {
	case err1 == nil && err2 == nil:
		return min(first, size), min(last+1, size), first <= last
	case err1 == nil:
		return min(first, size), size, true
	case err2 == nil:
		return max(size-last, 0), size, true
	}
	return 0, 0, false
}
