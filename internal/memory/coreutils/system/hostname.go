package system

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func hostnameCommand() program.Description {
	return program.Description{
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
	o := program.NewOptions(p, hostnameCommand, hostnameOptions)
	name := program.Hostname(p)
	for o.Next() {
		switch o.ID {
		case 's':
			name, _, _ = strings.Cut(program.Hostname(p), ".")
		case 'd':
			_, name, _ = strings.Cut(program.Hostname(p), ".")
		case 'f':
			name = program.Hostname(p)
		case 'i':
			name = "127.0.0.1"
		case 'I':
			name = ""
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if len(o.Args()) > 0 {
		p.Warn("you must be root to change the host name")
		return 1
	}
	out := program.NewOutput(p)
	_, _ = out.WriteString(name + "\n") // The error stays in out.
	return out.Close(0)
}
