// Package system holds the programs that describe the machine and its users, and that start, delay and end
// processes.
package system

import (
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func envCommand() program.Description {
	return program.Description{
		Name: "env", Usage: "[OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]",
		Summary: "run a command in a changed environment, or print it",
		Help: `  -i, --ignore-environment  begin with nothing; so does a lone -
  -0, --null                end lines with NUL
  -u, --unset=NAME          without the variable
  -C, --chdir=DIR           in another directory
  -S, --split-string=S      take S apart into arguments
      --block-signal[=SIG], --default-signal[=SIG], --ignore-signal[=SIG]
                            how the command begins with signals
      --list-signal-handling  accepted
  -v, --debug               say what is done

Exit status: 125 when env fails, 126 when COMMAND cannot be run, 127 when there is none,
otherwise that of COMMAND.`,
		Run: runEnv,
	}
}

const (
	envBlock = getopt.First + iota
	envDefault
	envIgnore
	envList
)

var envOptions = []getopt.Option{
	{Short: 'i', Long: "ignore-environment"},
	{Short: '0', Long: "null"},
	{Short: 'u', Long: "unset", Arg: getopt.Required},
	{Short: 'C', Long: "chdir", Arg: getopt.Required},
	{Long: "default-signal", Arg: getopt.Optional, ID: envDefault},
	{Long: "ignore-signal", Arg: getopt.Optional, ID: envIgnore},
	{Long: "block-signal", Arg: getopt.Optional, ID: envBlock},
	{Long: "list-signal-handling", ID: envList},
	{Short: 'v', Long: "debug"},
	{Short: 'S', Long: "split-string", Arg: getopt.Required},
}

// environment is the environment that the options of env create.
type environment struct {
	proc   *shell.Proc
	empty  bool
	null   bool
	debug  bool
	unset  []string
	dir    string
	ignore []syscall.Signal
}

func runEnv(p *shell.Proc) int {
	e := environment{proc: p}
	args := p.Args
	for {
		rest, again, status := e.options(&args)
		if status >= 0 {
			return status
		}
		if !again {
			return e.run(rest)
		}
	}
}

// options reads options; again reports that -S has replaced them by others.
func (e *environment) options(args *[]string) (rest []string, again bool, status int) {
	o := program.NewOptions(e.proc, envCommand, envOptions)
	o.Parser = getopt.New(*args, envOptions)
	o.Order, o.Wrong = getopt.RequireOrder, program.StatusFailed
	for o.Next() {
		switch o.ID {
		case 'i':
			e.empty = true
		case '0':
			e.null = true
		case 'u':
			if o.Value == "" || strings.Contains(o.Value, "=") {
				o.RejectQuietly("cannot unset %s: Invalid argument", quoting.Name(o.Value))
			}
			e.unset = append(e.unset, o.Value) // bounded: by the command's arguments
		case 'C':
			e.dir = o.Value
		case envDefault, envBlock, envList:
		case envIgnore:
			e.setIgnored(o)
		case 'v':
			e.debug = true
		case 'S':
			words, fault := e.split(o.Value)
			if fault != "" {
				o.RejectQuietly("%s", fault)
				break
			}
			*args = append(append([]string{(*args)[0]}, words...), o.Args()...)
			return nil, true, -1
		}
	}
	if o.HasEnded() {
		if o.Err != nil && strings.HasSuffix(o.Err.Error(), "invalid option -- ' '") {
			e.proc.Warn("use -[v]S to pass options in shebang lines")
		}
		return nil, false, o.Status
	}
	return o.Args(), false, -1
}

func (e *environment) setIgnored(o *program.Options) {
	for name := range strings.SplitSeq(o.Value, ",") {
		if name == "" {
			continue
		}
		sig, ok := program.SignalNumber(name)
		if !ok {
			o.Reject("%s: invalid signal", quoting.Name(name))
			return
		}
		e.ignore = append(e.ignore, sig) // bounded: by the command's arguments
	}
}

// run applies the assignments, and starts the command or prints the environment.
func (e *environment) run(args []string) int {
	if len(args) > 0 && args[0] == "-" {
		e.empty, args = true, args[1:]
	}
	env := []string{}
	if !e.empty {
		env = e.proc.Environ()
	}
	for _, name := range e.unset {
		env = withoutVariable(env, name)
	}
	for len(args) > 0 && strings.Contains(args[0], "=") {
		name, _, _ := strings.Cut(args[0], "=")
		env = program.SetVariable(env, name, args[0])
		args = args[1:]
	}
	switch {
	case e.null && len(args) > 0:
		return program.UsageError(e.proc, envCommand, program.StatusFailed, "cannot specify --null (-0) with command")
	case e.dir != "" && len(args) == 0:
		return program.UsageError(e.proc, envCommand, program.StatusFailed, "must specify command with --chdir (-C)")
	case len(args) == 0:
		return e.print(env)
	}
	return e.start(args, env)
}

func (e *environment) print(env []string) int {
	end := "\n"
	if e.null {
		end = "\x00"
	}
	out := program.NewOutput(e.proc)
	for _, v := range env {
		_, _ = out.WriteString(v + end) // The error stays in out.
	}
	return out.Close(0)
}

func (e *environment) start(args, env []string) int {
	if e.dir != "" {
		info, err := e.proc.Stat(e.dir)
		if err == nil && !info.IsDir() {
			err = syscall.ENOTDIR
		}
		if err != nil {
			e.proc.Errorf(err, "cannot change directory to %s", quoting.Name(e.dir))
			return program.StatusFailed
		}
	}
	path, status := program.FindOrWarn(e.proc, env, args[0], e.dir)
	if path == "" {
		if strings.ContainsAny(args[0], " \t") && status == 127 {
			e.proc.Warn("use -[v]S to pass options in shebang lines")
		}
		return status
	}
	// Pass the path that was found: PATH in the child's environment may name another program, or none.
	args = append([]string{path}, args[1:]...)
	return e.proc.Run(shell.Spawn{Args: args, Env: env, Dir: e.dir, Ignore: e.ignore})
}

func withoutVariable(env []string, name string) []string {
	rest := make([]string, 0, len(env))
	for _, v := range env {
		if !strings.HasPrefix(v, name+"=") {
			rest = append(rest, v)
		}
	}
	return rest
}
