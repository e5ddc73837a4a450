package repository

import (
	"bytes"
	"context"
	"os/exec"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// setAuthor sets the author name of git in a sandbox to that of the host, unless it has one.
func setAuthor(ctx context.Context, a *console.App, box *sandbox.Sandbox, dir string) error {
	for _, key := range []string{"user.name", "user.email"} {
		ask := exec.CommandContext(ctx, "git", "-C", dir, "config", "--get", key)
		ask.Env = a.Env
		value, err := ask.Output()
		name := strings.TrimSpace(string(value))
		if err != nil || name == "" {
			continue // git is missing, or lacks the setting
		}
		const script = `git config --global --get "$1" >/dev/null || git config --global "$1" "$2"`
		var stderr bytes.Buffer
		run, err := box.Start(ctx, sandbox.Cmd{Args: []string{"sh", "-c", script, "sh", key, name}, Dir: "/"}, sandbox.Stdio{Stderr: &stderr})
		if err != nil {
			return err
		}
		if exit, err := run.Wait(); err != nil {
			return err
		} else if exit.Code != 0 {
			a.Err.Say("cannot set the name of commits in the sandbox: " + strings.Join(strings.Fields(stderr.String()), " "))
			return nil
		}
	}
	return nil
}
