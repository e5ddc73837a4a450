package executor

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Kind is the type of an argument's value.
type Kind string

// The kinds.
const (
	Count  Kind = "count"  // a whole number above zero
	Amount Kind = "amount" // a number above zero
	Choice Kind = "choice" // one of the Choices
	Words  Kind = "words"  // a list of texts
	Flag   Kind = "flag"   // true or false
)

// Argument is a setting of an assistant's sandbox block.
type Argument struct {
	Kind    Kind
	Choices []string
}

// Arguments are an agent's arguments by name.
type Arguments map[string]Argument

// Values are checked arguments.
type Values map[string]any

// maxWord and maxWords bound a list, which becomes arguments of a program.
const (
	maxWord  = 4 << 10
	maxWords = 256
)

// Read checks values decoded from JSON. An error names the argument and the known ones.
func (known Arguments) Read(given map[string]any) (Values, error) {
	out := Values{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		a, ok := known[name]
		if !ok {
			return nil, sandbox.Errorf(sandbox.Invalid, "arguments.%s: unknown", name).
				WithHint("there are %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		value, want := a.read(given[name])
		if want != "" {
			return nil, sandbox.Errorf(sandbox.Invalid, "arguments.%s: expected %s, got %v", name, want, given[name])
		}
		out[name] = value
	}
	return out, nil
}

// read returns the value, or what was expected instead.
func (a Argument) read(v any) (value any, want string) {
	switch a.Kind {
	case Count:
		if n, ok := decodeNumber(v); ok && n == math.Trunc(n) && n >= 1 && n <= 1<<31 {
			return int64(n), ""
		}
		return nil, "a whole number above zero"
	case Amount:
		if n, ok := decodeNumber(v); ok && n > 0 && n <= 1e9 {
			return n, ""
		}
		return nil, "a number above zero"
	case Choice:
		if s, ok := v.(string); ok && slices.Contains(a.Choices, s) {
			return s, ""
		}
		return nil, "one of " + strings.Join(a.Choices, ", ")
	case Flag:
		on, ok := v.(bool)
		if !ok {
			return nil, "true or false"
		}
		return on, ""
	case Words:
	}
	words, ok := decodeTexts(v)
	if !ok || slices.ContainsFunc(words, func(w string) bool {
		// The program would take the word for a flag.
		return w == "" || len(w) > maxWord || strings.HasPrefix(w, "-") || strings.ContainsAny(w, "\x00\n")
	}) {
		return nil, "a list of texts of one line that do not begin with '-'"
	}
	return words, ""
}

func decodeNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

func decodeTexts(v any) ([]string, bool) {
	switch l := v.(type) {
	case []string:
		return l, len(l) <= maxWords
	case []any:
		out := make([]string, len(l))
		for i, e := range l {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			out[i] = s
		}
		return out, len(l) <= maxWords
	}
	return nil, false
}

// Count returns a whole number, or 0 when it is not set.
func (v Values) Count(name string) int64 { n, _ := v[name].(int64); return n }

// Amount returns a number, or 0 when it is not set.
func (v Values) Amount(name string) float64 { n, _ := v[name].(float64); return n }

// Choice returns a text, or otherwise when it is not set.
func (v Values) Choice(name, otherwise string) string {
	if s, ok := v[name].(string); ok {
		return s
	}
	return otherwise
}

// Flag returns a boolean, or otherwise when it is not set.
func (v Values) Flag(name string, otherwise bool) bool {
	if on, ok := v[name].(bool); ok {
		return on
	}
	return otherwise
}

// Has reports whether the argument is set.
func (v Values) Has(name string) bool { _, ok := v[name]; return ok }

// Words returns a copy of the list.
func (v Values) Words(name string) []string { l, _ := v[name].([]string); return slices.Clone(l) }
