package coreutils

import (
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func hostnameCommand() description {
	return description{
		Name: "hostname", Usage: "[OPTION]",
		Summary: "print the name of the machine",
		Help: `  -s, --short        up to the first dot
  -d, --domain       what follows the first dot
  -f, --fqdn, --long all of it
  -i, --ip-address   the address of the name
  -I, --all-ip-addresses  the addresses of the machine, of which there are none`,
		Run: runHostname,
	}
}

var hostnameOptions = []getopt.Option{
	{Short: 's', Long: "short"},
	{Short: 'd', Long: "domain"},
	{Short: 'f', Long: "fqdn"},
	{Short: 'f', Long: "long"},
	{Short: 'i', Long: "ip-address"},
	{Short: 'I', Long: "all-ip-addresses"},
}

func runHostname(p *shell.Proc) int {
	o := newOptions(p, hostnameCommand, hostnameOptions)
	name := hostName(p)
	for o.Next() {
		switch o.ID {
		case 's':
			name, _, _ = strings.Cut(hostName(p), ".")
		case 'd':
			_, name, _ = strings.Cut(hostName(p), ".")
		case 'f':
			name = hostName(p)
		case 'i':
			name = "127.0.0.1"
		case 'I':
			name = ""
		}
	}
	if o.Ended() {
		return o.Status
	}
	if len(o.Args()) > 0 {
		p.Warn("you must be root to change the host name")
		return 1
	}
	out := newOutput(p)
	_, _ = out.WriteString(name + "\n") // The error stays in out.
	return out.Close(0)
}

// hostName is what the machine's /etc/hostname says, or "sandbox".
func hostName(p *shell.Proc) string {
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
