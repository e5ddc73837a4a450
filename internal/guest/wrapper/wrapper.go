// Package wrapper applies the rule of a wrapped command: refuse it, run a script in its place, or check its arguments.
//
// A wrapper refuses early and with a reason. It does not isolate, because programs inside can bypass it; mounts, the
// guard and the network enforce the policy.
package wrapper

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// depthVariable counts how often wrapper scripts started one another.
const (
	depthVariable = "AGENT_SANDBOX_DEPTH"
	maxDepth      = 64
)

type ruleKind int

const (
	noRule ruleKind = iota
	denyRule
	scriptRule
	presetRule
)

// Run acts as the wrapped command that args[0] names.
func Run(p process.Process, args []string) int {
	name := strings.TrimPrefix(path.Base(args[0]), "-") // a login shell is "-sh"
	exe, err := os.Readlink(process.SelfExe)
	if err != nil {
		return p.Fail(process.ExitNotExecutable, err.Error())
	}
	command, kind := ruleFor(name, exe)
	if kind != noRule {
		return apply(p, command, kind, args)
	}
	if target := path.Join(layout.TargetDir, exe); process.IsFile(target) {
		return shared(p, name, target, args)
	}
	return p.Fail(process.ExitNotExecutable, "command '"+name+"' has no rule in this sandbox and no program behind it")
}

// ruleFor performs steps 1, 2 and 4 of the order that package layout describes; before step 4 it returns noRule for a
// shared target, which the caller handles.
func ruleFor(name, exe string) (string, ruleKind) {
	if kind := ruleOf(name); kind != noRule {
		return name, kind
	}
	if strings.HasPrefix(name, "git-") {
		if kind := ruleOf("git"); kind != noRule {
			return "git", kind
		}
	}
	if process.IsFile(path.Join(layout.TargetDir, exe)) {
		return "", noRule
	}
	base := path.Base(exe)
	if kind := ruleOf(base); kind != noRule {
		return base, kind
	}
	command, err := os.Readlink(path.Join(layout.AliasDir, base))
	if err != nil || strings.Contains(command, "/") {
		return "", noRule
	}
	return command, ruleOf(command)
}

// shared runs the real program of a target that serves several names. The rule of a wrapped name also applies to an
// applet ("busybox wget").
func shared(p process.Process, name, target string, args []string) int {
	rest := args[1:]
	var applet string
	switch {
	case len(rest) == 0:
	case name == "busybox" || name == "toybox":
		applet = rest[0]
	case name == "coreutils":
		applet, _ = strings.CutPrefix(rest[0], "--coreutils-prog=")
	}
	if kind := ruleOf(applet); kind != noRule {
		return apply(p, applet, kind, rest)
	}
	return become(p, target, args, p.Env)
}

func ruleOf(name string) ruleKind {
	switch name {
	case "", ".", "..", "/":
		return noRule
	}
	if strings.Contains(name, "/") {
		return noRule
	}
	switch {
	case process.Exists(path.Join(layout.DenyDir, name)):
		return denyRule
	case process.Exists(path.Join(layout.WrapperDir, name)):
		return scriptRule
	case process.Exists(path.Join(layout.PresetDir, name)):
		return presetRule
	}
	return noRule
}

// apply applies the rule of command to args.
func apply(p process.Process, command string, kind ruleKind, args []string) int {
	switch kind {
	case scriptRule:
		return script(p, command, args)
	case presetRule:
		if command != "git" {
			return p.Fail(process.ExitNotExecutable, "this agent-sandbox has no preset for '"+command+"'")
		}
		return applyGit(p, args)
	case denyRule, noRule:
	}
	reportDenied(command, command)
	return p.Fail(process.ExitRefused, "command '"+command+"' is blocked in this sandbox",
		"the policy's commands section decides; outside, 'agent-sandbox explain "+command+"' names the rule")
}

func script(p process.Process, command string, args []string) int {
	depth, err := strconv.Atoi(process.Variable(p.Env, depthVariable))
	if err != nil || depth < 0 {
		depth = 0
	}
	if depth >= maxDepth {
		return p.Fail(process.ExitNotExecutable, "the wrapper of '"+command+"' calls itself again and again",
			`the script must run "$AGENT_SANDBOX_REAL", not '`+command+"'")
	}
	program := path.Join(layout.BinDir, command)
	if !process.Exists(program) {
		program = ""
	}
	env := process.WithVariable(p.Env, depthVariable, strconv.Itoa(depth+1))
	env = process.WithVariable(env, "AGENT_SANDBOX_CMD", command)
	env = process.WithVariable(env, "AGENT_SANDBOX_REAL", program)
	text := path.Join(layout.WrapperDir, command)
	return become(p, text, append([]string{text}, args[1:]...), env)
}

// real runs the program behind a preset.
func real(p process.Process, command string, args []string) int {
	return become(p, path.Join(layout.BinDir, command), args, p.Env)
}

// become executes the program file in place of this process; it returns only on failure.
func become(p process.Process, file string, args, env []string) int {
	// In a sandbox within a sandbox the program behind a wrapper may be the launcher itself, which would start itself
	// forever.
	if process.IsSameFile(file, process.SelfExe) {
		return p.Fail(process.ExitNotExecutable, "the program behind '"+path.Base(file)+"' is the wrapper itself")
	}
	err := process.ExecFile(file, args, env)
	if errors.Is(err, fs.ErrNotExist) && !process.Exists(file) {
		return p.Fail(process.ExitNotFound, "'"+path.Base(file)+"' has no program behind its wrapper")
	}
	return p.Fail(process.ExitNotExecutable, path.Base(file)+": "+err.Error())
}
