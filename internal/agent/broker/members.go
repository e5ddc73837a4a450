package broker

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// ours are the members of a request that the broker reads or writes. A request that repeats one of them, or spells it in
// capitals, may try to make the broker and the server read different values.
var ours = [...]string{"model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "max_output_tokens", "background"}

// asked is a request's original bytes with the positions of the broker's members.
type asked struct {
	body   []byte
	at     map[string][2]int // start and end of each value
	end    int               // of the last member
	model  string
	stream bool
}

func refused(message string) *dialect.Fault {
	return &dialect.Fault{Status: http.StatusBadRequest, Code: "invalid_request", Message: message}
}

// parse finds the members of a request.
func parse(body []byte) (asked, *dialect.Fault) {
	a := asked{body: body, at: map[string][2]int{}}
	dec := json.NewDecoder(bytes.NewReader(body))
	switch t, err := dec.Token(); {
	case err != nil:
		return a, refused("the request is no valid JSON")
	case t != json.Delim('{'):
		return a, refused("the request is no JSON object")
	}
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return a, refused("the request is no valid JSON")
		}
		a.end = int(dec.InputOffset())
		if i := slices.IndexFunc(ours[:], func(s string) bool { return strings.EqualFold(s, name) }); i >= 0 {
			if _, twice := a.at[name]; twice || name != ours[i] {
				return a, refused(ours[i] + ": expected once, and in this spelling")
			}
			a.at[name] = [2]int{a.end - len(value), a.end}
		}
	}
	if _, err := dec.Token(); err != nil {
		return a, refused("the request is no valid JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return a, refused("the request is no valid JSON: something follows it")
	}
	if !a.read("model", &a.model) || a.model == "" {
		return a, refused("model: expected the name of a model")
	}
	if !a.read("stream", &a.stream) {
		return a, refused("stream: expected true or false")
	}
	return a, nil
}

// read decodes a member; a missing or null member leaves v unchanged.
func (a asked) read(name string, v any) bool {
	at, ok := a.at[name]
	return !ok || json.Unmarshal(a.body[at[0]:at[1]], v) == nil
}

// usage reports whether a stream of Chat shall end with usage.
func (a asked) usage() bool {
	var options struct {
		Usage bool `json:"include_usage"`
	}
	return a.read("stream_options", &options) && options.Usage
}

// forward returns the request for a connector that speaks the same API. It changes only the model and the members that
// the broker must know or limit. With count, the request only counts tokens.
func (a asked) forward(c connector.Connector, api connector.Protocol, count bool) ([]byte, *dialect.Fault) {
	var background bool
	if !a.read("background", &background) || background {
		return nil, refused("background: what nobody waits for cannot be counted")
	}
	model, err := json.Marshal(c.Model)
	if err != nil {
		return nil, refused("model: " + err.Error())
	}
	with := map[string][]byte{"model": model}
	if count {
		return a.replace(with), nil
	}
	limits := map[connector.Protocol][]string{
		connector.Anthropic: {"max_tokens"}, connector.Responses: {"max_output_tokens"}, connector.OpenAI: {"max_tokens", "max_completion_tokens"},
	}[api]
	told := false
	for _, name := range limits {
		var n *float64
		if !a.read(name, &n) {
			return nil, refused(name + ": expected a number")
		}
		if n == nil {
			continue
		}
		told = true
		if c.MaxTokens > 0 && *n > float64(c.MaxTokens) {
			with[name] = number(c.MaxTokens)
		}
	}
	if !told && c.MaxTokens > 0 {
		with[limits[0]] = number(c.MaxTokens)
	}
	if api == connector.OpenAI && a.stream && !a.usage() {
		with["stream_options"] = []byte(`{"include_usage":true}`)
	}
	return a.replace(with), nil
}

func number(n int64) []byte {
	data, err := json.Marshal(n)
	if err != nil {
		return []byte("0")
	}
	return data
}

// replace returns the body with new values for some members; missing members are added.
func (a asked) replace(with map[string][]byte) []byte {
	type edit struct {
		from, to int
		value    []byte
	}
	var edits []edit
	for _, name := range ours {
		value, ok := with[name]
		if !ok {
			continue
		}
		if at, there := a.at[name]; there {
			edits = append(edits, edit{at[0], at[1], value})
		} else {
			edits = append(edits, edit{a.end, a.end, slices.Concat([]byte(`,"`+name+`":`), value)})
		}
	}
	slices.SortStableFunc(edits, func(x, y edit) int { return x.from - y.from })
	out := make([]byte, 0, len(a.body)+256)
	at := 0
	for _, e := range edits {
		out = append(append(out, a.body[at:e.from]...), e.value...)
		at = e.to
	}
	return append(out, a.body[at:]...)
}
