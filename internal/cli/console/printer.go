package console

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Printer writes our messages to stderr. It is safe for concurrent use.
type Printer struct {
	mu    sync.Mutex
	w     io.Writer
	color bool
	phase string // of the previous debug line
}

// Print writes an error: one line each for joined ones, and each hint below.
func (p *Printer) Print(err error) {
	for _, e := range splitErrors(err) {
		p.Say(e.Error())
		if hint := sandbox.HintOf(e); hint != "" {
			p.Line("hint: " + hint)
		}
	}
}

// Say writes one line prefixed with our name.
func (p *Printer) Say(text string) {
	prefix := "agent-sandbox:"
	if p.color {
		prefix = "\x1b[31m" + prefix + "\x1b[m"
	}
	p.Raw(prefix + " " + Escape(text) + "\n")
}

// Line writes one line without a prefix.
func (p *Printer) Line(text string) { p.Raw(Escape(text) + "\n") }

// Raw writes text without escaping.
func (p *Printer) Raw(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.w, text) // a failed write to stderr cannot be reported
}

// Debug writes one line, below a heading when its phase is new.
func (p *Printer) Debug(phase, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if phase != p.phase {
		p.phase = phase
		fmt.Fprintf(p.w, "[%s]\n", Escape(phase))
	}
	fmt.Fprintf(p.w, "  %s\n", Escape(text))
}

// splitErrors separates joined errors and keeps the text around each.
func splitErrors(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok { // this value itself, not its chain
		texts := make([]string, 0, 2)
		for _, e := range j.Unwrap() {
			texts = append(texts, e.Error())
		}
		if strings.Join(texts, "\n") != err.Error() {
			return []error{err} // fmt.Errorf with two %w has its own text
		}
		var out []error
		for _, e := range j.Unwrap() {
			out = append(out, splitErrors(e)...)
		}
		return out
	}
	e, ok := err.(*sandbox.Error) //nolint:errorlint // this very value, not its chain
	if !ok || e.Err == nil {
		return []error{err}
	}
	var out []error
	for _, cause := range splitErrors(e.Err) {
		c := *e
		c.Err = cause
		out = append(out, &c)
	}
	return out
}

// Escape escapes characters that could forge lines or control the terminal: names of files
// and commands in messages come from hostile repositories.
func Escape(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteString(s[:n])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}
