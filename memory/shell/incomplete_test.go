package shell_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func Test_What_Is_Incomplete_Asks_For_More(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "\n": false, "echo hi\n": false, "# comment\n": false, "a; b & c\n": false,
		"echo 'open\n": true, "echo \"open\n": true, "for i in 1 2; do\n": true, "if true; then echo; fi\n": false,
		"cat <<E\nline\n": true, "cat <<E\nline\nE\n": false, "echo a \\\n": true, "f() {\n": true, "a |\n": true, "a &&\n": true,
		"echo $(\n": true, "echo $((1 +\n": true, "x=(1\n": true, "case x in\n": true, "if then\n": false, "echo )\n": false, "[[ a &&\n": true,
		"for i in 1; do echo; done; while true\n": true,
	} {
		if got := shell.Incomplete(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
