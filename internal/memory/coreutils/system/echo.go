package system

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func echoCommand() program.Description {
	return program.Description{
		Name: "echo", Usage: "[SHORT-OPTION]... [STRING]...\nLONG-OPTION",
		Summary: "print the STRINGs with blanks between them",
		Help: `  -n  no newline behind them
  -e  read backslashes: \\ \a \b \c \e \f \n \r \t \v \0NNN \xHH
  -E  do not; so it is without options`,
		Run: runEcho,
	}
}

func runEcho(p *shell.Proc) int {
	args := p.Args[1:]
	_, posix := p.LookupEnv("POSIXLY_CORRECT")
	if len(args) == 1 && !posix && (args[0] == "--help" || args[0] == "--version") {
		return program.RunConstant(p, echoCommand, 0)
	}
	newline, escapes := true, posix
	for len(args) > 0 && isEchoOption(args[0]) && (!posix || args[0] == "-n") {
		for _, c := range args[0][1:] {
			switch c {
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
	text := strings.Join(args, " ")
	out := program.NewOutput(p)
	if escapes {
		var stop bool
		if text, stop = echoEscapes(text); stop {
			newline = false
		}
	}
	_, _ = out.WriteString(text) // The error stays in out.
	if newline {
		_ = out.WriteByte('\n') // The same.
	}
	return out.Close(0)
}

// isEchoOption reports whether a word is made of the letters n, e and E behind a dash.
func isEchoOption(s string) bool {
	return len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "neE") == ""
}

// echoEscapes reads backslashes; stop reports that \c ended the text.
func echoEscapes(s string) (text string, stop bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		if n := strings.IndexByte("abefnrtv", c); n >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v"[n])
			continue
		}
		switch {
		case c == '\\':
			b.WriteByte('\\')
		case c == 'c':
			return b.String(), true
		case c == 'x' && i+1 < len(s) && ascii.DigitValue(s[i+1]) >= 0 && ascii.DigitValue(s[i+1]) < 16:
			n := 0
			for k := 0; k < 2 && i+1 < len(s) && ascii.DigitValue(s[i+1]) >= 0 && ascii.DigitValue(s[i+1]) < 16; k++ {
				i++
				n = n*16 + ascii.DigitValue(s[i])
			}
			b.WriteByte(byte(n))
		case c >= '0' && c <= '7':
			n, most := int(c-'0'), 3
			if c == '0' {
				most = 4
			}
			for k := 1; k < most && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '7'; k++ {
				i++
				n = n*8 + int(s[i]-'0')
			}
			b.WriteByte(byte(n))
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String(), false
}
