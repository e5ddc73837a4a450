package curl

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// field is one field of a response's header.
type field struct{ name, value string }

// response is the head of an answer.
type response struct {
	proto  string // "1.1"
	status int
	line   string // the status line
	fields []field
	size   int // bytes of the head
}

// value returns the first field of a name, in any case; "" for none.
func (r *response) value(name string) string {
	for _, f := range r.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

func (r *response) has(name string) bool {
	for _, f := range r.fields {
		if strings.EqualFold(f.name, name) {
			return true
		}
	}
	return false
}

// errNoAnswer is the end of a connection before the first byte of an answer.
var errNoAnswer = errors.New("no answer")

const (
	maxLine = 100 << 10 // bytes of a line of a header
	maxHead = 300 << 10 // bytes of a header
)

// readHead reads a status line and header. Its lines are shown as they came, and where shown is true, written
// to the output when headers are wanted there.
func (t *transfer) readHead(c *conn, shown bool) (*response, error) {
	r := &response{}
	for {
		line, err := readLine(c.br)
		if err != nil {
			if r.size == 0 && len(line) == 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
				return nil, errNoAnswer
			}
			if r.size > 0 && errors.Is(err, io.EOF) {
				return r, nil // A header that ends with the connection counts.
			}
			return nil, err
		}
		first := r.size == 0
		if r.size += len(line); r.size > maxHead {
			return nil, failed(codeReceive, "Too large response headers: %d > %d", r.size, maxHead)
		}
		text := strings.TrimRight(line, "\r\n")
		if first {
			if err := r.statusLine(text); err != nil {
				return nil, err
			}
		}
		t.showReceived(line)
		if shown {
			if err := t.headerLine(line); err != nil {
				return nil, err
			}
		}
		switch {
		case first:
		case text == "":
			return r, nil
		case (text[0] == ' ' || text[0] == '\t') && len(r.fields) > 0:
			r.fields[len(r.fields)-1].value += " " + strings.TrimSpace(text) // bounded: maxHead
		default:
			name, value, _ := strings.Cut(text, ":")
			r.fields = append(r.fields, field{name, strings.TrimSpace(value)}) // bounded: maxHead
		}
	}
}

func (r *response) statusLine(text string) error {
	r.line = text
	rest, ok := strings.CutPrefix(text, "HTTP/")
	if !ok {
		return failed(codeProtocol, "Received HTTP/0.9 when not allowed")
	}
	version, rest, _ := strings.Cut(rest, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	n, err := strconv.Atoi(code)
	if err != nil || len(code) != 3 || version != "1.0" && version != "1.1" {
		return failed(codeProtocol, "Unsupported HTTP version in response")
	}
	r.proto, r.status = version, n
	return nil
}

// readLine returns a line with its end.
func readLine(br *bufio.Reader) (string, error) {
	var line []byte
	for {
		piece, err := br.ReadSlice('\n')
		line = append(line, piece...) // bounded: maxLine
		if len(line) > maxLine {
			return "", failed(codeReceive, "Too large response headers: %d > %d", len(line), maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}

// canReuseConnection reports whether the connection may carry another request.
func (r *response) canReuseConnection() bool {
	connection := strings.ToLower(r.value("Connection"))
	if r.proto == "1.0" {
		return strings.Contains(connection, "keep-alive")
	}
	return !strings.Contains(connection, "close") && !strings.Contains(strings.ToLower(r.value("Proxy-Connection")), "close")
}

// bodyLength returns the announced length of a body: -1 for up to the end of the connection.
func (r *response) bodyLength(method string) (n int64, chunked bool, err error) {
	switch {
	case method == "HEAD", r.status/100 == 1, r.status == 204, r.status == 304:
		return 0, false, nil
	case strings.Contains(strings.ToLower(r.value("Transfer-Encoding")), "chunked"):
		return -1, true, nil
	}
	text := r.value("Content-Length")
	if text == "" {
		return -1, false, nil
	}
	if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
		return 0, false, failed(8, "Invalid Content-Length: value")
	}
	return n, false, nil
}

// bodyReader reads a body as it is framed. It is whole when it has been read up to its end.
type bodyReader struct {
	br      *bufio.Reader
	left    int64 // of the length or chunk; -1: up to the end
	chunked bool
	first   bool // no chunk has been begun
	whole   bool
	read    int64
	trailer func(line string) error
}

func (b *bodyReader) Read(p []byte) (int, error) {
	for {
		if b.whole {
			return 0, io.EOF
		}
		if b.left != 0 {
			break
		}
		if !b.chunked {
			b.whole = true
			continue
		}
		if err := b.nextChunk(); err != nil {
			return 0, err
		}
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.br.Read(p)
	b.read += int64(n)
	if b.left > 0 {
		b.left -= int64(n)
	}
	if n > 0 {
		return n, nil
	}
	switch {
	case err == nil:
		return 0, nil
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return 0, receiveFault(err)
	case b.left < 0 && !b.chunked:
		b.whole = true
		return 0, io.EOF
	case b.chunked:
		return 0, failed(codePartial, "transfer closed with outstanding read data remaining")
	}
	return 0, failed(codePartial, "transfer closed with %d bytes remaining to read", b.left)
}

// nextChunk reads a chunk's size; at the last one the trailer.
func (b *bodyReader) nextChunk() error {
	outstanding := failed(codePartial, "transfer closed with outstanding read data remaining")
	if !b.first {
		if line, err := readLine(b.br); err != nil {
			return outstanding
		} else if strings.TrimRight(line, "\r\n") != "" {
			return failed(codeReceive, "Problem (4) in the Chunked-Encoded data")
		}
	}
	b.first = false
	line, err := readLine(b.br)
	if err != nil {
		return outstanding
	}
	text, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ";")
	text = strings.TrimSpace(text)
	n, err := strconv.ParseUint(text, 16, 63)
	if err != nil {
		why := 1
		if len(text) > 16 {
			why = 2
		}
		return failed(codeReceive, "%s in chunked-encoding", map[int]string{1: "Illegal or missing hexadecimal sequence", 2: "Too long hexadecimal number"}[why])
	}
	b.left = int64(n)
	if n > 0 {
		return nil
	}
	for {
		line, err := readLine(b.br)
		if err != nil {
			return outstanding
		}
		if strings.TrimRight(line, "\r\n") == "" {
			b.whole = true
			return nil
		}
		if err := b.trailer(line); err != nil {
			return err
		}
	}
}

// maxEncodings bounds the content encodings of a response.
const maxEncodings = 5

// decoded undoes the encodings of a body, which --compressed has asked for.
func decoded(body io.Reader, encoding string) (io.Reader, error) {
	names := strings.SplitN(encoding, ",", maxEncodings+1)
	if len(names) > maxEncodings {
		return nil, failed(codeEncoding, "Reject response due to more than %d content encodings", maxEncodings)
	}
	for _, name := range slices.Backward(names) {
		packed := body
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "", "identity", "none":
		case "gzip", "x-gzip":
			body = &lazyReader{open: func() (io.Reader, error) { return gzip.NewReader(packed) }}
		case "deflate":
			body = &lazyReader{open: func() (io.Reader, error) { return inflate(packed) }}
		default:
			return nil, failed(codeEncoding, "Unrecognized content encoding type. libcurl understands deflate, gzip content encodings.")
		}
	}
	return body, nil
}

// inflate reads the encoding "deflate" of servers: zlib's format, or the raw data.
func inflate(r io.Reader) (io.Reader, error) {
	br := bufio.NewReader(r)
	head, err := br.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}

// lazyReader opens a decoder when it is read: making one reads its header.
type lazyReader struct {
	open func() (io.Reader, error)
	r    io.Reader
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.r == nil {
		r, err := l.open()
		if errors.Is(err, io.EOF) {
			return 0, io.EOF // An empty body has no header either.
		}
		if err != nil {
			return 0, decodeFault(err)
		}
		l.r = r
	}
	n, err := l.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, decodeFault(err)
	}
	return n, err
}

func decodeFault(err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	return failed(codeEncoding, "Error while processing content unencoding: incorrect header check")
}
