package coreutils

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// word is one of the words that an option takes; several words may have one value.
type word[T comparable] struct {
	name  string
	value T
}

// wordOf returns the value of the word that arg is, or the only one that it begins.
func wordOf[T comparable](words []word[T], arg string) (value T, ok, ambiguous bool) {
	n := 0
	for _, w := range words {
		switch {
		case w.name == arg:
			return w.value, true, false
		case !strings.HasPrefix(w.name, arg):
			continue
		case n == 0:
			value = w.value
			n++
		case w.value != value:
			n++
		}
	}
	return value, n == 1, n > 1
}

// choose returns what the option's argument stands for; option is as "--sort". What it
// is not, it rejects with the list of what it may be.
func choose[T comparable](o *options, option, arg string, words []word[T]) T {
	value, ok, ambiguous := wordOf(words, arg)
	if ok {
		return value
	}
	kind := "invalid"
	if ambiguous {
		kind = "ambiguous"
	}
	o.proc.Warn("%s argument %s for %s", kind, quoteLocaleName(arg), shell.Quote(option))
	var b strings.Builder
	b.WriteString("Valid arguments are:")
	for i, w := range words {
		if i > 0 && words[i-1].value == w.value {
			b.WriteString(", ")
		} else {
			b.WriteString("\n  - ")
		}
		b.WriteString("'" + w.name + "'")
	}
	b.WriteString("\n")
	_, _ = o.proc.Stderr.Write([]byte(b.String()))
	o.fail()
	o.Status = 1 // whatever other wrong options give
	return value
}
