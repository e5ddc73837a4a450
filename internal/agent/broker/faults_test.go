package broker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// serverError returns an error in the format of a protocol.
func serverError(p connector.Protocol, message string) string {
	if p == connector.Anthropic {
		return `{"type":"error","error":{"type":"some_error","message":"` + message + `"}}`
	}
	return `{"error":{"message":"` + message + `","type":"some_error","param":null,"code":"some_code"}}`
}

func Test_Errors_Of_The_Server_Reach_The_Agent_In_The_Agents_API(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		for _, row := range []struct{ status, want int }{{400, 400}, {403, 403}, {404, 404}, {429, 429}, {500, 500}, {529, 529}} {
			for _, streamed := range []bool{true, false} {
				b := newBed(t, to, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Retry-After", "7")
					w.Header().Set("X-Internal", "secret")
					w.WriteHeader(row.status)
					_, _ = io.WriteString(w, serverError(to, "no such thing, key "+realKey))
				})
				status, body, header := b.read(t, path(api), question(api, streamed))
				want := row.want
				if want == 529 && api != connector.Anthropic {
					want = 503
				}
				if status != want || header.Get("Retry-After") != "7" || header.Get("X-Internal") != "" || !strings.Contains(body, "no such thing, key [key]") {
					t.Errorf("%d became %d %v %s", row.status, status, header, body)
				}
				if isAnthropic := strings.HasPrefix(body, `{"type":"error","error":{`); isAnthropic != (api == connector.Anthropic) || !strings.Contains(body, `"error":{`) {
					t.Errorf("the error is %s", body)
				}
				if e := b.entry(t); e.Status != want || e.Code != fmt.Sprintf("upstream_%d", row.status) || e.Usage != (event.Usage{}) || *e.CostUSD != 0 {
					t.Errorf("booked %+v", e)
				}
			}
		}
	})
}

func Test_A_Rejected_Key_Is_A_Server_Error_Without_The_Key(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		b := newBed(t, to, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, serverError(to, "Incorrect API key provided: "+realKey))
		})
		status, body, _ := b.read(t, path(api), question(api, true))
		if status != http.StatusBadRequest || !strings.Contains(body, "deepseek.v3") || !strings.Contains(body, "401") || strings.Contains(body, "Incorrect") {
			t.Errorf("got %d %s", status, body)
		}
		if e := b.entry(t); e.Code != "connector_unauthorized" || e.Err == nil || strings.Contains(e.Err.Error(), realKey) {
			t.Errorf("the entry is %+v", e)
		}
	})
}

func Test_A_Broken_Stream_Ends_With_An_Error(t *testing.T) {
	t.Parallel()
	said := answer{text: "Four score and seven years ago", calls: []toolCall{{"call_1", "Bash", `{"command":"ls"}`}}, stop: "tool_calls"}
	inner := map[connector.Protocol]string{
		connector.Anthropic: "event: error\ndata: " + serverError(connector.Anthropic, "I am overloaded"),
		connector.Responses: "event: response.failed\n" + `data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"I am overloaded"}}}`,
		connector.OpenAI:    "data: " + serverError(connector.OpenAI, "I am overloaded"),
	}
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		part := events(to, said)
		part = part[:len(part)/2]
		for name, row := range map[string]struct {
			then       http.HandlerFunc
			code, says string
		}{
			"the connection ends":  {func(http.ResponseWriter, *http.Request) {}, "broken_stream", "broke off"},
			"it breaks":            {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "broken_stream", "broke off"},
			"the server says so":   {stream(inner[to]), "", "I am overloaded"},
			"garbage":              {stream("data: {\"type\": nonsense"), "bad_answer", "other than an answer"},
			"half an event":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "data: {") }, "broken_stream", "broke off"},
			"done without an end":  {stream("data: [DONE]"), "", ""},
			"a value of no number": {stream(`data: {"type":"message_delta","delta":{"stop_reason":7},"choices":"x","output_index":"y"}`), "broken_stream", "broke off"},
		} {
			if name == "done without an end" && to == connector.Anthropic {
				continue // this API has none
			}
			b := newBed(t, to, func(w http.ResponseWriter, r *http.Request) {
				stream(part...)(w, r)
				flush(t, w)
				row.then(w, r)
			})
			resp := b.post(t.Context(), t, path(api), question(api, true))
			data, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			got := string(data)
			if row.says != "" && !strings.Contains(got, row.says) || !strings.Contains(got, "Four") {
				t.Errorf("%s: got %.3000s", name, got)
			}
			for _, end := range []string{"message_stop", "response.completed", "[DONE]\n\n", `"finish_reason":"stop"`} {
				if strings.Contains(got, end) && (name != "done without an end" || api != to) {
					t.Errorf("%s: the agent was told %s", name, end)
				}
			}
			if !strings.Contains(got, map[connector.Protocol]string{connector.Anthropic: "event: error", connector.Responses: "event: response.failed", connector.OpenAI: `data: {"error":{`}[api]) {
				t.Errorf("%s: there is no error: %.3000s", name, got)
			}
			e := b.entry(t)
			if e.Code == "" || row.code != "" && e.Code != row.code || !e.Estimated || e.Usage.Prompt() == 0 || e.Usage.Output == 0 || e.CostUSD == nil || *e.CostUSD == 0 {
				t.Errorf("%s: booked %+v", name, e)
			}
		}
	})
}

func Test_A_Broken_Answer_Is_An_Error_Without_Streaming(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		part := events(to, answer{text: "Four score", stop: "stop"})
		b := newBed(t, to, func(w http.ResponseWriter, r *http.Request) {
			if api == to {
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, whole(to, "Four score"))
				return
			}
			stream(part[:len(part)/2]...)(w, r)
		})
		status, body, _ := b.read(t, path(api), question(api, false))
		if status != http.StatusBadGateway || !strings.Contains(body, "broke off") {
			t.Errorf("got %d %s", status, body)
		}
	})
}

func Test_An_Invalid_Answer_Is_Reported(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		for name, row := range map[string]http.HandlerFunc{
			"a page":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello</html>") },
			"nothing": func(http.ResponseWriter, *http.Request) {},
			"a redirect": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			},
		} {
			for _, streamed := range []bool{true, false} {
				b := newBed(t, to, row)
				if status, body, _ := b.read(t, path(api), question(api, streamed)); status != http.StatusBadGateway || !strings.Contains(body, `"error"`) {
					t.Errorf("%s: got %d %s", name, status, body)
				}
				if len(b.got) != 1 {
					t.Errorf("%s: the server was asked %d times", name, len(b.got))
				}
			}
		}
	})
}

func Test_A_Disconnect_Cancels_And_Books_The_Partial_Answer(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		gone := make(chan struct{})
		part := events(to, answer{text: strings.Repeat("Four score ", 40), stop: "stop"})
		b := newBed(t, to, func(w http.ResponseWriter, r *http.Request) {
			stream(part[:len(part)/2]...)(w, r)
			flush(t, w)
			<-r.Context().Done()
			close(gone)
		})
		ctx, cancel := context.WithCancel(t.Context())
		resp := b.post(ctx, t, path(api), question(api, true))
		defer resp.Body.Close()
		var got strings.Builder
		for buf := make([]byte, 1024); !strings.Contains(got.String(), "score"); { // arrives before the answer is complete
			n, err := resp.Body.Read(buf)
			got.Write(buf[:n])
			if err != nil {
				t.Fatalf("%v: %s", err, got.String())
			}
		}
		cancel()
		<-gone
		if e := b.entry(t); e.Code != "canceled" || !e.Estimated || e.Usage.Output < 50 || e.Usage.Prompt() == 0 {
			t.Errorf("booked %+v", e)
		}
	})
}

func Test_Close_Ends_Running_Requests(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		asked := make(chan struct{})
		b := newBed(t, to, func(_ http.ResponseWriter, r *http.Request) {
			close(asked)
			<-r.Context().Done()
		})
		done := make(chan string, 1)
		go func() {
			status, body, _ := b.read(t, path(api), question(api, true))
			done <- fmt.Sprint(status, body)
		}()
		<-asked
		e := b.entry(t)
		if got := <-done; !strings.HasPrefix(got, "400") || !strings.Contains(got, "the run is over") || e.Code != "closed" {
			t.Errorf("got %s, %+v", got, e)
		}
		if status, body, _ := b.read(t, path(api), question(api, true)); status != http.StatusBadRequest || !strings.Contains(body, "the run is over") {
			t.Errorf("afterwards: %d %s", status, body)
		}
	})
}

func Test_A_Silent_Or_Unreachable_Server_Is_Reported(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		silent := newBed(t, to, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(o *broker.Options) { o.Limits.Idle = 20 * time.Millisecond })
		status, body, _ := silent.read(t, path(api), question(api, true))
		if status != http.StatusGatewayTimeout || !strings.Contains(body, "too long") || silent.entry(t).Code != "timeout" {
			t.Errorf("silent: %d %s", status, body)
		}
		away := newBed(t, to, nil, func(o *broker.Options) {
			c := o.Models["asked-model"]
			c.BaseURL = "http://" + l.Addr().String()
			o.Models = map[string]connector.Connector{"asked-model": c}
		})
		status, body, _ = away.read(t, path(api), question(api, true))
		if status != http.StatusBadGateway || !strings.Contains(body, "cannot be reached") || strings.Contains(body, l.Addr().String()) {
			t.Errorf("away: %d %s", status, body)
		}
		if e := away.entry(t); e.Code != "unreachable" || e.Err == nil || e.Usage != (event.Usage{}) {
			t.Errorf("booked %+v", e)
		}
	})
}

// noKeys is a source without keys.
type noKeys struct{}

func (noKeys) Key(context.Context, connector.Secret) (string, error) {
	return "", errors.New("the file /home/user/key is missing")
}

func Test_A_Missing_Key_Is_Reported_Without_Its_Place(t *testing.T) {
	t.Parallel()
	b := newBed(t, connector.OpenAI, nil, func(o *broker.Options) { o.Keys = noKeys{} })
	status, body, _ := b.read(t, path(connector.Anthropic), question(connector.Anthropic, true))
	if status != http.StatusBadRequest || strings.Contains(body, "/home") || len(b.got) != 0 {
		t.Errorf("got %d %s", status, body)
	}
	if e := b.entry(t); e.Code != "no_key" || e.Err == nil || !strings.Contains(e.Err.Error(), "/home/user/key") {
		t.Errorf("the entry is %+v", e)
	}
}

func Test_Impossible_Requests_Are_Refused(t *testing.T) {
	t.Parallel()
	for api, rows := range map[connector.Protocol]map[string]string{
		connector.Anthropic: {
			`{`:                       "not valid JSON",
			`[]`:                      "not a JSON object",
			`{"messages":[]}`:         "model: expected",
			`{"model":"asked-model"}`: "at least one message",
			`{"model":"asked-model"} {"model":"other"}`:         "something follows",
			`{"model":"other"}`:                                 "may not use other",
			`{"model":"asked-model","Model":"x","messages":[]}`: "Model: expected once",
			`{"model":"asked-model","stream":1}`:                "stream: expected",
			`{"model":"asked-model","messages":[{"role":"user","content":[{"type":"container_upload"}]}]}`:                             `no block of type \"container_upload\"`,
			`{"model":"asked-model","messages":[{"role":"tool","content":"x"}]}`:                                                       `got \"tool\"`,
			`{"model":"asked-model","messages":[{"role":"user","content":7}]}`:                                                         "expected a text or a list",
			`{"model":"asked-model","messages":[{"role":"user","content":"x"}],"tool_choice":{"type":"tool","name":"gone"}}`:           "there is no tool",
			`{"model":"asked-model","messages":[{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`:           "its result the user's",
			`{"model":"asked-model","messages":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`:                   "not valid JSON",
			`{"model":"asked-model","messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"x"}}]}]}`: `no source \"file\"`,
			`{"model":"asked-model","messages":[{"role":"user","content":"` + strings.Repeat("x", 70_000) + `"}]}`:                     "larger than this run may send",
		},
		connector.OpenAI: {
			`{"model":"asked-model","n":2,"messages":[{"role":"user","content":"x"}]}`:                       "n: expected one answer",
			`{"model":"asked-model","messages":[{"role":"user","content":[{"type":"input_audio"}]}]}`:        `no block of type \"input_audio\"`,
			`{"model":"asked-model","tools":[{"type":"custom"}],"messages":[{"role":"user","content":"x"}]}`: "expected function",
			`{"model":"asked-model","tool_choice":"maybe","messages":[{"role":"user","content":"x"}]}`:       "expected auto, none",
			`{"model":"asked-model","stop":7,"messages":[{"role":"user","content":"x"}]}`:                    "stop: expected",
		},
		connector.Responses: {
			`{"model":"asked-model","previous_response_id":"resp_1","input":"x"}`: "send the whole conversation",
			`{"model":"asked-model","input":[{"type":"local_shell_call"}]}`:       `items of type \"local_shell_call\"`,
			`{"model":"asked-model","input":7}`:                                   "expected a text or a list",
		},
	} {
		for in, want := range rows {
			t.Run(fmt.Sprintf("%s %.80s", api, in), func(t *testing.T) {
				t.Parallel()
				to := connector.OpenAI
				if api == connector.OpenAI {
					to = connector.Anthropic
				}
				b := newBed(t, to, nil, func(o *broker.Options) {
					o.Limits.Body = 250_000
					if strings.Contains(want, "larger") {
						o.Limits.Body = 60_000
					}
				})
				status, body, _ := b.read(t, path(api), in)
				if status/100 != 4 || !strings.Contains(body, want) || len(b.got) != 0 {
					t.Errorf("got %d %.500s, want %s", status, body, want)
				}
				if e := b.entry(t); e.Code == "" || e.Status != status {
					t.Errorf("the entry is %+v", e)
				}
			})
		}
	}
	b := newBed(t, connector.Responses, nil)
	if status, body, _ := b.read(t, path(connector.Responses), `{"model":"asked-model","background":true,"input":"x"}`); status != 400 || !strings.Contains(body, "background") {
		t.Errorf("got %d %s", status, body)
	}
}

func Test_A_Fault_Implements_Error(t *testing.T) {
	t.Parallel()
	if f := (&dialect.Fault{Message: "x"}); f.Error() != "x" {
		t.Error(f.Error())
	}
}

func Test_An_Oversized_Event_Is_An_Invalid_Answer(t *testing.T) {
	t.Parallel()
	b := newBed(t, connector.OpenAI, stream("data: "+strings.Repeat("x", 33<<20)))
	status, body, _ := b.read(t, path(connector.Anthropic), question(connector.Anthropic, true))
	if e := b.entry(t); status != http.StatusBadGateway || !strings.Contains(body, "other than an answer") || e.Code != "bad_answer" {
		t.Errorf("got %d %s, %+v", status, body, e)
	}
}
