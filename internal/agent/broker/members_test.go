package broker

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// FuzzForward reads hostile requests; what is passed on is the same JSON, but for the model and what the broker adds.
func FuzzForward(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"max_tokens":1e3,"stream_options":{"include_usage":false}}`))
	f.Add([]byte(` {"a":{"model":"x"},"model" : "m" } `))
	f.Add([]byte(`{"model":"m","MODEL":"n"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, api := range []connector.Protocol{connector.Anthropic, connector.Responses, connector.OpenAI} {
			a, f := parse(body)
			if f != nil {
				return
			}
			out, f := a.forward(connector.Connector{Model: "real", MaxTokens: 9}, api, false)
			if f != nil {
				continue
			}
			var before, after map[string]json.RawMessage
			if err := json.Unmarshal(out, &after); err != nil || json.Unmarshal(body, &before) != nil {
				t.Fatalf("%v: %s became %s", err, body, out)
			}
			for name, value := range after {
				known := false
				for _, own := range ours {
					known = known || own == name
					if strings.EqualFold(own, name) && own != name {
						t.Fatalf("%s has %q", out, name)
					}
				}
				if name == "model" && string(value) != `"real"` || !known && !reflect.DeepEqual(value, before[name]) {
					t.Fatalf("%s became %s", body, out)
				}
			}
			for name := range before {
				if _, kept := after[name]; !kept {
					t.Fatalf("%s lost %q: %s", body, name, out)
				}
			}
		}
	})
}
