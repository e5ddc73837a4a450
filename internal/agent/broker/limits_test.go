package broker_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_A_Ceiling_That_Is_Reached_Refuses_The_Next_Request(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		for name, row := range map[string]struct {
			limits     broker.Limits
			code, says string
		}{
			"tokens": {broker.Limits{Tokens: 120}, "token_ceiling", "ceiling of 120 tokens is reached (120 used)"},
			"cost":   {broker.Limits{CostUSD: 120}, "cost_ceiling", "ceiling of 120 US dollars is reached"},
		} {
			// The ceiling leaves too little to think.
			ask := strings.Replace(question(api, true), `"thinking":{"type":"enabled","budget_tokens":1024},`, "", 1)
			b := newBed(t, to, stream(events(to, answer{text: "Hi.", stop: "stop"})...), func(o *broker.Options) { o.Limits = row.limits })
			if status, body, _ := b.read(t, path(api), ask); status != http.StatusOK || strings.Contains(body, "ceiling") {
				t.Fatalf("%s, first: %d %s", name, status, body)
			}
			status, body, _ := b.read(t, path(api), ask)
			if status != http.StatusBadRequest || !strings.Contains(body, row.says) || len(b.got) != 1 {
				t.Errorf("%s, second: %d %s, and the server was asked %d times", name, status, body, len(b.got))
			}
			if e := b.entry(t); e.Code != row.code || e.Usage.Output != 0 || b.broker.CostUSD() != 120 {
				t.Errorf("%s: %+v", name, e)
			}
		}
	})
}

func Test_A_Running_Answer_That_Passes_A_Ceiling_Is_Cut(t *testing.T) {
	t.Parallel()
	forPairs(t, func(t *testing.T, api, to connector.Protocol) {
		t.Helper()
		asked, cut := make(chan struct{}), 3
		if to == connector.Responses {
			cut = 2
		}
		list := events(to, answer{text: strings.Repeat("x", 4000), stop: "stop"})
		b := newBed(t, to, func(w http.ResponseWriter, r *http.Request) {
			stream(list[:len(list)-cut]...)(w, r)
			flush(t, w)
			<-r.Context().Done() // this answer has no end
			close(asked)
		}, func(o *broker.Options) { o.Limits.Tokens = 650 })
		status, body, _ := b.read(t, path(api), question(api, true))
		<-asked
		if !strings.Contains(body, "ceiling of 650 tokens is reached") || status != http.StatusOK {
			t.Errorf("got %d %.2000s", status, body)
		}
		if e := b.entry(t); e.Code != "token_ceiling" || !e.Estimated || e.Usage.Output < 500 || e.Usage.Output > 1100 {
			t.Errorf("booked %+v", e)
		}
	})
}

func Test_Other_Models_Use_The_Connector_Of_The_Options(t *testing.T) {
	t.Parallel()
	b := newBed(t, connector.OpenAI, stream(events(connector.OpenAI, answer{text: "Hi.", stop: "stop"})...), func(o *broker.Options) {
		small := o.Models["asked-model"]
		small.ID, small.Model, small.Price, small.MaxTokens = "deepseek.small", "small-model", nil, 100
		o.Other = &small
	})
	in := strings.Replace(question(connector.Anthropic, true), "asked-model", "claude-haiku-4-5", 1)
	if status, body, _ := b.read(t, path(connector.Anthropic), in); status != http.StatusOK || !strings.Contains(body, `"model":"claude-haiku-4-5"`) {
		t.Errorf("got %d %s", status, body)
	}
	var sent struct {
		Model string
		Max   int `json:"max_tokens"`
	}
	if err := json.Unmarshal(b.last(t).body, &sent); err != nil || sent.Model != "small-model" || sent.Max != 100 {
		t.Errorf("sent %+v (%v)", sent, err)
	}
	if e := b.entry(t); e.Asked != "claude-haiku-4-5" || e.Connector != "deepseek.small" || e.CostUSD != nil || b.broker.CostUSD() != 0 {
		t.Errorf("the entry is %+v", e)
	}
}

func Test_A_Forwarded_Request_Gets_The_Limit_Of_The_Connector(t *testing.T) {
	t.Parallel()
	for api, row := range map[connector.Protocol][2]string{
		connector.Anthropic: {`"max_tokens":500`, `"max_tokens":90`},
		connector.Responses: {`"max_output_tokens":500`, `"max_output_tokens":90`},
		connector.OpenAI:    {`"max_tokens":500`, `"max_tokens":90`},
	} {
		for _, told := range []bool{true, false} {
			b := newBed(t, api, stream(events(api, answer{text: "Hi.", stop: "stop"})...), func(o *broker.Options) {
				c := o.Models["asked-model"]
				c.MaxTokens = 90
				o.Models = map[string]connector.Connector{"asked-model": c}
			})
			in := question(api, true)
			if !told {
				in = strings.Replace(in, row[0]+",", "", 1)
			}
			b.read(t, path(api), in)
			if sent := string(b.last(t).body); strings.Count(sent, row[1]) != 1 || strings.Contains(sent, row[0]) || !json.Valid([]byte(sent)) {
				t.Errorf("%s: sent %s", api, sent)
			}
		}
	}
}

func Test_Requests_Without_The_Token_Are_Rejected(t *testing.T) {
	t.Parallel()
	b := newBed(t, connector.OpenAI, stream(events(connector.OpenAI, answer{text: "Hi.", stop: "stop"})...))
	for _, row := range []struct {
		header, value string
		want          int
	}{
		{"X-Api-Key", token, 200},
		{"Authorization", "Bearer " + token, 200},
		{"Authorization", "bearer " + token, 200},
		{"X-Api-Key", "", 401},
		{"X-Api-Key", token + "x", 401},
		{"X-Api-Key", token[:19], 401},
		{"Authorization", token, 401},
		{"Authorization", "Basic " + token, 401},
		{"Authorization", "Bearer " + realKey, 401},
	} {
		for _, api := range protocols() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+path(api), strings.NewReader(question(api, true)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(row.header, row.value)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != row.want || row.want != 200 && !strings.Contains(string(body), "authentication_error") {
				t.Errorf("%s: %s: %d %s (%v)", row.header, row.value, resp.StatusCode, body, err)
			}
		}
	}
	if len(b.got) != 3*len(protocols()) {
		t.Errorf("the server was asked %d times", len(b.got))
	}
}

func Test_Paths_Methods_And_Lists(t *testing.T) {
	t.Parallel()
	b := newBed(t, connector.OpenAI, nil)
	for _, row := range []struct {
		method, path, version string
		want                  int
		says                  string
	}{
		{"HEAD", "/", "", 200, ""},
		{"GET", "/", "", 200, ""},
		{"POST", "/", "", 404, `"error"`},
		{"GET", "/v1/models", "", 200, `{"object":"list","data":[{"id":"asked-model","object":"model"`},
		{"GET", "/v1/models", "2023-06-01", 200, `"has_more":false,"first_id":"asked-model"`},
		{"GET", "/v1/responses", "", 426, "WebSocket"},
		{"GET", "/v1/messages", "", 405, `{"type":"error"`},
		{"POST", "/v1/files", "", 404, `"error"`},
		{"POST", "/v1/messages/batches", "", 404, `{"type":"error"`},
		{"GET", "/v1/responses/resp_1", "", 404, `"error"`},
		{"POST", "/v1/chat/../messages", "", 404, `"error"`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), row.method, b.url+row.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", token)
		if row.version != "" {
			req.Header.Set("Anthropic-Version", row.version)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != row.want || !strings.Contains(string(body), row.says) {
			t.Errorf("%s %s: %d %s (%v)", row.method, row.path, resp.StatusCode, body, err)
		}
	}
}

func Test_Token_Counts_Come_From_The_Server_Or_An_Estimate(t *testing.T) {
	t.Parallel()
	for _, to := range protocols() {
		b := newBed(t, to, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"input_tokens":12345}`) })
		status, body, _ := b.read(t, "/v1/messages/count_tokens", `{"model":"asked-model","messages":[{"role":"user","content":"`+strings.Repeat("x", 400)+`"}]}`)
		want := `{"input_tokens":100}`
		if to == connector.Anthropic {
			want = `{"input_tokens":12345}`
			if sent := b.last(t); sent.path != "/v1/messages/count_tokens" || !strings.Contains(string(sent.body), `"model":"real-model"`) {
				t.Errorf("sent %+v", sent)
			}
		}
		if status != 200 || body != want || b.broker.CostUSD() != 0 {
			t.Errorf("%s: %d %s", to, status, body)
		}
	}
}

func Test_Concurrent_Requests_Wait_For_A_Slot(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most := 0, 0
	said := stream(events(connector.OpenAI, answer{text: "Hi.", stop: "stop"})...)
	b := newBed(t, connector.OpenAI, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		said(w, r)
		mu.Lock()
		now--
		mu.Unlock()
	}, func(o *broker.Options) { o.Limits.AtOnce = 3 })
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if status, body, _ := b.read(t, path(connector.Anthropic), question(connector.Anthropic, true)); status != 200 || !strings.Contains(body, "message_stop") {
				t.Errorf("got %d %s", status, body)
			}
		})
	}
	all.Wait()
	if u := b.broker.Usage(); most > 3 || len(u) != 1 || u[0].Usage.Output != 30*20 || u[0].Usage.Prompt() != 30*100 {
		t.Errorf("%d at once, %+v", most, u)
	}
}

func Test_Requests_Beyond_The_Queue_Are_Refused(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	b := newBed(t, connector.OpenAI, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}, func(o *broker.Options) { o.Limits.AtOnce = 1 })
	answers := make(chan string, 40)
	for range 40 {
		go func() {
			status, _, header := b.read(t, path(connector.Anthropic), question(connector.Anthropic, true))
			answers <- fmt.Sprint(status, header.Get("Retry-After"))
		}()
	}
	<-asked
	for range 40 - 16 { // one is answered, and fifteen wait
		if got := <-answers; got != "4295" {
			t.Errorf("got %s", got)
		}
	}
	if err := b.broker.Close(); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		if got := <-answers; got != "400" {
			t.Errorf("at the end: %s", got)
		}
	}
}

func Test_Options_That_Cannot_Be_Enforced_Are_Refused(t *testing.T) {
	t.Parallel()
	good := connector.Connector{ID: "a.b", Protocol: connector.OpenAI, BaseURL: "http://127.0.0.1:1/v1", Model: "m"}
	with := func(f func(c *connector.Connector, o *broker.Options)) broker.Options {
		c := good
		o := broker.Options{Keys: keys{}, Token: token}
		f(&c, &o)
		o.Models = map[string]connector.Connector{"m": c}
		return o
	}
	for name, o := range map[string]broker.Options{
		"no connector":           {Keys: keys{}, Token: token},
		"no keys":                with(func(_ *connector.Connector, o *broker.Options) { o.Keys = nil }),
		"a short token":          with(func(_ *connector.Connector, o *broker.Options) { o.Token = "x" }),
		"a limit below zero":     with(func(_ *connector.Connector, o *broker.Options) { o.Limits.Tokens = -1 }),
		"no such protocol":       with(func(c *connector.Connector, _ *broker.Options) { c.Protocol = "soap" }),
		"no address":             with(func(c *connector.Connector, _ *broker.Options) { c.BaseURL = "" }),
		"a cost without a price": with(func(_ *connector.Connector, o *broker.Options) { o.Limits.CostUSD = 1 }),
	} {
		if _, err := broker.New(o); sandbox.CodeOf(err) != sandbox.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
