package mcp

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newHTTPTransport is the streamable HTTP transport to a server.
func newHTTPTransport(s tool.Server, env []string) (sdk.Transport, *http.Transport, error) {
	at, err := url.Parse(s.URL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil {
		return nil, nil, sandbox.Errorf(sandbox.Invalid, "server %s: url: expected http(s)://HOST[:PORT]/PATH", s.ID).
			WithHint("put credentials into headers")
	}
	headers, err := resolve(s.Headers, env, "server "+s.ID+": headers")
	if err != nil {
		return nil, nil, err
	}
	for name, value := range headers {
		if strings.ContainsAny(value, "\r\n") {
			return nil, nil, sandbox.Errorf(sandbox.Invalid, "server %s: headers %s: a value is one line", s.ID, name)
		}
	}
	inner := http.DefaultTransport.(*http.Transport).Clone()
	client := &http.Client{
		Transport: &heading{inner: inner, headers: headers},
		// A redirect would forward the headers to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage, MaxRetries: 2}, inner, nil
}

// heading adds header fields and limits the size of answers.
type heading struct {
	inner   http.RoundTripper
	headers map[string]string
}

func (h *heading) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	res, err := h.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") { // for streams, each event has its own limit
		res.Body = &bounded{ReadCloser: res.Body, left: maxMessage}
	}
	return res, nil
}

// bounded returns an error when an answer is too long.
type bounded struct {
	io.ReadCloser

	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
