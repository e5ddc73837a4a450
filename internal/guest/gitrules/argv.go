package gitrules

import "strings"

// commandLine is git's command line, parsed as in git.c.
type commandLine struct {
	dirs      []string // -C, in order
	gitDir    string   // --git-dir
	workTree  string   // --work-tree
	settings  []string // -c, as "key=value" or "key"
	fromEnv   []string // --config-env, as "key=VARIABLE"
	selecting []string // the options before the command that select a repository, for calls of the real git
	command   string   // "commit"; empty: git only prints something about itself
	args      []string // what follows the command
}

// valueOptions are git's own options that take the next argument as value.
const valueOptions wordList = `-C -c --git-dir --work-tree --namespace --config-env --super-prefix --attr-source --shallow-file`

// parseCommandLine parses the arguments after git's name. It never fails: for a command line that git
// refuses, command is empty or the command that git would have run.
func parseCommandLine(args []string) commandLine {
	var a commandLine
	for len(args) > 0 {
		arg := args[0]
		if !strings.HasPrefix(arg, "-") {
			a.command, a.args = arg, args[1:]
			return a
		}
		switch arg {
		case "-h", "--help", "-v", "--version", "--html-path", "--man-path", "--info-path", "--exec-path":
			return a
		}
		name, value, joined := strings.Cut(arg, "=")
		n := 1
		if !joined && valueOptions.has(arg) {
			if len(args) < 2 {
				return a
			}
			value, n = args[1], 2
		}
		a.global(name, value, args[:n])
		args = args[n:]
	}
	return a
}

func (a *commandLine) global(name, value string, words []string) {
	switch name {
	case "-C":
		a.dirs = append(a.dirs, value)
	case "-c":
		a.settings = append(a.settings, value)
	case "--config-env":
		a.fromEnv = append(a.fromEnv, value)
	case "--git-dir":
		a.gitDir = value
	case "--work-tree":
		a.workTree = value
	case "--bare", "--namespace":
	default:
		return
	}
	a.selecting = append(a.selecting, words...)
}

// isHelpRequest reports whether git only prints the command's usage.
func (a commandLine) isHelpRequest() bool {
	return len(a.args) > 0 && a.args[0] == "--help" || len(a.args) == 1 && a.args[0] == "-h"
}
