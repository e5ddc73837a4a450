package b

import (
	"bufio"
	"io"
	"strings"
)

type process struct{}

func (process) Reserve(int) error { return nil }

type options struct{ texts []string }

func lines(next func() (string, bool)) (list []string) {
	for {
		line, ok := next()
		if !ok {
			return list
		}
		list = append(list, line) // want "grows with the input"
	}
}

func charged(p process, next func() (string, bool)) (list []string) { // want charged:"charges"
	for {
		line, ok := next()
		if !ok || p.Reserve(16+len(line)) != nil {
			return list
		}
		list = append(list, line)
	}
}

// hold is a charge by another name.
func hold(p process, n int) bool { return p.Reserve(n) == nil } // want hold:"charges"

func held(p process, next func() (string, bool)) map[string]bool { // want held:"charges"
	set := map[string]bool{}
	for {
		line, ok := next()
		if !ok || !hold(p, 64+len(line)) {
			return set
		}
		set[line] = true
	}
}

type account struct{}

func (account) Hold(int) bool { return true }

func heldByAccount(a account, next func() (string, bool)) (list []string) { // want heldByAccount:"charges"
	for {
		line, ok := next()
		if !ok || !a.Hold(16+len(line)) {
			return list
		}
		list = append(list, line)
	}
}

func set(next func() (string, bool)) map[string]bool {
	set := map[string]bool{}
	for line, ok := next(); ok; line, ok = next() {
		set[line] = true // want "grows with the input"
	}
	return set
}

func text(next func() (string, bool)) (all string) {
	var b strings.Builder
	for line, ok := next(); ok; line, ok = next() {
		all += line         // want "grows with the input"
		b.WriteString(line) // want "grows with the input"
	}
	return all + b.String()
}

// each calls fn for each line of its input.
func each(fn func(line string)) { fn("") }

func called() (list []string) {
	each(func(line string) {
		list = append(list, line) // want "grows with the input"
	})
	return list
}

// note is called in a loop.
func (o *options) note(s string) {
	o.texts = append(o.texts, s) // want "grows with the input"
}

func (o *options) all(next func() (string, bool)) {
	for line, ok := next(); ok; line, ok = next() {
		o.note(line)
	}
}

// A list from a list has as many elements.
func copied(from []string) (list []string) {
	for _, s := range from {
		list = append(list, s)
	}
	return list
}

// A list from a text has an element for each byte.
func letters(from string) (list []string) {
	for _, c := range from {
		list = append(list, string(c)) // want "grows with the input"
	}
	return list
}

func small(from string) (b []byte) {
	for i := range len(from) {
		b = append(b, from[i]|32)
	}
	return b
}

func perLine(next func() (string, bool)) {
	for line, ok := next(); ok; line, ok = next() {
		var parts []string
		for range 3 {
			parts = append(parts, line)
		}
	}
}

func sized(n int, s string) {
	_ = make([]byte, n) // want "not a constant"
	_ = make([]byte, len(s)+2)
	_ = make([]int, len(s)) // want "not a constant"
	_ = make([]byte, min(n, 100))
	_ = make([]byte, 1<<20)     // want "large buffers"
	_ = strings.Repeat(" ", n)  // want "not a constant"
	_ = strings.Split(s, ",")   // want "16 bytes or more"
	_ = strings.Split("a,b", s) // the text is the program's own
}

func whole(r io.Reader, in *bufio.Reader) {
	_, _ = io.ReadAll(r) // want "any length"
	_, _ = io.ReadAll(io.LimitReader(r, 100))
	_, _ = in.ReadString('\n') // want "any length"
}

type table struct {
	names []string // bounded: a name for each option
}

func (t *table) fill(next func() (string, bool)) (rest []string) {
	for line, ok := next(); ok; line, ok = next() {
		t.names = append(t.names, line)
		rest = append(rest, line) // bounded: the test has few lines
	}
	return rest
}

// exempt has a reason for all that it does.
//
// bounded: the test calls it once.
func exempt(n int) []byte { return make([]byte, n) }
