package main

import (
	"io"
	"strings"
	"testing"
)

// events has a test with two failing subtests, a skipped one, and a package that panics.
const events = `{"Action":"output","Package":"m/a","Test":"T/one","Output":"    a_test.go:1: why\n"}
{"Action":"fail","Package":"m/a","Test":"T/one","Elapsed":1}
{"Action":"output","Package":"m/a","Test":"T","Output":"=== RUN   T\n"}
{"Action":"fail","Package":"m/a","Test":"T","Elapsed":2}
{"Action":"output","Package":"m/a","Test":"S","Output":"    a_test.go:9: no engine\n"}
{"Action":"skip","Package":"m/a","Test":"S"}
{"Action":"pass","Package":"m/a","Test":"P"}
{"Action":"fail","Package":"m/a","Elapsed":3}
{"Action":"output","Package":"m/b","Test":"Q","Output":"    said before\n"}
{"Action":"output","Package":"m/b","Output":"panic: boom\n"}
{"Action":"fail","Package":"m/b","Elapsed":3}
`

func run(t *testing.T, skips string) (text string, ok bool) {
	t.Helper()
	var out strings.Builder
	s := newSummary(&out)
	if skips != "" {
		var err error
		if s.allowed, err = parseSkips(skips); err != nil {
			t.Fatal(err)
		}
	}
	first, second, _ := strings.Cut(events, `{"Action":"output","Package":"m/b"`)
	if err := s.readAll([]io.Reader{strings.NewReader(first), strings.NewReader(`{"Action":"output","Package":"m/b"` + second)}); err != nil {
		t.Fatal(err)
	}
	ok = s.end()
	return out.String(), ok
}

func Test_A_Failure_Is_Reported_Once_With_Its_Output(t *testing.T) {
	text, ok := run(t, "")
	head, tail, _ := strings.Cut(text, "==> summary")
	if ok || strings.Count(head, "--- FAIL") != 1 || !strings.Contains(head, "--- FAIL: m/a T/one (1.00s)\n    a_test.go:1: why\n") {
		t.Errorf("%v\n%s", ok, text)
	}
	if !strings.Contains(head, "panic: boom\n--- had not ended: Q\n    said before\n") {
		t.Errorf("a panic is not explained:\n%s", text)
	}
	if !strings.HasSuffix(tail, "FAIL: 2 packages, 2 failed\n1 passed, 2 failed, 1 skipped\n") || strings.Count(tail, "--- FAIL") != 2 {
		t.Errorf("%s", tail)
	}
}

func Test_A_Skip_Needs_A_Line_In_The_List(t *testing.T) {
	for list, want := range map[string]string{
		"a S there is no engine":  "\n1 passed, 2 failed, 1 skipped\n",
		"a S2 there is no engine": "\n1 passed, 3 failed, 0 skipped\n",
		"b S there is no engine":  "\n1 passed, 3 failed, 0 skipped\n",
		"# nothing":               "\n1 passed, 3 failed, 0 skipped\n",
	} {
		if text, _ := run(t, list); !strings.HasSuffix(text, want) {
			t.Errorf("%q: want %q\n%s", list, want, text)
		}
	}
	if _, err := parseSkips("a S"); err == nil {
		t.Error("a line without a reason was read")
	}
}
