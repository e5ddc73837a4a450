package quote_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
)

func Test_Texts_Are_Quoted_As_Bash_Does(t *testing.T) {
	t.Parallel()
	var utf8 char.Locale
	for _, row := range []struct{ text, shell, value, key, backslashes, trace, assigned string }{
		{"plain", "'plain'", `"plain"`, "plain", "plain", "plain", "plain"},
		{"", "''", `""`, `""`, "''", "''", ""},
		{"a b", "'a b'", `"a b"`, `"a b"`, `a\ b`, "'a b'", "'a b'"},
		{"it's", `'it'\''s'`, `"it's"`, `"it's"`, `it\'s`, `'it'\''s'`, `'it'\''s'`},
		{"$x", "'$x'", `"\$x"`, `"\$x"`, `\$x`, "'$x'", "'$x'"},
		{"~", "'~'", `"~"`, `"~"`, `\~`, "'~'", "'~'"},
		{"a\nb", `$'a\nb'`, `$'a\nb'`, `$'a\nb'`, `$'a\nb'`, "'a\nb'", `$'a\nb'`},
		{"\xff", `$'\377'`, `$'\377'`, `$'\377'`, `$'\377'`, `$'\377'`, `$'\377'`},
		{"ä", "'ä'", `"ä"`, "ä", "ä", "ä", "ä"},
	} {
		for _, one := range []struct{ how, got, want string }{
			{"Shell", quote.Shell(utf8, row.text), row.shell},
			{"Value", quote.Value(utf8, row.text), row.value},
			{"Key", quote.Key(utf8, row.text), row.key},
			{"Backslashes", quote.Backslashes(utf8, row.text), row.backslashes},
			{"Trace", quote.Trace(utf8, row.text), row.trace},
			{"Assigned", quote.Assigned(utf8, row.text), row.assigned},
		} {
			if one.got != one.want {
				t.Errorf("%s of %q: %s, want %s", one.how, row.text, one.got, one.want)
			}
		}
	}
	if got := quote.Shell(char.Locale{Bytes: true}, "ä"); got != `$'\303\244'` {
		t.Errorf("in the locale C: %s", got)
	}
}
