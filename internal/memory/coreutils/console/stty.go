package console

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func sttyCommand() program.Description {
	return program.Description{
		Name: "stty", Usage: "[-F DEVICE] [size]", Summary: "print the size of the terminal",
		Help: "  -F, --file=DEVICE  accepted for /dev/tty and /dev/stdin\n\nThe terminal belongs to who runs the machine: its settings cannot be seen or changed from here.", Run: runStty,
	}
}

var sttyOptions = []getopt.Option{{Short: 'F', Long: "file", Arg: getopt.Required}, {Short: 'a', Long: "all"}, {Short: 'g', Long: "save"}}

func runStty(p *shell.Proc) int {
	args := p.Args
	for i, a := range args[1:] { // A setting that is switched off looks like options.
		if len(a) > 2 && a[0] == '-' && a[1] != '-' && a[1] != 'F' {
			args = append(slices.Clone(args[:i+1]), "--", a)
			break
		}
	}
	o := program.NewOptions(p, sttyCommand, sttyOptions)
	o.Parser = getopt.New(args, sttyOptions)
	o.Order = getopt.RequireOrder
	name := shell.Quote("standard input")
	for o.Next() {
		if o.ID == 'F' {
			name = shell.QuoteIfNeeded(o.Value)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	settings := o.Args()
	t, ok := p.Stdin.(program.Terminal)
	columns, rows := 0, 0
	if ok {
		columns, rows, ok = t.Terminal()
	}
	if !ok {
		p.Errorf(syscall.ENOTTY, "%s", name)
		return 1
	}
	if len(settings) == 1 && settings[0] == "size" {
		return program.PrintLine(p, fmt.Sprintf("%d %d", rows, columns))
	}
	p.Errorf(syscall.ENOTSUP, "%s", name)
	return 1
}
