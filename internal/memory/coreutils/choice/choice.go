// Package choice finds a value by a name or an unambiguous beginning of it, as options take them.
package choice

import (
	"strings"
)

// Choice is one of the words that an option takes; several words may have one value.
type Choice[T comparable] struct {
	Name  string
	Value T
}

// Find returns the value of the word that arg is, or the only one that it begins.
func Find[T comparable](words []Choice[T], arg string) (value T, ok, ambiguous bool) {
	n := 0
	for _, w := range words {
		switch {
		case w.Name == arg:
			return w.Value, true, false
		case !strings.HasPrefix(w.Name, arg):
			continue
		case n == 0:
			value = w.Value
			n++
		case w.Value != value:
			n++
		}
	}
	return value, n == 1, n > 1
}
