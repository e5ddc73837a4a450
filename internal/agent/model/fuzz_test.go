package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

func Test_Events_Are_Read_As_The_Standard_Says(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, in, want string }{
		{"both ends of lines", "event: a\r\ndata: 1\r\n\r\ndata:2\n\n", "a=1 =2"},
		{"several lines of data", "data: [1,\ndata: 2]\n\n", "=[1,\n2]"},
		{"comments, other fields and empty events", ": hi\n\nid: 3\nretry: 10\nevent: a\n\ndata\n\ndata: 1\n\n", "=1"},
		{"a mark of byte order", "\xef\xbb\xbfdata: 1\n\n", "=1"},
		{"the name of an event without data is forgotten", "event: a\n\ndata: 1\n\n", "=1"},
		{"a whole event without its empty line", "data: {\"a\":1}", `={"a":1}`},
		{"the same with one end", "data: [DONE]\n", "=[DONE]"},
		{"half an event at the end", "data: 1\n\ndata: {\"a\":", "=1"},
		{"nothing", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(row.in), iotest.OneByteReader(strings.NewReader(row.in))} {
				in := newFrames(r, func() {})
				var got []string
				for {
					f, err := in.next()
					if err != nil {
						if !errors.Is(err, io.EOF) {
							t.Fatal(err)
						}
						break
					}
					got = append(got, f.name+"="+string(f.data))
				}
				if s := strings.Join(got, " "); s != row.want {
					t.Errorf("got %q, want %q", s, row.want)
				}
			}
		})
	}
}

func Test_Retry_After_Headers_Are_Parsed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "2": 2 * time.Second, "0.5": 500 * time.Millisecond, "-3": 0, "soon": 0, "NaN": 0, "Inf": 24 * time.Hour, "1e300": 24 * time.Hour,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2020 03:04:15 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {"9"}, "Retry-After-Ms": {"7"}}, now); got != 7*time.Millisecond {
		t.Errorf("got %s", got)
	}
}

func Test_Two_Names_Of_Tools_Stay_Different(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{"a", "a.b", "a:b", "a_b", "", " ", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 66), "ä"} {
		fit := fitName(name)
		if len(fit) > 64 || len(fit) == 0 || seen[fit] != "" {
			t.Errorf("%q is %q, as is %q", name, fit, seen[fit])
		}
		seen[fit] = name
	}
}

// For any server: the events can be written and read again, the counts are within bounds, and a run succeeds only if the
// server reported an end.
func Fuzz_Streams(f *testing.F) {
	for _, s := range []string{
		`data: {"id":"c","choices":[{"delta":{"content":"a","tool_calls":[{"index":0,"id":"t","function":{"name":"n","arguments":"{"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}` + "\n\n",
		"event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":\"500\"}}\n\n",
		`data: {"type":"message_start","message":{"id":"a","usage":{"input_tokens":1}}}` + "\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{"a":1}}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"x"}}` + "\n\n",
		`data: {"type":"response.output_item.done","item":{"type":"reasoning","id":"r","encrypted_content":"x"}}` + "\n\n" +
			`data: {"type":"response.completed","response":{"usage":{"input_tokens":1e300,"output_tokens":-4}}}` + "\n\n",
	} {
		f.Add([]byte(s))
	}
	req := Request{Connector: connector.Connector{ID: "x", Model: "m"}}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range []dialect{newChat(nil, req, nil, nil, nil, 0), newResponse(nil, req, nil, nil, nil, 0), newMessages(nil, req, nil, nil, nil, 1)} {
			var events []event.Event
			r := &run{req: req, api: d, ids: map[string]bool{}, yield: func(e event.Event) { events = append(events, e) }}
			a := &answer{}
			f := r.read(t.Context(), newFrames(bytes.NewReader(data), func() {}), a)
			a.close()
			r.drain(a)
			r.book(a)
			if f == nil {
				f = r.verdict(a, a.uses())
			}
			if f != nil {
				r.finish(a, f)
			}
			if f == success && (a.end != stopped || !a.begun) {
				t.Errorf("success of %+v", a)
			}
			if u := r.usage; min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning) < 0 {
				t.Errorf("usage %+v", u)
			}
			for _, e := range events {
				line, err := json.Marshal(e)
				if err != nil || !event.IsRecorded(line) {
					t.Errorf("%v: no event: %s", err, line)
				}
			}
			d.extend(a, nil)
			if body, err := d.body(); err != nil || !json.Valid(body) {
				t.Errorf("%v: no request: %s", err, body)
			}
		}
	})
}

// Any error text of a server becomes one short line without the key.
func Fuzz_Faults(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"bad sk-1234\n","code":429}}`), "sk-1234")
	f.Add([]byte(`[{"error":"x"}]`), `a"b\c`)
	f.Fuzz(func(t *testing.T, body []byte, key string) {
		said, _ := serverMessage(body)
		if len(said) > maxFault+3 {
			t.Errorf("%d bytes", len(said))
		}
		text := redact("x", said+streamFault(body, &answer{}).text, secretsOf(key, connector.Connector{}))
		if len(text) > 4*maxFault || strings.ContainsAny(text, "\n\r\x1b\x00") {
			t.Errorf("%q", text)
		}
		if len(key) >= 4 && !strings.Contains("x: [key] the server failed: ...", key) && strings.Contains(said, key) && strings.Contains(text, key) {
			t.Errorf("the key %q is in %q", key, text)
		}
	})
}
