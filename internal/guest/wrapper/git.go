package wrapper

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/gitrules"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// applyGit applies the rules for git to args. If they allow the call, it executes the real
// git with argv 0, options and environment unchanged.
func applyGit(p process.Process, args []string) int {
	dir, err := syscall.Getwd() // from the kernel, because PWD could be set to /tmp
	if err != nil {
		dir = ""
	}
	line := args[1:]
	if command, ok := strings.CutPrefix(filepath.Base(args[0]), "git-"); ok {
		line = append([]string{command}, line...) // an exec-path link such as git-upload-pack
	}
	call := gitrules.Call{Args: line, Env: p.Env, Dir: dir, Alias: gitrules.AskAlias, Ask: gitrules.Ask, Private: gitrules.IsPrivate}
	if r := call.Check(); r != nil && !gitrules.IsStartedByGit(os.Getppid(), call) {
		reportDenied("git", r.What)
		return p.Fail(process.ExitRefused, r.What+" is blocked: "+r.Why, r.Instead)
	}
	return real(p, "git", args)
}
