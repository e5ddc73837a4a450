package gitrules

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// maxCmdline bounds the bytes that are read of another process's arguments.
const maxCmdline = 1 << 20

// maxSubshells bounds how deep a script of git's may nest its shells.
const maxSubshells = 16

// IsStartedByGit reports whether git itself, with process ID ppid, made this call: "git
// stash" runs "git reset --hard", and an octopus merge is a script of git's that runs "git
// checkout-index -f". Commands that the user passed to that git (rebase --exec, bisect run,
// submodule foreach, an alias that is a shell command) do not count.
func IsStartedByGit(ppid int, call Call) bool {
	parent := inspectProcess(ppid)
	// A script of git's: the interpreter's first argument lies in git's exec path. Its
	// subshells have the same command line.
	for range maxSubshells {
		if parent.git || len(parent.args) < 2 || !isGitScript(parent.args[1]) || isInCommandLine(parent.args, call.Args) {
			break
		}
		parent = inspectProcess(parent.ppid)
	}
	if !parent.git || len(parent.args) < 2 || isInCommandLine(parent.args, call.Args) {
		return false
	}
	argv := parseCommandLine(parent.args[1:])
	if name, ok := strings.CutPrefix(path.Base(parent.args[0]), "git-"); ok {
		argv.command = name
	}
	if builtinCommands.has(argv.command) || strings.Contains(argv.command, "--") {
		return true
	}
	value, ok := call.Alias(Call{Args: parent.args[1:], Env: call.Env}, argv.command)
	return !ok || !strings.HasPrefix(value, "!")
}

// isInCommandLine reports whether the caller's command line contains the words of a call.
func isInCommandLine(caller, words []string) bool {
	return strings.Contains(strings.Join(caller, " "), strings.Join(words, " "))
}

func isGitScript(file string) bool {
	return path.IsAbs(file) && path.Base(path.Dir(file)) == "git-core" && strings.HasPrefix(path.Base(file), "git-")
}

// processInfo describes a process by its files in /proc; the zero value if it has ended.
type processInfo struct {
	git  bool // it runs the program behind the wrapper of git
	args []string
	ppid int
}

func inspectProcess(pid int) processInfo {
	dir := "/proc/" + strconv.Itoa(pid)
	info := processInfo{git: process.IsSameFile(dir+"/exe", path.Join(layout.BinDir, "git"))}
	info.args = strings.Split(strings.TrimSuffix(readBounded(dir+"/cmdline"), "\x00"), "\x00")
	// The name in the second field may contain any bytes; the numbers follow it.
	stat := readBounded(dir + "/stat")
	if fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]); len(fields) > 1 {
		info.ppid, _ = strconv.Atoi(fields[1]) // 0, no process, when it is not a number
	}
	return info
}

func readBounded(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCmdline))
	if err != nil {
		return ""
	}
	return string(text)
}
