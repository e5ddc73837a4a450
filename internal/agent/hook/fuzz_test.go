package hook

import (
	"encoding/json"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// Any value that a hook returns is decoded to an error, or to values within their
// bounds.
func FuzzReturned(f *testing.F) {
	for _, s := range []string{
		"null", "{}", `{"messages":[{"role":"user","content":[{"type":"file","data":"attachment:0"}]}],"temperature":1,"max_tokens":5,"mcp_servers":["a",{"server_id":"b"}]}`,
		`{"delegate":{"agent_id":"b","messages":[],"options":{}},"data":[1],"metadata":{"a":1}}`, `{"messages":[null]}`, `{"delegate":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return // a worker's value is checked before this
		}
		in := reader{hook: "Create", files: files{[]byte("x")}}
		if c, err := in.created(data); err == nil {
			if c.Temperature != nil && (*c.Temperature < 0 || *c.Temperature > 2) || c.MaxTokens < 0 || len(c.Messages) > protocol.MaxMessages {
				t.Errorf("%+v", c)
			}
			for _, m := range c.Messages {
				if m.Role == "" {
					t.Errorf("a message without a role: %+v", m)
				}
			}
		}
		if r, err := in.replied(data); err == nil && r.Delegate != nil && r.Delegate.Agent == "" {
			t.Errorf("a delegate without an assistant: %+v", r)
		}
	})
}

// Any path that a hook names resolves to one below the workspace.
func FuzzPath(f *testing.F) {
	for _, s := range []string{".", "a/../b", "/space/x", "/space2", "/space/../etc", "..", "a//b", "\x00", "/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, workdir := range []string{"/space", "/"} {
			got, err := inWorkspace(workdir, name)
			if err == nil && (got == "" || got[0] == '/' || got == ".." || len(got) > 2 && got[:3] == "../") {
				t.Errorf("%q is %q in %s", name, got, workdir)
			}
		}
	})
}
