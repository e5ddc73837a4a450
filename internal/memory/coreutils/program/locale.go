package program

import (
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// IsByteLocale reports whether characters are bytes: the process's locale is C or POSIX.
// Every other one, and none, is C.UTF-8.
func IsByteLocale(p *shell.Proc) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := p.Getenv(name); v != "" {
			return v == "C" || v == "POSIX"
		}
	}
	return false
}
