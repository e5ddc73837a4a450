package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// Bounds of a server's answers.
const (
	maxError = 1 << 20  // bytes, of an error
	maxEvent = 32 << 20 // bytes, of one event: the last one of Responses holds the whole answer
	maxWhole = 64 << 20 // bytes, of an answer
)

// errIdle is the cause with which requests end whose server sends nothing.
var errIdle = errors.New("the server said nothing")

// upstream is a connector's response.
type upstream struct {
	*http.Response
	key  string
	idle *time.Timer
	wait time.Duration
}

// alive restarts the idle timer.
func (u *upstream) alive() { u.idle.Reset(u.wait) }

// drain reads the rest after the last event, so that the connection can be reused. The rest is empty or arrives at once.
func (u *upstream) drain() {
	u.idle.Reset(time.Second)
	_, _ = io.CopyN(io.Discard, u.Body, maxError)
}

// buildURL returns the URL for a connector's requests. The Messages API's path begins with its version, and users write
// addresses with and without it.
func buildURL(c connector.Connector, count bool) string {
	base := strings.TrimRight(c.BaseURL, "/")
	switch c.Protocol {
	case connector.OpenAI:
		return base + "/chat/completions"
	case connector.Responses:
		return base + "/responses"
	case connector.Anthropic:
	}
	base = strings.TrimSuffix(base, "/v1") + "/v1/messages"
	if count {
		base += "/count_tokens"
	}
	return base
}

// listHeaders lists the headers to forward to the server or, with back, to the agent.
func listHeaders(back bool) []string {
	if back {
		return []string{"Retry-After", "Retry-After-Ms", "X-Should-Retry", "Request-Id", "X-Request-Id"}
	}
	return []string{"Accept", "User-Agent"}
}

// exchange sends a request to the connector and passes the answer to then.
func (c *call) exchange(ctx context.Context, body []byte, count bool, then func(*upstream) *dialect.Fault) *dialect.Fault {
	key, err := c.options.Keys.Key(ctx, c.to.Secret)
	if err != nil {
		c.entry.Err = err
		return &dialect.Fault{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "no_key", Message: "the key of the connector " + c.to.ID + " cannot be read; its operator must check the place of the key"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, buildURL(c.to, count), bytes.NewReader(body))
	if err != nil {
		c.entry.Err = err
		return &dialect.Fault{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "bad_address", Message: "the connector " + c.to.ID + " has a bad address"}
	}
	c.head(req, key)
	idle := time.AfterFunc(c.options.Limits.Idle, func() { c.cancel(errIdle) })
	defer idle.Stop()
	// A round trip follows no redirect, so that the key goes to no other server.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return c.ended(ctx)
		}
		c.entry.Err = hideKey(err, key)
		return &dialect.Fault{Status: http.StatusBadGateway, Code: "unreachable", Message: "the connector " + c.to.ID + " cannot be reached"}
	}
	defer resp.Body.Close()
	return then(&upstream{resp, key, idle, c.options.Limits.Idle})
}

// head sets the headers of a request.
func (c *call) head(req *http.Request, key string) {
	if c.to.Protocol == c.api {
		for _, name := range listHeaders(false) {
			if v := c.r.Header.Values(name); len(v) > 0 {
				req.Header[name] = v
			}
		}
		for _, name := range []string{"Anthropic-Beta", "Openai-Beta"} {
			if passed := c.betas(c.r.Header.Values(name)); len(passed) > 0 {
				req.Header.Set(name, strings.Join(passed, ","))
			}
		}
		if q := c.r.URL.Query(); q.Get("beta") == "true" {
			req.URL.RawQuery = url.Values{"beta": {"true"}}.Encode()
		}
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "agent-sandbox")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept-Encoding", "identity") // a compressed stream would arrive late
	if c.to.Protocol == connector.Anthropic {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	for name, value := range c.to.Headers {
		req.Header.Set(name, value)
	}
	switch {
	case key == "":
	case c.to.Protocol == connector.Anthropic:
		req.Header.Set("X-Api-Key", key)
	default:
		req.Header.Set("Authorization", "Bearer "+key)
	}
}

// betas returns the values of a header that the table or the connector permits.
func (c *call) betas(lines []string) []string {
	var passed []string
	for _, line := range lines {
		for value := range strings.SplitSeq(line, ",") {
			if value = strings.TrimSpace(value); betas[value] || slices.Contains(c.to.Allow.Betas, value) {
				passed = append(passed, value)
			}
		}
	}
	return passed
}

// hideKey returns the error with the key removed.
func hideKey(err error, key string) error {
	if key == "" || !strings.Contains(err.Error(), key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), key, "[key]"))
}

// refusal returns the fault of a response that is not an answer. If the server speaks the agent's API, its own text is forwarded.
func (c *call) refusal(u *upstream) *dialect.Fault {
	raw, err := io.ReadAll(io.LimitReader(u.Body, maxError))
	if err != nil {
		raw = nil
	}
	if u.key != "" {
		raw = bytes.ReplaceAll(raw, []byte(u.key), []byte("[key]"))
	}
	code := fmt.Sprintf("upstream_%d", u.StatusCode)
	switch {
	case u.StatusCode == http.StatusUnauthorized:
		c.entry.Err = fmt.Errorf("the server of connector %s answered 401: its key is wrong or missing", c.to.ID)
		return &dialect.Fault{
			Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "connector_unauthorized",
			Message: "the server of connector " + c.to.ID + " does not accept its key (401); the operator must set another key",
		}
	case u.StatusCode < 400:
		c.entry.Err = fmt.Errorf("the server of connector %s answered %d", c.to.ID, u.StatusCode)
		return &dialect.Fault{Status: http.StatusBadGateway, Code: code, Message: fmt.Sprintf("the server of connector %s answered %d", c.to.ID, u.StatusCode)}
	}
	f := &dialect.Fault{Status: u.StatusCode, Code: code, Message: parseErrorMessage(raw, u.StatusCode)}
	if c.api == connector.Anthropic && u.StatusCode == http.StatusBadRequest && bytes.Contains(raw, []byte("context_length_exceeded")) {
		f.Message = "prompt is too long: " + f.Message // Claude Code recognises this text and shortens its history
	}
	if f.Status == 529 && c.api != connector.Anthropic {
		f.Status = http.StatusServiceUnavailable
	}
	c.headers(u)
	if c.to.Protocol == c.api && json.Valid(raw) {
		c.respond(f.Status, raw)
		c.stopped = true
	}
	return f
}

// parseErrorMessage returns the text of a server's error.
func parseErrorMessage(raw []byte, status int) string {
	var in struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &in) == nil {
		var s string
		switch {
		case json.Unmarshal(in.Error, &inner) == nil && inner.Message != "":
			return clipText(inner.Message)
		case json.Unmarshal(in.Error, &s) == nil && s != "":
			return clipText(s)
		case in.Message != "":
			return clipText(in.Message)
		}
	}
	return fmt.Sprintf("the server answered %d %s", status, http.StatusText(status))
}

func clipText(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 4<<10)], "")
}

// isStream reports whether a response is an event stream.
func isStream(r *http.Response) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}
