package broker

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// FuzzForward reads hostile requests. The forwarded request may contain only members of the table, with the values of the
// original request except for the members that the broker writes.
func FuzzForward(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"max_tokens":1e3,"stream_options":{"include_usage":false},"store":true}`))
	f.Add([]byte(` {"a":{"model":"x"},"model" : "m" } `))
	f.Add([]byte(`{"model":"m","MODEL":"n"}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"\u0074ext","text":"]}\"{"}]}],"top_k" : 7 }`))
	f.Add([]byte(`{"model":"m","tools":[{"type":"web_search_1","name":"w"},{"type":"custom","name":"a"}],"tool_choice":{"type":"any"}}`))
	f.Add([]byte(`{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:,"}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, api := range []connector.Protocol{connector.Anthropic, connector.Responses, connector.OpenAI} {
			a, f := parseRequest(body)
			if f != nil {
				return
			}
			to := connector.Connector{Model: "real"}
			if a, f = a.admit(api, to); f != nil {
				continue
			}
			out, f := a.forward(to, api, 9, false)
			if f != nil {
				continue
			}
			var before, after map[string]json.RawMessage
			if err := json.Unmarshal(out, &after); err != nil || json.Unmarshal(body, &before) != nil {
				t.Fatalf("%v: %s became %s", err, body, out)
			}
			for name, value := range after {
				if tables[api].members[name] == nil {
					t.Fatalf("%s has %q", out, name)
				}
				own := slices.Contains(ours[:], name)
				if name == "model" && string(value) != `"real"` || !own && name != "tools" && !sameValue(value, before[name]) {
					t.Fatalf("%s became %s", body, out)
				}
			}
		}
	})
}

// sameValue compares JSON without its white space.
func sameValue(x, y json.RawMessage) bool {
	var a, b any
	return json.Unmarshal(x, &a) == nil && json.Unmarshal(y, &b) == nil && reflect.DeepEqual(a, b)
}
