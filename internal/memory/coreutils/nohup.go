package coreutils

import (
	"os"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func nohupCommand() description {
	return description{
		Name: "nohup", Usage: "COMMAND [ARG]...\nOPTION",
		Summary: "run a command that ignores the end of its terminal",
		Help: `Output to a terminal goes to nohup.out, or to $HOME/nohup.out.
Exit status: 125 when nohup fails, 126 when COMMAND cannot be run, 127 when there is none,
otherwise that of COMMAND.`,
		Run: runNohup,
	}
}

func setsidCommand() description {
	return description{
		Name: "setsid", Usage: "[options] <program> [arguments...]",
		Summary: "run a program in a session of its own",
		Help: `  -c, --ctty  accepted: there is no terminal to take
  -f, --fork  do not wait for the program
  -w, --wait  wait for it, and return its exit status`,
		Run: runSetsid,
	}
}

func runNohup(p *shell.Proc) int {
	failure := statusEnv
	if _, ok := p.LookupEnv("POSIXLY_CORRECT"); ok {
		failure = 127
	}
	o := newOptions(p, nohupCommand, nil)
	o.Order, o.Wrong = getopt.RequireOrder, failure
	for o.Next() {
		continue
	}
	if o.Ended() {
		return o.Status
	}
	command := o.Args()
	if len(command) == 0 {
		return usageError(p, nohupCommand, failure, "missing operand")
	}
	spawn := shell.Spawn{Args: command, Ignore: []syscall.Signal{1}}
	if isTerminal(p.Stdout) {
		f := nohupOutput(p)
		if f == nil {
			return failure
		}
		defer f.Close()
		spawn.Stdout = f
		if isTerminal(p.Stderr) {
			spawn.Stderr = f
		}
	}
	if _, err := findProgram(p, nil, command[0], ""); err != nil {
		p.Warn("failed to run command %s: %s", shell.Quote(command[0]), shell.Strerror(err))
		return launchStatus(err)
	}
	return p.Run(spawn)
}

// nohupOutput opens nohup.out; nil after a message.
func nohupOutput(p *shell.Proc) *vfs.File {
	name := "nohup.out"
	f, err := p.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil && p.Getenv("HOME") != "" {
		name = joinPath(p.Getenv("HOME"), name)
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
	o := newOptions(p, setsidCommand, setsidOptions)
	o.Order = getopt.RequireOrder
	fork := false
	for o.Next() {
		fork = fork || o.ID == 'f'
	}
	if o.Ended() {
		return o.Status
	}
	command := o.Args()
	if len(command) == 0 {
		return usageError(p, setsidCommand, 1, "no command specified")
	}
	if _, err := findProgram(p, nil, command[0], ""); err != nil {
		p.Warn("failed to execute %s: %s", command[0], shell.Strerror(err))
		return launchStatus(err)
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
