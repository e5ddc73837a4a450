package transcript_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/transcript"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// replay writes events as JSON lines with the response at the end, as the command
// does.
func replay(tb testing.TB, in io.Reader, format string) (string, event.Response, error) {
	tb.Helper()
	var fold event.Fold
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for e, err := range transcript.Events(tb.Context(), in, format) {
		if err != nil {
			return out.String(), fold.Response(), err
		}
		fold.Add(e)
		if err := enc.Encode(e); err != nil {
			tb.Fatal(err)
		}
	}
	r := fold.Response()
	if err := enc.Encode(event.Event{Kind: event.ResponseFolded, Response: &r}); err != nil {
		tb.Fatal(err)
	}
	return out.String(), r, nil
}

func Test_Each_Format_Is_Recognized_And_Our_Own_Gives_Itself(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../*/testdata/*.jsonl")
	if err != nil || len(names) != 19 {
		t.Fatalf("%d recordings, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			first, r, err := replay(t, bytes.NewReader(data), "")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(name, "/")[1]
			if want == "model" {
				want = "direct"
			}
			if r.Executor != want {
				t.Errorf("taken for one of %q", r.Executor)
			}
			for _, format := range []string{"", "events"} {
				second, _, err := replay(t, strings.NewReader(first), format)
				if err != nil || second != first {
					t.Errorf("format %q: %v, and another text:\n%s\n%s", format, err, first, second)
				}
			}
		})
	}
}

func Test_Input_That_Is_Not_A_Run_Is_An_Error(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, text, format string }{
		{"nothing", "", ""},
		{"prose", "hello\nworld\n", ""},
		{"other JSON", `{"type":"result"}` + "\n" + `{"a":1}`, ""},
		{"a lot of prose", strings.Repeat("hello\n", 1000) + `{"type":"thread.started"}`, ""},
		{"zeros", string(make([]byte, 3<<20)), ""},
		{"a format that there is not", `{"type":"thread.started"}`, "gemini"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := replay(t, strings.NewReader(row.text), row.format)
			if sandbox.CodeOf(err) != sandbox.Invalid || sandbox.HintOf(err) == "" {
				t.Errorf("error %v, hint %q", err, sandbox.HintOf(err))
			}
		})
	}
}

func Test_Lines_Before_The_First_Recognized_One_Are_Retained(t *testing.T) {
	t.Parallel()
	text, r, err := replay(t, strings.NewReader("a warning\n"+`{"type":"thread.started","thread_id":"t"}`), "")
	if err != nil || r.Garbage != 1 || !strings.Contains(text, "a warning") {
		t.Errorf("%v %+v %s", err, r, text)
	}
}

func Test_Invalid_UTF8_Is_Stable_When_Replayed_Again(t *testing.T) {
	t.Parallel()
	first, _, err := replay(t, strings.NewReader(brokenText), "cursor")
	if err != nil || !strings.Contains(first, "t\uFFFDK") || !utf8.ValidString(first) {
		t.Errorf("%v: %q", err, first)
	}
	if second, _, err := replay(t, strings.NewReader(first), "events"); err != nil || second != first {
		t.Errorf("%v, and another text:\n%s\n%s", err, first, second)
	}
}

// brokenText is the end of a tool use whose output is not valid text.
const brokenText = `{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"p"},"result":{"success":{"odd":"t` + "\x86\xec" + `K"}}}},"session_id":"s"}`

func FuzzEvents(f *testing.F) {
	names, err := filepath.Glob("../*/testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(brokenText))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, _, err := replay(t, bytes.NewReader(data), "")
		if err != nil {
			return
		}
		if second, _, err := replay(t, strings.NewReader(first), "events"); err != nil || second != first {
			t.Errorf("%v, and another text:\n%s\n%s", err, first, second)
		}
	})
}
