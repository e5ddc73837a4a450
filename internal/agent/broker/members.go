package broker

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// ours are the members of a request that the broker reads or writes.
var ours = [...]string{
	"model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "max_output_tokens", "store", "thinking",
}

// asked is a request with the positions of the broker's members.
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

// parseRequest reads what the choice of a connector needs.
func parseRequest(body []byte) (asked, *dialect.Fault) {
	a := asked{}
	if !json.Valid(body) {
		return a, refused("the request is not valid JSON, or something follows it")
	}
	body = bytes.TrimSpace(body)
	if body[0] != '{' {
		return a, refused("the request is not a JSON object")
	}
	members := splitObject(body)
	if f := checkDuplicates(members, nil); f != nil {
		return a, f
	}
	a.locate(body, members)
	if !a.read("model", &a.model) || a.model == "" {
		return a, refused("model: expected the name of a model")
	}
	if !a.read("stream", &a.stream) {
		return a, refused("stream: expected true or false")
	}
	return a, nil
}

// locate finds the broker's members in a body.
func (a *asked) locate(body []byte, members []member) {
	a.body, a.at = body, map[string][2]int{}
	for _, m := range members {
		a.end = m.at + len(m.value)
		if slices.Contains(ours[:], m.name) {
			a.at[m.name] = [2]int{m.at, a.end}
		}
	}
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

// limits are the members that limit an answer's tokens, the usual one first.
var limits = map[connector.Protocol][]string{
	connector.Anthropic: {"max_tokens"}, connector.Responses: {"max_output_tokens"}, connector.OpenAI: {"max_tokens", "max_completion_tokens"},
}

// longest returns the limit of the answer in the request; 0: none.
func (a asked) longest(api connector.Protocol) (int64, *dialect.Fault) {
	var found int64
	for _, name := range limits[api] {
		var n *float64
		if !a.read(name, &n) || n != nil && (*n < 0 || *n > 1<<53) {
			return 0, refused(name + ": expected a number of tokens")
		}
		if n != nil && *n >= 1 && (found == 0 || int64(*n) < found) {
			found = int64(*n)
		}
	}
	return found, nil
}

// thinks returns the budget of thinking in the request to Anthropic; 0: none. An answer must be longer.
func (a asked) thinks() int64 {
	var thinking struct {
		Type   string `json:"type"`
		Budget int64  `json:"budget_tokens"`
	}
	if !a.read("thinking", &thinking) || thinking.Type != "enabled" {
		return 0
	}
	return thinking.Budget
}

// forward returns the request for a connector that speaks the same API. It changes only the model and the members that
// the broker must know or limit. longest is the limit of the answer; 0: none. With count, the request only counts tokens.
func (a asked) forward(c connector.Connector, api connector.Protocol, longest int64, count bool) ([]byte, *dialect.Fault) {
	model, err := json.Marshal(c.Model)
	if err != nil {
		return nil, refused("model: " + err.Error())
	}
	with := map[string][]byte{"model": model}
	if count {
		return a.replace(with), nil
	}
	told := false
	for _, name := range limits[api] {
		var n *float64
		if !a.read(name, &n) {
			return nil, refused(name + ": expected a number")
		}
		if n == nil {
			continue
		}
		told = true
		if longest > 0 && *n > float64(longest) {
			with[name] = encodeNumber(longest)
		}
	}
	if !told && longest > 0 {
		with[limits[api][0]] = encodeNumber(longest)
	}
	if budget := a.thinks(); api == connector.Anthropic && longest > 0 && budget >= longest && longest > connector.MinBudget {
		with["thinking"] = []byte(`{"type":"enabled","budget_tokens":` + string(encodeNumber(longest-1)) + "}")
	}
	if api == connector.OpenAI && a.stream && !a.usage() {
		with["stream_options"] = []byte(`{"include_usage":true}`)
	}
	// OpenAI's own server stores answers unless the request says otherwise; other servers of Chat may not know the member.
	if _, told := a.at["store"]; told || api == connector.Responses || api == connector.OpenAI && hasCompletionTokens(c) {
		with["store"] = []byte("false")
	}
	return a.replace(with), nil
}

func encodeNumber(n int64) []byte {
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
