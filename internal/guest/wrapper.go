package guest

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

const selfExe = "/proc/self/exe"

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

// wrapped acts as the wrapped command that args[0] names.
func (p process) wrapped(args []string) int {
	name := strings.TrimPrefix(path.Base(args[0]), "-") // a login shell is "-sh"
	exe, err := os.Readlink(selfExe)
	if err != nil {
		return p.fail(exitNotExecutable, err.Error())
	}
	command, kind := p.ruleFor(name, exe)
	if kind != noRule {
		return p.apply(command, kind, args)
	}
	if target := path.Join(TargetDir, exe); isFile(target) {
		return p.shared(name, target, args)
	}
	return p.fail(exitNotExecutable, "command '"+name+"' has no rule in this sandbox and no program behind it")
}

// ruleFor is steps 1, 2 and 4 of the order that the layout describes; a shared
// target comes before 4.
func (p process) ruleFor(name, exe string) (string, ruleKind) {
	if kind := ruleOf(name); kind != noRule {
		return name, kind
	}
	if strings.HasPrefix(name, "git-") {
		if kind := ruleOf("git"); kind != noRule {
			return "git", kind
		}
	}
	if isFile(path.Join(TargetDir, exe)) {
		return "", noRule
	}
	base := path.Base(exe)
	if kind := ruleOf(base); kind != noRule {
		return base, kind
	}
	command, err := os.Readlink(path.Join(AliasDir, base))
	if err != nil || strings.Contains(command, "/") {
		return "", noRule
	}
	return command, ruleOf(command)
}

// shared runs the real program of a target that serves several names. A wrapped
// name given as an applet ("busybox wget") gets its rule all the same.
func (p process) shared(name, target string, args []string) int {
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
		return p.apply(applet, kind, rest)
	}
	return p.become(target, args, p.env)
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
	case exists(path.Join(DenyDir, name)):
		return denyRule
	case exists(path.Join(WrapperDir, name)):
		return scriptRule
	case exists(path.Join(PresetDir, name)):
		return presetRule
	}
	return noRule
}

// apply does to args what the rule of command says.
func (p process) apply(command string, kind ruleKind, args []string) int {
	switch kind {
	case scriptRule:
		return p.script(command, args)
	case presetRule:
		if command != "git" {
			return p.fail(exitNotExecutable, "this agent-sandbox has no preset for '"+command+"'")
		}
		return p.git(args)
	case denyRule, noRule:
	}
	tellDenied(command, command)
	return p.fail(exitRefused, "command '"+command+"' is blocked in this sandbox",
		"the policy's commands section decides; outside, 'agent-sandbox explain "+command+"' names the rule")
}

func (p process) script(command string, args []string) int {
	depth, err := strconv.Atoi(variable(p.env, depthVariable))
	if err != nil || depth < 0 {
		depth = 0
	}
	if depth >= maxDepth {
		return p.fail(exitNotExecutable, "the wrapper of '"+command+"' calls itself again and again",
			`the script must run "$AGENT_SANDBOX_REAL", not '`+command+"'")
	}
	program := path.Join(BinDir, command)
	if !exists(program) {
		program = ""
	}
	env := withVariable(p.env, depthVariable, strconv.Itoa(depth+1))
	env = withVariable(env, "AGENT_SANDBOX_CMD", command)
	env = withVariable(env, "AGENT_SANDBOX_REAL", program)
	text := path.Join(WrapperDir, command)
	return p.become(text, append([]string{text}, args[1:]...), env)
}

// real runs the program behind a preset.
func (p process) real(command string, args []string) int {
	return p.become(path.Join(BinDir, command), args, p.env)
}

// become replaces this process by the program file; it returns on failure only.
func (p process) become(file string, args, env []string) int {
	// The program behind a wrapper may be the launcher itself, in a sandbox within a
	// sandbox: that would start itself for ever.
	if sameFile(file, selfExe) {
		return p.fail(exitNotExecutable, "the program behind '"+path.Base(file)+"' is the wrapper itself")
	}
	err := execFile(file, args, env)
	if errors.Is(err, fs.ErrNotExist) && !exists(file) {
		return p.fail(exitNotFound, "'"+path.Base(file)+"' has no program behind its wrapper")
	}
	return p.fail(exitNotExecutable, path.Base(file)+": "+err.Error())
}

// execFile is execve(2), and like execvp(3) gives a text without #! to the shell.
func execFile(file string, args, env []string) error {
	err := syscall.Exec(file, args, env)
	if errors.Is(err, syscall.ENOEXEC) {
		err = syscall.Exec("/bin/sh", append([]string{"sh", file}, args[1:]...), env)
	}
	return err
}

// exists fails closed: what cannot be looked at counts as there.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
