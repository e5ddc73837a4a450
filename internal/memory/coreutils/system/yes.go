package system

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func yesCommand() program.Description {
	return program.Description{
		Name: "yes", Usage: "[STRING]...\nOPTION",
		Summary: "write a line with all STRINGs, or y, again and again",
		Help: `      --help     show this help and exit
      --version  show the version and exit`,
		Run: runYes,
	}
}

func runYes(p *shell.Proc) int {
	o := program.NewOptions(p, yesCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	words := o.Args()
	if len(words) == 0 {
		words = []string{"y"}
	}
	line := strings.Join(words, " ") + "\n"
	block := []byte(strings.Repeat(line, max(1, program.BufferSize/4/len(line))))
	for {
		if _, err := p.Stdout.Write(block); err != nil {
			if status := p.Status(err); status != 1 {
				return status
			}
			p.Warn("standard output: %s", shell.Strerror(err))
			return 1
		}
		if err := p.Spend(1 + len(block)>>6); err != nil {
			return p.Status(err)
		}
	}
}
