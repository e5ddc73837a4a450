package shell

import (
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
	"github.com/seed434b0696/agent-sandbox/internal/memory/printf"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// runEchoBuiltin writes its arguments.
func runEchoBuiltin(sh *interp, args []string) int {
	args = args[1:]
	escapes := sh.shopt&shopt.XpgEcho != 0
	newline := true
	if !escapes || sh.opt&option.Posix == 0 {
		for len(args) > 0 && isEchoFlag(args[0]) {
			for i := 1; i < len(args[0]); i++ {
				switch args[0][i] {
				case 'n':
					newline = false
				case 'e':
					escapes = true
				case 'E':
					escapes = false
				}
			}
			args = args[1:]
		}
	}
	b := sh.scratch[:0]
	for i, a := range args {
		if i > 0 {
			b = append(b, ' ')
		}
		if !escapes || strings.IndexByte(a, '\\') < 0 {
			b = append(b, a...)
			continue
		}
		var stop bool
		if b, stop = printf.AppendEcho(b, sh.locale(), a); stop {
			newline = false
			break
		}
	}
	if newline {
		b = append(b, '\n')
	}
	st := sh.out(b)
	if cap(b) <= 1<<16 {
		sh.scratch = b
	}
	return st
}

func isEchoFlag(s string) bool {
	if len(s) < 2 || s[0] != '-' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; c != 'n' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}

// runPrintfBuiltin is the builtin of that name.
func runPrintfBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "v:")
	if st >= 0 {
		return st
	}
	name := ""
	for _, f := range list {
		name = f.arg
		if base, _, _ := splitSubscript(name); !isName(base) {
			sh.fail("`%s': not a valid identifier", name)
			return 2
		}
	}
	if len(rest) == 0 {
		return sh.usage(sh.usageText(), "")
	}
	out, status := printf.Append(sh.scratch[:0], printfHost{work{sh}}, rest[0], rest[1:])
	if name == "" {
		if st := sh.out(out); st != 0 {
			return st
		}
		if cap(out) <= 1<<16 {
			sh.scratch = out
		}
		return status
	}
	if len(out) > 1<<12 && !sh.hold(len(out)) {
		return sh.status
	}
	s := string(out)
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if !sh.assignNamed(name, s) {
		return 1
	}
	return status
}

// printfHost is the process as package printf sees it.
type printfHost struct{ work }

// Warn implements printf.Host.
func (h printfHost) Warn(format string, args ...any) { h.sh.fail(format, args...) }

// Locale implements printf.Host.
func (h printfHost) Locale() char.Locale { return h.sh.locale() }

// Assign implements printf.Host.
func (h printfHost) Assign(name, value string) {
	if isName(name) {
		h.sh.assignNamed(name, value)
	}
}

// Time implements printf.Host.
func (h printfHost) Time(format string, seconds int64) string {
	t := time.Unix(seconds, 0)
	switch seconds {
	case -1:
		t = h.sh.m.now()
	case -2:
		t = time.Unix(h.sh.start, 0)
	}
	return strftime.FormatC(format, h.sh.local(t))
}
