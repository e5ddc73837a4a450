package connector

import (
	"cmp"
	"maps"
	"math"
	"net/textproto"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// The bounds of a connector's file.
const (
	maxText    = 4096 // bytes of a name, an address or a value
	maxHeaders = 64
	maxArgs    = 64            // of a command
	maxTokens  = 1 << 40       // more than any model has
	maxPrice   = 1_000_000_000 // US dollars for a million tokens
)

// The servers of the companies that made the protocols.
var hosts = map[Protocol]string{
	OpenAI: "https://api.openai.com", Responses: "https://api.openai.com", Anthropic: "https://api.anthropic.com",
}

// document is a connector's file.
type document struct {
	Schema  string      `json:"$schema"`
	Label   string      `json:"label"`
	Type    string      `json:"type"`
	Options options     `json:"options"`
	Price   *filedPrice `json:"price"`
	Allow   Allow       `json:"allow"`
}

type options struct {
	Host      string            `json:"host"`
	BaseURL   string            `json:"base_url"`
	Model     string            `json:"model"`
	Key       jsonc.Value       `json:"key"`
	Headers   map[string]string `json:"headers"`
	MaxTokens int64             `json:"max_tokens"`
	Thinking  *Thinking         `json:"thinking"`
	Effort    string            `json:"reasoning_effort"`
}

type filedPrice struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

// Parse reads the file of a connector; file is its name for messages. It returns either a Connector or at least one
// problem. No problem repeats a value that could be a key.
func Parse(id, file string, data []byte) (*Connector, []jsonc.Problem) {
	reader := jsonc.Reader{Expect: expectation, Quiet: true}
	top, problem := reader.Parse(file, data)
	if problem != nil {
		return nil, []jsonc.Problem{*problem}
	}
	var doc document
	r := &reading{top: top, doc: &doc}
	r.lines, r.problems = reader.Decode(top, &doc)
	c := &Connector{ID: id, Label: doc.Label, Model: doc.Options.Model, MaxTokens: doc.Options.MaxTokens, Headers: doc.Options.Headers, Allow: doc.Allow}
	if top.IsObject() {
		r.checkTexts()
		c.Protocol = r.protocol()
		c.BaseURL = r.baseURL(c.Protocol)
		c.Secret = r.secret(doc.Options.Key)
		c.Price = r.price()
		r.checkHeaders()
		r.checkAllow()
		c.Reasoning = r.reasoning(c.Protocol)
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b jsonc.Problem) int { return a.Line - b.Line })
		return nil, r.problems
	}
	return c, nil
}

func expectation(t reflect.Type) string {
	if t.Kind() == reflect.Float64 {
		return "a number that is not negative"
	}
	return ""
}

// reading is the state of checking one file.
type reading struct {
	top      jsonc.Value
	doc      *document
	lines    map[string]int
	problems []jsonc.Problem
}

func (r *reading) fail(key, format string, args ...any) *jsonc.Problem {
	p := r.top.Problem(key, format, args...)
	if line := r.lines[key]; line > 0 {
		p.Line = line
	}
	r.problems = append(r.problems, p)
	return &r.problems[len(r.problems)-1]
}

// has reports whether the file has a key with a valid value.
func (r *reading) has(key string) bool {
	return r.lines[key] > 0 && !slices.ContainsFunc(r.problems, func(p jsonc.Problem) bool { return p.Key == key })
}

func (r *reading) checkTexts() {
	o := &r.doc.Options
	for _, t := range []struct{ key, text string }{
		{"label", r.doc.Label}, {"options.host", o.Host}, {"options.base_url", o.BaseURL}, {"options.model", o.Model},
	} {
		if r.has(t.key) && (t.text == "" || !isPrintableLine(t.text)) {
			r.fail(t.key, "found %s, expected one line of at most %d bytes", jsonc.Clip(t.text), maxText)
		}
	}
	switch {
	case r.lines["options"] == 0:
		r.fail("options", "found nothing, expected an object with the model")
	case r.has("options") && r.lines["options.model"] == 0:
		p := r.fail("options.model", "found nothing, expected the model as the server calls it")
		p.Line = max(p.Line, r.lines["options"])
	}
	if r.has("options.max_tokens") && (o.MaxTokens < 1 || o.MaxTokens > maxTokens) {
		r.fail("options.max_tokens", "found %d, expected a whole number from 1 to %d", o.MaxTokens, int64(maxTokens))
	}
}

// isPrintableLine reports whether s is printable, short and on one line.
func isPrintableLine(s string) bool { return len(s) <= maxText && (s == "" || jsonc.OneLine(s) == s) }

func (r *reading) protocol() Protocol {
	known := []string{string(OpenAI), string(Responses), string(Anthropic)}
	switch {
	case slices.Contains(known, r.doc.Type):
		return Protocol(r.doc.Type)
	case r.lines["type"] == 0:
		r.fail("type", "found nothing, expected one of %s", strings.Join(known, ", ")).
			Hint = `a server that is compatible with OpenAI's has "type": "openai"`
	case r.has("type"):
		p := r.fail("type", "found %s, expected one of %s", jsonc.Clip(r.doc.Type), strings.Join(known, ", "))
		if near := jsonc.Nearest(r.doc.Type, known); near != "" {
			p.Hint = `did you mean "` + near + `"?`
		}
	}
	return ""
}

// baseURL returns the URL of the server in the form of [Connector].
func (r *reading) baseURL(p Protocol) string {
	key, text := "options.host", r.doc.Options.Host
	if r.lines["options.base_url"] > 0 {
		if r.lines[key] > 0 {
			r.fail("options.base_url", "found host beside it, expected one of them")
			return ""
		}
		key, text = "options.base_url", r.doc.Options.BaseURL
	}
	switch {
	case r.lines[key] == 0:
		text = hosts[p]
	case !r.has(key):
		return ""
	}
	u, err := url.Parse(text)
	// The message does not repeat the address: it may contain a password.
	switch {
	case p == "":
		return ""
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		r.fail(key, "found another address, expected http:// or https:// and a host")
		return ""
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		r.fail(key, "found an address with a user, a query or a fragment, expected one without").
			Hint = `a key belongs to "key", and is not written in this file`
		return ""
	}
	u.Path = strings.TrimRight(path.Clean("/"+u.Path), "/")
	u.RawPath = ""
	switch {
	case p == Anthropic: // clients of this API add the version themselves
		u.Path = strings.TrimSuffix(u.Path, "/v1")
	case u.Path == "":
		u.Path = "/v1"
	}
	return u.String()
}

// reasoning converts the reasoning options.
func (r *reading) reasoning(p Protocol) Reasoning {
	out := Reasoning{Thinking: r.doc.Options.Thinking, Effort: r.doc.Options.Effort}
	if r.has("options.reasoning_effort") && out.Effort == "" {
		r.fail("options.reasoning_effort", "found no text, expected one of %s", strings.Join(Efforts(), ", "))
	}
	if r.lines["options.thinking"] > 0 && !r.has("options.thinking") {
		out.Thinking = nil // options is not an object, which was already reported
	}
	if key, text, hint := out.Fault(p); key != "" {
		problem := r.fail("options."+key, "%s", text)
		problem.Hint, problem.Line = hint, cmp.Or(r.lines["options."+key], r.lines["options.thinking"])
	}
	return out
}

func (r *reading) price() *Price {
	p := r.doc.Price
	if p == nil {
		return nil
	}
	for _, f := range []struct {
		key      string
		value    *float64
		required bool
	}{{"input", p.Input, true}, {"output", p.Output, true}, {"cache_read", p.CacheRead, false}, {"cache_write", p.CacheWrite, false}} {
		key := "price." + f.key
		switch {
		case f.value == nil && f.required && r.lines[key] == 0:
			r.fail(key, "found nothing, expected US dollars for a million tokens").Line = r.lines["price"]
		case f.value != nil && (math.IsNaN(*f.value) || *f.value < 0 || *f.value > maxPrice):
			r.fail(key, "found %g, expected US dollars for a million tokens, from 0 to %d", *f.value, maxPrice)
		}
	}
	if p.Input == nil || p.Output == nil {
		return nil
	}
	return &Price{Input: *p.Input, Output: *p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite}
}

// IsKeyHeader reports whether the value of a header is a credential, which a file must not contain.
func IsKeyHeader(name string) bool {
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie":
		return true
	}
	return false
}

// IsValidHeader reports whether a header can be sent: its name is a token, its value is one line, and it does not
// frame the message.
func IsValidHeader(name, value string) bool {
	const token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" // RFC 9110, section 5.6.2
	if name == "" || strings.Trim(name, token) != "" || len(name) > maxText || len(value) > maxText {
		return false
	}
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer":
		return false
	}
	return !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

func (r *reading) checkHeaders() {
	headers := r.doc.Options.Headers
	if len(headers) > maxHeaders {
		r.fail("options.headers", "found %d headers, expected at most %d", len(headers), maxHeaders)
		return
	}
	first := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		key := "options.headers." + name
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !r.has(key):
		case IsKeyHeader(name):
			r.fail(key, "found a header that holds a key, which is not written in this file").
				Hint = `name the variable that holds it: "key": "$ENV.NAME"`
		case !IsValidHeader(name, headers[name]):
			r.fail(key, "found a header that cannot be sent, expected a name and a value on one line")
		case first[canonical] != "":
			r.fail(key, "found %s beside it, which is the same header", jsonc.Clip(first[canonical]))
		}
		first[canonical] = name
	}
}
