package program

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Choose returns what the option's argument stands for; option is as "--sort". What it
// is not, it rejects with the list of what it may be.
func Choose[T comparable](o *Options, option, arg string, words []choice.Choice[T]) T {
	value, ok, ambiguous := choice.Find(words, arg)
	if ok {
		return value
	}
	kind := "invalid"
	if ambiguous {
		kind = "ambiguous"
	}
	o.Proc.Warn("%s argument %s for %s", kind, quoting.Name(arg), shell.Quote(option))
	var b strings.Builder
	b.WriteString("Valid arguments are:")
	for i, w := range words {
		if i > 0 && words[i-1].Value == w.Value {
			b.WriteString(", ")
		} else {
			b.WriteString("\n  - ")
		}
		b.WriteString("'" + w.Name + "'")
	}
	b.WriteString("\n")
	_, _ = o.Proc.Stderr.Write([]byte(b.String()))
	o.Fail()
	o.Status = 1 // even where other wrong options give another status
	return value
}
