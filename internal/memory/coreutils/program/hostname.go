package program

import (
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Hostname returns the content of the machine's /etc/hostname, or "sandbox".
func Hostname(p *shell.Proc) string {
	f, err := p.Open("/etc/hostname")
	if err != nil {
		return "sandbox"
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 256))
	name, _, _ := strings.Cut(string(b), "\n")
	if err != nil || strings.TrimSpace(name) == "" {
		return "sandbox"
	}
	return strings.TrimSpace(name)
}
