package files

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func linkCommand() program.Description {
	return program.Description{
		Name: "link", Usage: "FILE1 FILE2\nOPTION",
		Summary: "give FILE1 the further name FILE2",
		Run:     runLink,
	}
}

func unlinkCommand() program.Description {
	return program.Description{
		Name: "unlink", Usage: "FILE\nOPTION",
		Summary: "remove the name of a file other than a directory",
		Run:     runUnlink,
	}
}

func runLink(p *shell.Proc) int {
	o := program.NewOptions(p, linkCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if !program.CheckOperands(p, linkCommand, args, 2, 2) {
		return 1
	}
	if err := p.Link(args[0], args[1]); err != nil {
		p.Errorf(err, "cannot create link %s to %s", shell.Quote(args[1]), shell.Quote(args[0]))
		return 1
	}
	return 0
}

func runUnlink(p *shell.Proc) int {
	o := program.NewOptions(p, unlinkCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if !program.CheckOperands(p, unlinkCommand, args, 1, 1) {
		return 1
	}
	if err := p.Unlink(args[0]); err != nil {
		p.Errorf(err, "cannot unlink %s", shell.Quote(args[0]))
		return 1
	}
	return 0
}
