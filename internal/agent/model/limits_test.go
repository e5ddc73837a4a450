package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Turns_Tokens_And_Cost_Have_A_Ceiling(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		change  func(*model.Request)
		outcome event.Outcome
		asked   int
		want    string
	}{
		{"turns", func(r *model.Request) { r.MaxTurns = 3 }, event.MaxTurns, 3, "the limit of 3 turns"},
		{"turns by default", func(*model.Request) {}, event.MaxTurns, 20, "the limit of 20 turns"},
		{"tokens", func(r *model.Request) { r.Limits.Tokens = 45 }, event.MaxBudget, 2, "the limit of 45 tokens"},
		{"cost", func(r *model.Request) { r.Limits.CostUSD = 120e-6 }, event.MaxBudget, 3, "the limit of $0.00012"},
	} {
		for p := range protocols {
			t.Run(row.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				s := serve(t, stream(uses[p]...))
				req := hello(s.connector(p))
				req.Tools = functions{"s__add": arithmetic["s__add"]}
				row.change(&req)
				_, r := run(t.Context(), t, client(t, model.Options{}), req)
				if r.Outcome != row.outcome || s.asked() != row.asked || !strings.Contains(r.Error, row.want) || r.Turns != int64(row.asked) {
					t.Errorf("%d requests, %+v", s.asked(), r)
				}
				if !r.Estimated && r.Usage.Output != int64(20*row.asked) || r.Tools != int64(3*(row.asked-1)) {
					t.Errorf("%d tools, usage %+v", r.Tools, r.Usage)
				}
			})
		}
	}
}

func Test_An_Endless_Answer_Exceeds_The_Ceiling_Only_By_Little(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := fmt.Fprint(w, "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"12345\"}}]}\n\n"); err != nil {
				return
			}
		}
	})
	req := hello(s.connector(connector.OpenAI))
	req.Limits.Tokens = 1000
	_, r := run(t.Context(), t, client(t, model.Options{}), req)
	if n := r.Usage.Input + r.Usage.Output; r.Outcome != event.MaxBudget || n < 1000 || n > 1010 || !r.Estimated {
		t.Errorf("%d tokens, %+v", n, r.Outcome)
	}
}

func Test_Unreported_Usage_Is_Booked_As_An_Estimate(t *testing.T) {
	t.Parallel()
	for _, usage := range []string{`null`, `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`, `"none"`} {
		s := serve(t, stream(`{"id":"","error":null,"choices":[{"index":0,"delta":{"content":"Hello you"},"finish_reason":"stop"}],"usage":`+usage+`}`))
		_, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(connector.OpenAI)))
		if !r.OK() || r.Content != "Hello you" || !r.Estimated || r.Usage.Output != 2 || r.Usage.Input != 2 || *r.CostUSD == 0 {
			t.Errorf("%s: %+v", usage, r)
		}
	}
}

func Test_A_Server_That_Refuses_The_Usage_Option_Is_Asked_Without_It(t *testing.T) {
	t.Parallel()
	s := serve(t, status(422, `{"detail":"stream_options: extra inputs are not permitted"}`), chatHello)
	_, r := run(t.Context(), t, client(t, model.Options{Retries: -1}), hello(s.connector(connector.OpenAI)))
	if !r.OK() || r.Retries != 1 || strings.Contains(s.body(t, 1), "stream_options") {
		t.Errorf("%+v %s", r, s.body(t, 1))
	}
	s = serve(t, status(400, `{"detail":"stream_options"}`))
	if _, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(connector.OpenAI))); r.OK() || s.asked() != 2 {
		t.Errorf("%d requests, %+v", s.asked(), r)
	}
}

func Test_An_Interrupt_Preserves_The_Partial_Answer(t *testing.T) {
	t.Parallel()
	for p := range protocols {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			left := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				stream(half[p]...)(w, r)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(left)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var fold event.Fold
			for e, err := range client(t, model.Options{}).Stream(ctx, hello(s.connector(p))) {
				if err != nil {
					t.Fatal(err)
				}
				if fold.Add(e); e.Kind == event.TextDelta {
					cancel()
				}
			}
			<-left
			r := fold.Response()
			if r.Outcome != event.Interrupted || r.Content != "Hel and more" || r.Usage.Output == 0 || r.Turns != 1 || r.Error != "test.model: interrupted" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func Test_A_Wait_And_A_Tool_Are_Interrupted_As_Well(t *testing.T) {
	t.Parallel()
	for kind, answer := range map[event.Kind]http.HandlerFunc{
		event.RetryScheduled: status(429, `{}`, "Retry-After", "30"), event.ToolStarted: stream(toolUse("s__wait", "{}")...),
	} {
		s := serve(t, answer)
		ctx, cancel := context.WithCancel(t.Context())
		req := hello(s.connector(connector.OpenAI))
		req.Tools = functions{"s__wait": func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}
		var fold event.Fold
		for e, err := range client(t, model.Options{}).Stream(ctx, req) {
			if err != nil {
				t.Fatal(err)
			}
			if fold.Add(e); e.Kind == kind {
				cancel()
			}
		}
		cancel()
		if r := fold.Response(); r.Outcome != event.Interrupted || s.asked() != 1 {
			t.Errorf("%s: %d requests, %+v", kind, s.asked(), r)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	s := serve(t, chatHello)
	if _, r := run(ctx, t, client(t, model.Options{}), hello(s.connector(connector.OpenAI))); r.Outcome != event.Interrupted || r.Error != "test.model: the time was up" {
		t.Errorf("%+v", r)
	}
}

func toolUse(name, arguments string) []string {
	quoted, _ := json.Marshal(arguments)
	return []string{
		`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","function":{"name":"` + name + `","arguments":` + string(quoted) + `}}]}}]}`,
		`{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
	}
}

func Test_Stopping_The_Iteration_Ends_The_Request_And_Its_Tools(t *testing.T) {
	t.Parallel()
	var running atomic.Int64
	s := serve(t, stream(toolUse("s__wait", "{}")...))
	req := hello(s.connector(connector.OpenAI))
	req.Tools = functions{"s__wait": func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
		running.Add(1)
		defer running.Add(-1)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}}
	for _, until := range []event.Kind{event.SessionStarted, event.UsageReported, event.ToolStarted} {
		before := s.asked()
		for e, err := range client(t, model.Options{}).Stream(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == until {
				break
			}
		}
		if until == event.SessionStarted && s.asked() != before {
			t.Error("the model was asked, without a listener")
		}
	}
	if s.asked() != 2 || running.Load() != 0 {
		t.Errorf("%d requests, %d tools still run", s.asked(), running.Load())
	}
}

func Test_Tools_Run_At_Once_Up_To_A_Bound(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	meet := make(chan struct{})
	req := model.Request{Tools: functions{"s__wait": func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
		defer now.Add(-1)
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		select {
		case meet <- struct{}{}: // pairs
		case <-meet:
		case <-ctx.Done():
		}
		return says("met"), nil
	}}}
	var calls []string
	for i := range 6 {
		calls = append(calls, fmt.Sprintf(`{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t%d","function":{"name":"s__wait","arguments":"{}"}}]}}]}`, i))
	}
	s := serve(t, stream(append(calls, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)...), chatHello)
	req.Connector, req.Messages = s.connector(connector.OpenAI), []message.Message{message.New(message.User, "hi")}
	_, r := run(t.Context(), t, client(t, model.Options{Parallel: 2}), req)
	if !r.OK() || r.Tools != 6 || most.Load() != 2 || strings.Count(s.body(t, 1), `"content":"met"`) != 6 {
		t.Errorf("%d at once, %+v", most.Load(), r)
	}
}

func Test_Tool_Output_Is_Bounded_And_Faults_Go_To_The_Model(t *testing.T) {
	t.Parallel()
	set := functions{
		"s__fail": arithmetic["s__fail"], "s.dotted": arithmetic["s.dotted"],
		"s__add": func(context.Context, json.RawMessage) (tool.Result, error) {
			return tool.Result{}, errors.New("the server died")
		},
		"s__long": func(context.Context, json.RawMessage) (tool.Result, error) {
			return says(strings.Repeat("x", 1<<20)), nil
		},
	}
	for _, row := range []struct{ name, arguments, real, want string }{
		{"s__fail", "", "s__fail", `"content":"error: out of order"`},
		{"s__add", "{}", "s__add", `"content":"error: the server died"`},
		{"s__long", " {} ", "s__long", `xxx...\n[786432 more bytes were left out]"`},
		{"s__fail", "[]", "s__fail", `error: the arguments are not one JSON object: []`},
		{"s_dotted_a2be9a74", "{}", "s.dotted", `"content":"dots"`},
	} {
		s := serve(t, stream(toolUse(row.name, row.arguments)...), chatHello)
		req := hello(s.connector(connector.OpenAI))
		req.Tools = set
		events, r := run(t.Context(), t, client(t, model.Options{}), req)
		if !r.OK() || !strings.Contains(s.body(t, 1), row.want) || len(s.body(t, 1)) > 300<<10 {
			t.Errorf("%s: %+v, %.2000s", row.name, r, s.body(t, 1))
		}
		for _, e := range events {
			if e.Tool != nil && e.Tool.Name != row.real {
				t.Errorf("the tool is %q", e.Tool.Name)
			}
		}
	}
}

func Test_A_Paused_Answer_Is_Continued(t *testing.T) {
	t.Parallel()
	s := serve(t, stream(append(half[connector.Anthropic], `{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":3}}`)...), messagesHello)
	_, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(connector.Anthropic)))
	if !r.OK() || r.Content != "Hello" || !strings.Contains(s.body(t, 1), `"text":"Hel and more","type":"text"}],"role":"assistant"`) {
		t.Errorf("%+v %s", r, s.body(t, 1))
	}
}

func Test_Requests_To_Anthropic_Have_A_Token_Limit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"claude-sonnet-4-5": "64000", "claude-opus-4-1-20250805": "32000", "claude-3-5-haiku-latest": "8192", "claude-3-opus-latest": "4096", "deepseek-chat": "8192",
	} {
		s := serve(t, messagesHello)
		req := hello(s.connector(connector.Anthropic))
		req.Connector.Model, req.Connector.BaseURL = name, s.URL // without the version, as many users write it
		run(t.Context(), t, client(t, model.Options{}), req)
		if got := s.body(t, 0); !strings.Contains(got, `"max_tokens":`+want+`,`) || s.paths[0] != "/v1/messages" {
			t.Errorf("%s: %s %s", name, s.paths[0], got)
		}
	}
}

func Test_A_Request_That_Cannot_Be_Sent_Is_An_Error(t *testing.T) {
	t.Parallel()
	s := serve(t, chatHello)
	warm := 9.0
	part := func(p message.Part) func(*model.Request) {
		return func(r *model.Request) { r.Messages[0].Parts = append(r.Messages[0].Parts, p) }
	}
	for _, row := range []struct {
		name   string
		change func(*model.Request)
		want   string
	}{
		{"no model", func(r *model.Request) { r.Connector.Model = "" }, "test.model: the connector names no model"},
		{"no protocol", func(r *model.Request) { r.Connector.Protocol = "smoke" }, `expected the protocol openai, responses or anthropic, got "smoke"`},
		{"no URL", func(r *model.Request) { r.Connector.BaseURL = "api.example.com/v1" }, `expected the base URL of an API, got "api.example.com/v1"`},
		{"a key in the URL", func(r *model.Request) {
			r.Connector.BaseURL = "https://user:" + url.PathEscape(secret) + "@example.com"
		}, "has a user"},
		{"no message", func(r *model.Request) { r.Messages = nil }, "all messages of the user are empty"},
		{"an empty message", func(r *model.Request) { r.Messages[0] = message.New(message.User, " \n") }, "all messages of the user are empty"},
		{"a message without a role", func(r *model.Request) { r.Messages[0].Role = "" }, "messages[0]: expected the role system, user or assistant"},
		{"an image of another kind", part(message.Part{Type: message.Image, Name: "a.bmp", Data: []byte("BM12")}), `messages[0].content[1] ("a.bmp"): models cannot see image/bmp`},
		{"a program", part(message.Part{Type: message.File, Name: "a.exe", Data: []byte("MZ\x00\xff")}), `messages[0].content[1] ("a.exe"): models cannot read application/octet-stream`},
		{"an empty file", part(message.Part{Type: message.File, Name: "a.txt"}), `messages[0].content[1] ("a.txt"): the file is empty`},
		{"a part of no type", part(message.Part{}), "messages[0].content[1]: expected the type text, image or file"},
		{"an image of the assistant", func(r *model.Request) {
			r.Messages = append(r.Messages, message.Message{Role: message.Assistant, Parts: []message.Part{{Type: message.Image, MediaType: "image/png", Data: []byte("x")}}})
		}, "messages[1].content[0]: a message of assistant has only text"},
		{"a temperature", func(r *model.Request) { r.Temperature = &warm }, "temperature: expected a number from 0 to 2, got 9"},
		{"a limit without a price", func(r *model.Request) { r.Limits.CostUSD, r.Connector.Price = 1, nil }, "a limit on cost needs a price"},
		{"a limit below nothing", func(r *model.Request) { r.Limits.Tokens = -1 }, "limits: expected numbers from 0 on"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			req := hello(s.connector(connector.OpenAI))
			row.change(&req)
			var got error
			for e, err := range client(t, model.Options{}).Stream(t.Context(), req) {
				if got = err; err == nil {
					t.Errorf("event %+v", e)
				}
			}
			if sandbox.CodeOf(got) != sandbox.Invalid || !strings.Contains(fmt.Sprint(got), row.want) || strings.Contains(fmt.Sprint(got), secret) {
				t.Errorf("error %v", got)
			}
		})
	}
	if s.asked() != 0 {
		t.Errorf("%d requests", s.asked())
	}
}

// lost is a source without keys.
type lost struct{}

func (lost) Key(context.Context, connector.Secret) (string, error) {
	return "", sandbox.Errorf(sandbox.NotFound, "the variable TEST_KEY is not set")
}

func Test_A_Missing_Key_Fails_Before_The_Request(t *testing.T) {
	t.Parallel()
	s := serve(t, chatHello)
	for want, source := range map[string]connector.Source{
		"test.model: its key: the variable TEST_KEY is not set": lost{}, "test.model: the connector names a key, and this client has no source of keys": nil,
	} {
		c := model.New(model.Options{Keys: source})
		_, r := run(t.Context(), t, c, hello(s.connector(connector.OpenAI)))
		if r.Outcome != event.Failed || r.Error != want || s.asked() != 0 {
			t.Errorf("%d requests, %+v", s.asked(), r)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
