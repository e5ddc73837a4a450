package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/printf"
)

// echo writes its arguments.
func (sh *interp) echo(args []string) int {
	args = args[1:]
	escapes := sh.shopt&shXpgEcho != 0
	newline := true
	if !escapes || sh.opt&optPosix == 0 {
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
