package engine

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Messages_Of_A_Build_Are_Read(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		id           string
		code         sandbox.Code
		text         []string // in the error
		lines        int      // expected lines of output
	}{
		{"a build that succeeds", `{"stream":"Step 1/1 : FROM x\n"}{"aux":{"ID":"sha256:1"}}`, "sha256:1", "", nil, 1},
		{
			"a step that fails",
			`{"stream":"Step 1/2 : FROM x\n"}{"stream":"of one\n"}{"stream":"Step 2/2 : RUN make\n"}` +
				`{"stream":"\u001b[91mno "}{"stream":"rule\n\u001b[0m"}{"stream":"Removing intermediate container 1\n"}{"error":"code: 2"}`,
			"", sandbox.Invalid,
			[]string{"step 2/2 : RUN make failed: code: 2", "it said: no rule"},
			5,
		},
		{"a base that is not there", `{"stream":"Step 1/1 : FROM y\n"}{"error":"pull access denied for y"}`, "", sandbox.NotFound, []string{"FROM y"}, 1},
		{"a full disk", `{"stream":"Step 1/1 : RUN dd\n"}{"error":"write /x: no space left on device"}`, "", sandbox.Exhausted, []string{"RUN dd"}, 1},
		{"a Dockerfile that is none", `{"error":"unknown instruction: FRO"}`, "", sandbox.Invalid, []string{"cannot be built: unknown instruction"}, 0},
		{"an engine that goes away", `{"stream":"Step 1/1 : RUN x\n"}{"str`, "", sandbox.Unavailable, []string{"lost the engine"}, 1},
		{"a line without end", `{"stream":"` + strings.Repeat("x", 3*maxLine) + `"}{"aux":{"ID":"sha256:1"}}`, "sha256:1", "", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := 0
			l := buildLog{progress: func(line string) {
				told++
				if len(line) > maxLine {
					t.Errorf("a line of %d bytes", len(line))
				}
			}}
			err := l.read(strings.NewReader(c.stream))
			if l.id != c.id || sandbox.CodeOf(err) != c.code || told != c.lines {
				t.Errorf("id %q, error %v (%s), %d lines", l.id, err, sandbox.CodeOf(err), told)
			}
			for _, text := range c.text {
				if !strings.Contains(err.Error(), text) || strings.ContainsAny(err.Error(), "\n\x1b") {
					t.Errorf("%q does not say %q on one line", err, text)
				}
			}
		})
	}
}
