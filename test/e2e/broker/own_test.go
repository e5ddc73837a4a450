package broker_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// own starts a scripted server that speaks the program's own API, and a broker in front of it.
func own(t *testing.T, p program, turns ...model.Turn) (server *model.Server, url string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = model.Serve(t, l, turns)
	c := connector.Connector{ID: "own", Model: p.model, Secret: connector.Secret{Value: realKey}, Protocol: connector.Anthropic, BaseURL: "http://" + l.Addr().String()}
	if p.name == "codex" {
		c.Protocol, c.BaseURL = connector.Responses, c.BaseURL+"/v1"
	}
	b, err := broker.New(broker.Options{Models: map[string]connector.Connector{p.model: c}, Keys: source{}, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(b)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		front.Close()
	})
	return server, front.URL
}

func Test_An_Agent_Talks_To_Its_Own_API_Through_The_Lists(t *testing.T) {
	t.Parallel()
	forPrograms(t, func(t *testing.T, p program, bin string) {
		t.Helper()
		turns := []model.Turn{{ID: "call_1", Tool: p.tool, Input: map[string]any{p.argument: "echo made", "description": "work"}}, {Text: "All done."}}
		server, url := own(t, p, turns...)
		r := p.start(t.Context(), t, bin, url)
		if err := r.Wait(); err != nil || p.said(r.stdout.String()) != "All done." {
			t.Errorf("%v: it said\n%s\n%s", err, r.stdout.String(), r.stderr.String())
		}
		server.Check(t)
		if got := server.Result(t, "call_1"); !strings.Contains(got.Text, "made") {
			t.Errorf("the model got %+v", got)
		}
		asked := server.Asked()
		if len(asked) != len(turns) {
			t.Fatalf("the server was asked %d times, want %d", len(asked), len(turns))
		}
		for _, body := range asked {
			var in struct {
				Store *bool `json:"store"`
				Tools []struct {
					Type string `json:"type"`
				} `json:"tools"`
			}
			if err := json.Unmarshal(body, &in); err != nil || len(in.Tools) == 0 || p.name == "codex" && (in.Store == nil || *in.Store) {
				t.Errorf("the server was asked (%v) %.300s", err, body)
			}
			for _, tool := range in.Tools {
				if strings.HasPrefix(tool.Type, "web_") {
					t.Errorf("the server was offered the tool %s", tool.Type)
				}
			}
		}
	})
}

// attack sends the broker a request as a process in the sandbox can: one of the program's own requests with
// a further member.
func attack(t *testing.T, p program, url, members string) (status int, body string) {
	t.Helper()
	path, begin := "/v1/messages", `{"max_tokens":10,"messages":[{"role":"user","content":"hi"}]`
	if p.name == "codex" {
		path, begin = "/v1/responses", `{"input":[{"role":"user","content":"hi"}]`
	}
	in := begin + `,"stream":true,"model":"` + p.model + `"` + members + "}"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func Test_A_Process_Cannot_Use_The_Network_Or_The_Account_Of_The_Server(t *testing.T) {
	t.Parallel()
	rows := map[string]map[string]string{
		"claude": {
			`,"mcp_servers":[{"type":"url","url":"https://a.b/","name":"x"}]`:      "mcp_servers",
			`,"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]`:          "web_fetch_20250910",
			`,"tools":[{"type":"code_execution_20250825","name":"x"}]`:             "code_execution_20250825",
			`,"container":"container_1"`:                                           "container",
			`,"messages":[{"role":"user","content":"and a member that is twice"}]`: "messages",
		},
		"codex": {
			`,"tools":[{"type":"mcp","server_label":"x","server_url":"https://a.b/"}]`: "mcp",
			`,"previous_response_id":"resp_1"`:                                         "previous_response_id",
			`,"background":true`:                                                       "background",
			`,"prompt":{"id":"pmpt_1"}`:                                                "prompt",
		},
	}
	for _, p := range programs() {
		server, url := own(t, p, model.Turn{Text: "Hi."})
		for members, says := range rows[p.name] {
			if status, body := attack(t, p, url, members); status != http.StatusBadRequest || !strings.Contains(body, says) {
				t.Errorf("%s%s: got %d %s", p.name, members, status, body)
			}
		}
		if n := len(server.Asked()); n != 0 {
			t.Errorf("%s: the server was asked %d times", p.name, n)
		}
		if status, body := attack(t, p, url, ""); status != http.StatusOK || len(server.Asked()) != 1 {
			t.Errorf("%s: the control: %d %s", p.name, status, body)
		}
	}
}
