package shell

import "github.com/seed434b0696/agent-sandbox/internal/memory/syntax"

// Incomplete reports whether a script ends in the middle of a command, so that whoever types it should
// be asked for more lines: an open quote, a here-document without its end, a loop without done.
func Incomplete(text string) bool {
	asked := false
	p := syntax.NewParser(text, syntax.Options{ExtGlob: func() bool { return true }, More: func() (string, bool) {
		asked = true
		return "", false
	}})
	for {
		asked = false
		list, err := p.Next()
		switch {
		case err == nil && list == nil:
			return false
		case asked:
			return true
		case err != nil:
			return false // More lines would not mend it.
		}
	}
}
