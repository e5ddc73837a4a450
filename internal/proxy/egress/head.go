package egress

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

const (
	maxHeader = 64 << 10 // bytes of a request line and its header
	maxFields = 256
)

// head is a request line and a header. The parser is stricter than RFC 9112: it refuses
// input that servers would interpret differently.
type head struct {
	method, target string
	http10         bool
	header         http.Header // without Host
	host           string      // the Host field's value; "" when there was none
	length         int64       // of the body; -1: chunked
}

// lines reads CRLF-terminated lines from one header or trailer section.
type lines struct {
	br   *bufio.Reader
	left int
}

// next returns a line without its line end. A violation of the protocol is a *denial.
func (l *lines) next() (string, error) {
	var line []byte
	for {
		part, err := l.br.ReadSlice('\n')
		if l.left -= len(part); l.left < 0 {
			return "", newMalformed(http.StatusRequestHeaderFieldsTooLarge, "the header is longer than %d bytes", maxHeader)
		}
		line = append(line, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok {
		return "", newMalformed(0, "a line ends with LF alone")
	}
	// A lone CR ends a line for some servers.
	if bytes.ContainsAny(text, "\r\x00") {
		return "", newMalformed(0, "a line has a CR or NUL")
	}
	return string(text), nil
}

// readHead reads one request head.
func readHead(br *bufio.Reader) (*head, error) {
	l := &lines{br: br, left: maxHeader}
	line, err := l.next()
	if err == nil && line == "" { // RFC 9112 §2.2: an empty line may precede the request
		line, err = l.next()
	}
	if err != nil {
		return nil, err
	}
	h := &head{}
	if err := h.requestLine(line); err != nil {
		return nil, err
	}
	if h.header, err = l.fields(); err != nil {
		return nil, err
	}
	hosts := h.header["Host"]
	if len(hosts) > 1 || (len(hosts) == 0 && !h.http10) {
		return nil, newMalformed(0, "the request has %d Host fields", len(hosts))
	}
	if len(hosts) == 1 {
		h.host = hosts[0]
		h.header.Del("Host")
	}
	if h.length, err = bodyLength(h); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *head) requestLine(line string) error {
	parts := strings.Split(line, " ")
	if len(parts) != 3 || !httpguts.ValidHeaderFieldName(parts[0]) || len(parts[0]) > 32 || parts[1] == "" {
		return newMalformed(0, "the request line is broken")
	}
	for i := range len(parts[1]) {
		if c := parts[1][i]; c <= ' ' || c == 0x7f {
			return newMalformed(0, "the request target has a control character")
		}
	}
	switch parts[2] {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.http10 = true
	default:
		return newMalformed(http.StatusHTTPVersionNotSupported, "only HTTP/1.1 and HTTP/1.0 are spoken here")
	}
	h.method, h.target = parts[0], parts[1]
	return nil
}

// fields reads header fields up to the empty line.
func (l *lines) fields() (http.Header, error) {
	header := make(http.Header)
	for n := 0; ; n++ {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		if line == "" {
			return header, nil
		}
		if n == maxFields {
			return nil, newMalformed(http.StatusRequestHeaderFieldsTooLarge, "the header has more than %d fields", maxFields)
		}
		if line[0] == ' ' || line[0] == '\t' {
			return nil, newMalformed(0, "a header field is folded")
		}
		name, value, ok := strings.Cut(line, ":")
		// Space before the colon hides a field from one parser and not from another.
		if !ok || !httpguts.ValidHeaderFieldName(name) {
			return nil, newMalformed(0, "a header field has no valid name")
		}
		value = strings.Trim(value, " \t")
		if !httpguts.ValidHeaderFieldValue(value) {
			return nil, newMalformed(0, "the header field %s has a control character", hosts.Quote(name))
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
		header[key] = append(header[key], value)
	}
}

// bodyLength returns the length of the body. It accepts exactly one statement of the
// length, stricter than RFC 9112 §6.3, to prevent request smuggling.
func bodyLength(h *head) (int64, error) {
	te, cl := h.header["Transfer-Encoding"], h.header["Content-Length"]
	h.header.Del("Transfer-Encoding")
	h.header.Del("Content-Length")
	switch {
	case len(te) > 0 && len(cl) > 0:
		return 0, newMalformed(0, "the request has Content-Length and Transfer-Encoding")
	case len(te) > 1 || (len(te) == 1 && !strings.EqualFold(te[0], "chunked")):
		return 0, newMalformed(http.StatusNotImplemented, "the only transfer coding known here is chunked")
	case len(te) == 1 && h.http10:
		return 0, newMalformed(0, "HTTP/1.0 has no transfer codings")
	case len(te) == 1:
		return -1, nil
	case len(cl) > 1:
		return 0, newMalformed(0, "the request has %d Content-Length fields", len(cl))
	case len(cl) == 0:
		return 0, nil
	}
	if cl[0] == "" || len(cl[0]) > 18 || strings.Trim(cl[0], "0123456789") != "" {
		return 0, newMalformed(0, "the Content-Length is not a number")
	}
	n, err := strconv.ParseInt(cl[0], 10, 64)
	if err != nil {
		return 0, newMalformed(0, "the Content-Length is not a number")
	}
	return n, nil
}

// tokens returns the comma-separated members of all fields of a name, in lower case.
func tokens(header http.Header, name string) []string {
	var out []string
	for _, v := range header[name] {
		for t := range strings.SplitSeq(v, ",") {
			if t = strings.ToLower(strings.Trim(t, " \t")); t != "" {
				out = append(out, t)
			}
		}
	}
	return out
}

// isPersistent reports whether the client keeps the connection open.
func (h *head) isPersistent() bool {
	return !h.http10 && !slices.Contains(tokens(h.header, "Connection"), "close") &&
		!slices.Contains(tokens(h.header, "Proxy-Connection"), "close")
}

// hopByHop are the fields that a proxy must not forward, RFC 9110 §7.6.1 and older ones.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info", "Expect", "Http2-Settings",
}

// stripHops removes them and the fields that Connection lists.
func stripHops(header http.Header) {
	for _, name := range tokens(header, "Connection") {
		header.Del(name)
	}
	for _, name := range hopByHop {
		delete(header, name)
	}
}
