package shellword_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/shellword"
)

func Test_Words_Are_Those_That_The_Shell_Reads(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{
		"", "plain", "two words", "it's", `back\slash`, "$HOME `id`", "a\nb\tc", "\x1b[31mred", "c1\u009b31m", "bidi\u202eevil", "\xff\xfe'\\", "1\x01" + "23", "ümläut", "\u2066",
		"\ufffd",
	} {
		quoted := shellword.Quote(word)
		if strings.ContainsFunc(quoted, func(r rune) bool { return !strconv.IsPrint(r) }) {
			t.Errorf("%q is shown as %q", word, quoted)
		}
		out, err := exec.CommandContext(t.Context(), bash, "-c", "printf %s "+quoted).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q became %q, %v, in %s", word, out, err, quoted)
		}
	}
}
