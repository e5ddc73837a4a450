package model_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
)

func page(code int, body string) http.HandlerFunc {
	return status(code, body, "Content-Type", "text/html; charset=utf-8")
}

func Test_A_Refusal_Is_One_Line_And_Is_Not_Retried(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		status int64
		want   string
	}{
		{"a wrong key", status(401, `{"error":{"message":"no such key"}}`), 401, "test.model: HTTP 401: no such key; check the key, which is the variable TEST_KEY"},
		{"a key that may not", status(403, `{"error":"forbidden\nfor\tyou\u001b[31m"}`), 403, "test.model: HTTP 403: forbidden for you [31m; check the key, which is the variable TEST_KEY"},
		{"a model that there is not", status(404, `{"detail":"Not Found"}`), 404, `test.model: HTTP 404: "Not Found"; check the model "m1" and the base URL http://127.0.0.1`},
		{"a bad request", status(400, `{"message":"too long"}`), 400, "test.model: HTTP 400: too long"},
		{"no money", status(402, `[{"error":{"code":402,"message":"pay"}}]`), 402, "test.model: HTTP 402: pay"},
		{"no quota", status(429, `{"error":{"message":"you have none","code":"insufficient_quota"}}`), 429, "test.model: HTTP 429: you have none"},
		{"a server that says no", status(503, `{}`, "X-Should-Retry", "false"), 503, "test.model: HTTP 503:"},
		{"too long a wait", status(429, `{"error":{"message":"busy"}}`, "Retry-After", "3600"), 429, "test.model: HTTP 429: busy; it asks for a wait of 1h0m0s"},
		{"a wait until a far date", status(429, `{"error":{"message":"busy"}}`, "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), 429, "busy; it asks for a wait of 24h0m0s"},
		{"a web page", page(200, "<html>welcome"), 200, "answers with a web page and not as an API; check the base URL, most end with /v1"},
		{"a web page that is not there", page(404, "<html>"), 404, "answers with a web page"},
		{"no stream", status(200, `{}`), 200, "test.model: it answered without a stream"},
		{"a fault without a stream", status(200, `{"error":{"message":"overheated"}}`), 200, "test.model: HTTP 200: overheated"},
		{"the key in the message", status(400, `{"error":{"message":"got key `+secret+` and more"}}`), 400, "HTTP 400: got key [key] and more"},
		{"a long message", status(400, `{"error":{"message":"`+strings.Repeat("x", 1<<20)+`"}}`), 400, "xxx..."},
	} {
		for p := range protocols {
			t.Run(row.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				s := serve(t, row.answer)
				events, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(p)))
				if r.Outcome != event.APIError || s.asked() != 1 || r.Retries != 0 || events[len(events)-1].Result.Status != row.status {
					t.Errorf("%d requests, response %+v", s.asked(), r)
				}
				if !strings.Contains(r.Error, row.want) || len(r.Error) > 1000 || strings.ContainsAny(r.Error, "\n\x1b") {
					t.Errorf("error %q, want %q", r.Error, row.want)
				}
				if r.Usage != (event.Usage{}) || *r.CostUSD != 0 || r.Turns != 0 {
					t.Errorf("booked %+v", r.Usage)
				}
			})
		}
	}
}

func Test_Transient_Faults_Are_Retried(t *testing.T) {
	t.Parallel()
	drop := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	busy := stream(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		status int64
	}{
		{"429", status(429, `{"error":{"message":"slow down"}}`, "Retry-After-Ms", "3"), 429},
		{"500", status(500, ``), 500},
		{"502 with a page", page(502, "<html>"), 502},
		{"503", status(503, `busy`), 503},
		{"529", status(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), 529},
		{"a connection that breaks", drop, 0},
		{"an error before the answer", busy, 0},
	} {
		for p, answer := range protocols {
			t.Run(row.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				s := serve(t, row.answer, row.answer, answer)
				events, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(p)))
				if !r.OK() || r.Retries != 2 || s.asked() != 3 || r.Turns != 1 {
					t.Errorf("%d requests, response %+v", s.asked(), r)
				}
				for i, e := range events[1:3] {
					if e.Kind != event.RetryScheduled || e.Retry.Attempt != int64(i+1) || e.Retry.Max != 4 || e.Retry.Status != row.status || e.Retry.Error == "" {
						t.Errorf("event %+v %+v", e, e.Retry)
					}
					if row.name == "429" && e.Retry.DelayMS != 3 {
						t.Errorf("the wait is %d ms, and 3 were asked for", e.Retry.DelayMS)
					}
				}
			})
		}
	}
}

func Test_Retries_End(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int]int{0: 5, 2: 3, -1: 1} {
		s := serve(t, status(500, `{"error":{"message":"broken"}}`))
		_, r := run(t.Context(), t, client(t, model.Options{Retries: retries}), hello(s.connector(connector.OpenAI)))
		if s.asked() != want || r.Outcome != event.APIError || r.Error != "test.model: HTTP 500: broken" {
			t.Errorf("%d retries: %d requests, %+v", retries, s.asked(), r)
		}
	}
}

func Test_A_Server_That_Cannot_Be_Reached_Is_Named(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	safe := httptest.NewTLSServer(chatHello)
	t.Cleanup(safe.Close)
	plain := serve(t, chatHello)
	for _, row := range []struct {
		name, url, want string
		retries         int64
	}{
		{"no listener", gone.URL, "connection refused", 4},
		{"a certificate of an unknown authority", safe.URL, "certificate signed by unknown authority", 0},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), "HTTP response to HTTPS client", 0},
		{"an unknown name", "http://nobody.invalid", "cannot reach http://nobody.invalid", -1},
	} {
		for p := range protocols {
			t.Run(row.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				req := hello(plain.connector(p))
				req.Connector.BaseURL = row.url
				_, r := run(t.Context(), t, client(t, model.Options{}), req)
				if r.Outcome != event.APIError || !strings.Contains(r.Error, row.want) || row.retries >= 0 && r.Retries != row.retries {
					t.Errorf("response %+v", r)
				}
			})
		}
	}
}

func Test_A_Redirect_Does_Not_Get_The_Key(t *testing.T) {
	t.Parallel()
	for p, answer := range protocols {
		other := serve(t, answer)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/?token=x", http.StatusTemporaryRedirect)
		})
		_, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(p)))
		if other.asked() != 0 || !strings.Contains(r.Error, "redirects to "+other.URL+"/;") {
			t.Errorf("%d requests, %+v", other.asked(), r)
		}
	}
}

// half is the first half of each protocol's answer Hello.
var half = map[connector.Protocol][]string{
	connector.OpenAI:    {`{"id":"c1","choices":[{"index":0,"delta":{"content":"Hel and more"}}]}`},
	connector.Responses: {`{"type":"response.created","response":{"id":"r1"}}`, `{"type":"response.output_text.delta","delta":"Hel and more"}`},
	connector.Anthropic: {
		`{"type":"message_start","message":{"id":"a1","usage":{"input_tokens":7,"output_tokens":1}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel and more"}}`,
	},
}

func Test_A_Broken_Answer_Is_Billed_And_Fails(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		then func(w http.ResponseWriter, r *http.Request)
		want string
	}{
		{"an end without a mark", func(http.ResponseWriter, *http.Request) {}, "cut off in the middle"},
		{"a broken connection", func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "cut off in the middle"},
		{"half an event", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `data: {"choi`) }, "cut off in the middle"},
		{"only the end of the stream", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: [DONE]\n\n") }, "cut off in the middle"},
		{"an error", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"fell over\",\"code\":500}}\n\n")
		}, "the server failed in the middle of the answer: fell over"},
		{"garbage", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: hello\n\n") }, "data that is not an event of the API: hello"},
		{"another kind of JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: [1]\n\n") }, "data that is not an event of the API: [1]"},
		{"silence", func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "the server was silent for 2s"},
		{"a drip that never is a line", func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := fmt.Fprint(w, "x"); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
			}
		}, "MiB|was silent|lasted longer"},
	} {
		for p := range protocols {
			t.Run(row.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					stream(half[p]...)(w, r)
					row.then(w, r)
				})
				opt := model.Options{}
				if row.name == "silence" || strings.HasPrefix(row.name, "a drip") {
					opt.Idle = 2 * time.Second
				}
				_, r := run(t.Context(), t, client(t, opt), hello(s.connector(p)))
				found := false
				for want := range strings.SplitSeq(row.want, "|") {
					found = found || strings.Contains(r.Error, want)
				}
				if r.Outcome != event.APIError || !found || r.Content != "Hel and more" || s.asked() != 1 {
					t.Errorf("%d requests, %+v", s.asked(), r)
				}
				if !r.Estimated || r.Usage.Input == 0 || r.Usage.Output < 2 || *r.CostUSD == 0 || r.Turns != 1 {
					t.Errorf("booked %+v, %v", r.Usage, *r.CostUSD)
				}
			})
		}
	}
}

func Test_Endless_Answers_Are_Ended(t *testing.T) {
	t.Parallel()
	flood := func(head, part, tail string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, head)
			for n := 0; n < 400<<20; n += len(part) {
				if _, err := fmt.Fprint(w, part); err != nil {
					return
				}
			}
			fmt.Fprint(w, tail)
		}
	}
	long := strings.Repeat("words ", 10<<10)
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"a line", flood("data: ", long, ""), "it sent a line of over 16 MiB"},
		{"an event of many lines", flood("", "data: "+long+"\n", ""), "it sent an event of over 16 MiB"},
		{"an answer", flood("", `data: {"id":"c","choices":[{"index":0,"delta":{"content":"`+long+`"}}]}`+"\n\n", ""), "its answer has over 16 MiB"},
		{"comments", flood("", ": "+long+"\n\n", ""), "it sent over 128 MiB for one answer"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, row.answer)
			_, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(connector.OpenAI)))
			if r.Outcome != event.APIError || !strings.Contains(r.Error, row.want) {
				t.Errorf("%s: %s", r.Outcome, r.Error)
			}
		})
	}
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := fmt.Fprint(w, ":\n\n"); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
			}
		})
		_, r := run(t.Context(), t, client(t, model.Options{Timeout: 30 * time.Millisecond}), hello(s.connector(connector.OpenAI)))
		if r.Outcome != event.APIError || !strings.Contains(r.Error, "the answer lasted longer than 30ms") {
			t.Errorf("%s: %s", r.Outcome, r.Error)
		}
	})
}

func Test_An_Empty_Stream_Is_A_Fault(t *testing.T) {
	t.Parallel()
	for p := range protocols {
		s := serve(t, stream())
		_, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(p)))
		if r.Outcome != event.APIError || !strings.Contains(r.Error, "without an answer") || r.Turns != 0 || s.asked() != 1 {
			t.Errorf("%s: %+v", p, r)
		}
	}
	s := serve(t, stream(`{"id":"c","choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}]}`))
	if _, r := run(t.Context(), t, client(t, model.Options{}), hello(s.connector(connector.OpenAI))); r.Outcome != event.Failed || !strings.Contains(r.Error, "the answer is empty") {
		t.Errorf("%+v", r)
	}
}

func Test_Only_A_Stop_Is_A_Success(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		chat, responses, messages string
		outcome                   event.Outcome
		want                      string
	}{
		{`"stop"`, `completed`, `"end_turn"`, event.Success, ""},
		{`"length"`, `incomplete max_output_tokens`, `"max_tokens"`, event.Failed, "cut at its limit of 99 tokens"},
		{`"content_filter"`, `incomplete content_filter`, `"refusal"`, event.Failed, "the answer was refused"},
		{`"tired"`, `incomplete tired`, `"tired"`, event.Failed, `for the unknown reason "tired"`},
		{`"tool_calls"`, "", `"tool_use"`, event.Failed, "stopped for tool calls and has none"},
		{`null`, "", `null`, event.APIError, "cut off in the middle"},
	} {
		state, reason, _ := strings.Cut(row.responses, " ")
		for p, end := range map[connector.Protocol]string{
			connector.OpenAI:    `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":` + row.chat + `}]}`,
			connector.Responses: `{"type":"response.` + state + `","response":{"id":"r1","incomplete_details":{"reason":"` + reason + `"}}}`,
			connector.Anthropic: `{"type":"message_delta","delta":{"stop_reason":` + row.messages + `},"usage":{"output_tokens":3}}`,
		} {
			if p == connector.Responses && row.responses == "" {
				continue
			}
			t.Run(row.chat+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				s := serve(t, stream(append(half[p], end)...))
				req := hello(s.connector(p))
				req.Connector.MaxTokens = 99
				_, r := run(t.Context(), t, client(t, model.Options{}), req)
				if r.Outcome != row.outcome || !strings.Contains(r.Error, row.want) || r.Content != "Hel and more" {
					t.Errorf("%+v, want %s: %s", r, row.outcome, row.want)
				}
			})
		}
	}
}
