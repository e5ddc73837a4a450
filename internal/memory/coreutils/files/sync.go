package files

import (
	"os"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func syncCommand() program.Description {
	return program.Description{
		Name: "sync", Usage: "[OPTION] [FILE]...",
		Summary: "write what is cached to storage; the tree has nothing cached",
		Help: `  -d, --data         only the content of the files
  -f, --file-system  all of their file systems`,
		Run: runSync,
	}
}

func clearCommand() program.Description {
	return program.Description{
		Name: "clear", Usage: "[options]", Summary: "clear the screen of the terminal",
		Help: "  -T TERM  accepted\n  -x       leave what is above the screen", Run: runClear,
	}
}

var syncOptions = []getopt.Option{{Short: 'd', Long: "data"}, {Short: 'f', Long: "file-system"}}

func runSync(p *shell.Proc) int {
	o := program.NewOptions(p, syncCommand, syncOptions)
	data, system := false, false
	for o.Next() {
		data = data || o.ID == 'd'
		system = system || o.ID == 'f'
	}
	switch {
	case o.HasEnded():
		return o.Status
	case data && system:
		p.Warn("cannot specify both --data and --file-system")
		return 1
	case data && len(o.Args()) == 0:
		p.Warn("--data needs at least one argument")
		return 1
	}
	status := 0
	for _, name := range o.Args() {
		f, err := p.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			p.Errorf(err, "error opening %s", shell.Quote(name))
			status = 1
			continue
		}
		err = f.Sync()
		if e := f.Close(); err == nil {
			err = e
		}
		// Pipes and devices cannot be written to storage; that is not an error.
		if no := shell.Errno(err); err != nil && no != syscall.EINVAL && no != syscall.EROFS {
			p.Errorf(err, "error syncing %s", shell.Quote(name))
			status = 1
		}
	}
	return status
}

var clearOptions = []getopt.Option{{Short: 'T', Arg: getopt.Required}, {Short: 'x'}, {Short: 'V', ID: getopt.Version}}

func runClear(p *shell.Proc) int {
	o := program.NewOptions(p, clearCommand, clearOptions)
	above := "\033[3J"
	for o.Next() {
		if o.ID == 'x' {
			above = ""
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	out := program.NewOutput(p)
	_, _ = out.WriteString("\033[H\033[2J" + above) // The error stays in out.
	return out.Close(0)
}
