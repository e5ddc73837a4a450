package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// maxFault bounds the part of a server's message in a fault, in bytes.
const maxFault = 500

// fault is the reason why an answer is missing or incomplete.
type fault struct {
	outcome event.Outcome
	status  int64         // of HTTP; 0: there was none
	text    string        // the error; redact it before it leaves the package
	again   bool          // a retry may succeed
	wait    time.Duration // that the server asked for; 0: it did not
}

// Error implements error.
func (f *fault) Error() string { return f.text }

func apiFault(format string, args ...any) *fault {
	return &fault{outcome: event.APIError, text: fmt.Sprintf(format, args...)}
}

// redact makes a fault's text safe to show: one line with the connector's ID, without secrets and control characters, and
// short.
func redact(id, text string, secrets []string) string {
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), strings.Trim(quoteText(s), `"`)} {
			text = strings.ReplaceAll(text, form, "[key]")
		}
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if id == "" {
		id = "the connector"
	}
	return id + ": " + clip(text, 3*maxFault)
}

func quoteText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(b)
}

// clip returns at most limit bytes of s as valid UTF-8, with a mark where it was cut.
func clip(s string, limit int) string {
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return strings.ToValidUTF8(s, "?") // which makes it no longer
}

// refusal returns the fault of a response that is not a stream of events; nil: it is one.
func refusal(res *http.Response, c connector.Connector) *fault {
	media, _, _ := strings.Cut(strings.ToLower(res.Header.Get("Content-Type")), ";")
	media = strings.TrimSpace(media)
	page := strings.Contains(media, "html")
	if res.StatusCode == http.StatusOK && !page && !strings.HasSuffix(media, "json") {
		return nil
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // a part of the body is enough for the message
	page = page || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	said, code := serverMessage(body)
	f := apiFault("HTTP %d: %s", res.StatusCode, said)
	f.status = int64(res.StatusCode)
	switch at := safeURL(c.BaseURL); {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		f.text = fmt.Sprintf("HTTP %d: %s redirects to %s; set that address as the base URL", res.StatusCode, at, safeURL(res.Header.Get("Location")))
	case page && res.StatusCode < 500:
		f.text = fmt.Sprintf("HTTP %d: %s answers with a web page and not as an API; check the base URL, most end with /v1", res.StatusCode, at)
	case page:
		f.text = fmt.Sprintf("HTTP %d: %s", res.StatusCode, http.StatusText(res.StatusCode))
	case res.StatusCode == http.StatusOK && code == "" && said == "":
		f.text = "it answered without a stream"
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		f.text += "; " + keyPlace(c.Secret)
	case res.StatusCode == http.StatusNotFound:
		f.text += fmt.Sprintf("; check the model %q and the base URL %s", c.Model, at)
	}
	if f.again = isRetriable(res.StatusCode) && code != "insufficient_quota" && res.Header.Get("X-Should-Retry") != "false"; f.again {
		f.wait = retryAfter(res.Header, time.Now())
	}
	return f
}

func isRetriable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout, 529:
		return true
	}
	return false
}

// serverMessage returns the error message of a body, in any of the known forms, and its code if it has one.
func serverMessage(body []byte) (text, code string) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 { // of Gemini
		body = list[0]
	}
	var m struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &m) != nil {
		return clip(string(body), maxFault), ""
	}
	var e struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	_ = json.Unmarshal(m.Error, &e) // keep the members that fit
	_ = json.Unmarshal(e.Code, &code)
	if code == "" {
		code = e.Type
	}
	var plain string
	_ = json.Unmarshal(m.Error, &plain)
	for _, s := range []string{e.Message, plain, m.Message, e.Type, string(m.Detail)} {
		if s != "" {
			return clip(s, maxFault), code
		}
	}
	return "", code
}

// sendFault returns the fault of a request that failed without a response.
func sendFault(ctx context.Context, err error, c connector.Connector) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if f, ok := errors.AsType[*fault](context.Cause(ctx)); ok {
		return f
	}
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // its own text has the URL, which may hold a secret
	}
	f := apiFault("cannot reach %s: %v", safeURL(c.BaseURL), err)
	f.again = isTransient(err)
	return f
}

// isTransient reports whether a retry may fix a failed connection.
func isTransient(err error) bool {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.IsTemporary || e.IsTimeout
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return false
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return false
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return false
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func interrupted(ctx context.Context) *fault {
	text := "interrupted"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		text = "the time was up"
	}
	return &fault{outcome: event.Interrupted, text: text}
}

// keyPlace returns a hint about the place of a key, without the key.
func keyPlace(s connector.Secret) string {
	switch {
	case s.Env != "":
		return fmt.Sprintf("check the key, which is the variable %s", s.Env)
	case s.File != "":
		return fmt.Sprintf("check the key, which is in %s", s.File)
	case len(s.Command) > 0:
		return fmt.Sprintf("check the key, which %s prints", s.Command[0])
	case s.Value != "":
		return "check the key"
	}
	return "the connector names no key"
}

// safeURL returns an address without the parts that may hold secrets.
func safeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "an address that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return clip(u.String(), 200)
}
