package system

import (
	"os"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func nohupCommand() program.Description {
	return program.Description{
		Name: "nohup", Usage: "COMMAND [ARG]...\nOPTION",
		Summary: "run a command that ignores the end of its terminal",
		Help: `Output to a terminal goes to nohup.out, or to $HOME/nohup.out.
Exit status: 125 when nohup fails, 126 when COMMAND cannot be run, 127 when there is none,
otherwise that of COMMAND.`,
		Run: runNohup,
	}
}

func setsidCommand() program.Description {
	return program.Description{
		Name: "setsid", Usage: "[options] <program> [arguments...]",
		Summary: "run a program in a session of its own",
		Help: `  -c, --ctty  accepted: there is no terminal to take
  -f, --fork  do not wait for the program
  -w, --wait  wait for it, and return its exit status`,
		Run: runSetsid,
	}
}

func runNohup(p *shell.Proc) int {
	failure := program.StatusFailed
	if _, ok := p.LookupEnv("POSIXLY_CORRECT"); ok {
		failure = 127
	}
	o := program.NewOptions(p, nohupCommand, nil)
	o.Order, o.Wrong = getopt.RequireOrder, failure
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	command := o.Args()
	if len(command) == 0 {
		return program.UsageError(p, nohupCommand, failure, "missing operand")
	}
	spawn := shell.Spawn{Args: command, Ignore: []syscall.Signal{1}}
	if program.IsTerminal(p.Stdout) {
		f := nohupOutput(p)
		if f == nil {
			return failure
		}
		defer f.Close()
		spawn.Stdout = f
		if program.IsTerminal(p.Stderr) {
			spawn.Stderr = f
		}
	}
	if _, err := program.Find(p, nil, command[0], ""); err != nil {
		p.Warn("failed to run command %s: %s", shell.Quote(command[0]), shell.Strerror(err))
		return program.LaunchStatus(err)
	}
	return p.Run(spawn)
}

// nohupOutput opens nohup.out; nil after a message.
func nohupOutput(p *shell.Proc) *vfs.File {
	name := "nohup.out"
	f, err := p.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil && p.Getenv("HOME") != "" {
		name = pathname.Join(p.Getenv("HOME"), name)
		f, err = p.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err != nil {
		p.Errorf(err, "failed to open %s", shell.Quote(name))
		return nil
	}
	p.Warn("ignoring input and appending output to %s", shell.Quote(name))
	return f
}

var setsidOptions = []getopt.Option{
	{Short: 'c', Long: "ctty"},
	{Short: 'f', Long: "fork"},
	{Short: 'w', Long: "wait"},
	{Short: 'h', ID: getopt.Help},
	{Short: 'V', ID: getopt.Version},
}

func runSetsid(p *shell.Proc) int {
	o := program.NewOptions(p, setsidCommand, setsidOptions)
	o.Order = getopt.RequireOrder
	fork := false
	for o.Next() {
		fork = fork || o.ID == 'f'
	}
	if o.HasEnded() {
		return o.Status
	}
	command := o.Args()
	if len(command) == 0 {
		return program.UsageError(p, setsidCommand, 1, "no command specified")
	}
	if _, err := program.Find(p, nil, command[0], ""); err != nil {
		p.Warn("failed to execute %s: %s", command[0], shell.Strerror(err))
		return program.LaunchStatus(err)
	}
	if !fork {
		return p.Run(shell.Spawn{Args: command})
	}
	if _, err := p.Start(shell.Spawn{Args: command}); err != nil {
		p.Warn("fork: %s", shell.Strerror(err))
		return 1
	}
	return 0
}
