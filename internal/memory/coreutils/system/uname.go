package system

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func unameCommand() program.Description {
	return program.Description{
		Name: "uname", Usage: "[OPTION]...",
		Summary: "print what system this is; -s without options",
		Help: `  -a, --all                all of them, without -p and -i where they are unknown
  -s, --kernel-name        the kernel
  -n, --nodename           the name of the machine
  -r, --kernel-release     the kernel's release
  -v, --kernel-version     the kernel's version
  -m, --machine            the hardware
  -p, --processor          the processor
  -i, --hardware-platform  the platform
  -o, --operating-system   the operating system`,
		Run: runUname,
	}
}

func archCommand() program.Description {
	return program.Description{Name: "arch", Usage: "[OPTION]...", Summary: "print the hardware of the machine", Run: runArch}
}

var unameOptions = []getopt.Option{
	{Short: 'a', Long: "all"},
	{Short: 's', Long: "kernel-name"},
	{Short: 's', Long: "sysname"},
	{Short: 'n', Long: "nodename"},
	{Short: 'r', Long: "kernel-release"},
	{Short: 'r', Long: "release"},
	{Short: 'v', Long: "kernel-version"},
	{Short: 'm', Long: "machine"},
	{Short: 'p', Long: "processor"},
	{Short: 'i', Long: "hardware-platform"},
	{Short: 'o', Long: "operating-system"},
}

// machineArch is the machine's hardware: the same on every host, as all of the machine is.
const machineArch = "x86_64"

func runUname(p *shell.Proc) int {
	o := program.NewOptions(p, unameCommand, unameOptions)
	wanted := map[int]bool{}
	for o.Next() {
		if o.ID == 'a' {
			for _, c := range "snrvmo" {
				wanted[int(c)] = true
			}
			continue
		}
		wanted[o.ID] = true
	}
	if o.HasEnded() {
		return o.Status
	}
	if args := o.Args(); len(args) > 0 {
		return program.UsageError(p, unameCommand, 1, "extra operand %s", quoting.Name(args[0]))
	}
	if len(wanted) == 0 {
		wanted['s'] = true
	}
	values := map[rune]string{
		's': "Linux", 'n': program.Hostname(p), 'r': shell.Release, 'v': "#1 SMP", 'm': machineArch, 'p': "unknown", 'i': "unknown", 'o': "GNU/Linux",
	}
	var words []string
	for _, c := range "snrvmpio" {
		if wanted[int(c)] {
			words = append(words, values[c])
		}
	}
	return program.PrintLine(p, strings.Join(words, " "))
}

func runArch(p *shell.Proc) int {
	if status, done := program.NoOperands(p, archCommand); done {
		return status
	}
	return program.PrintLine(p, machineArch)
}
