package repo

import (
	"bytes"
	"context"
	_ "embed" // the script
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

//go:embed provision.sh
var provisionScript string

// Provision creates the worktree of a branch in the repository's shelf, in a sandbox that mounts both, and returns its
// messages. It is idempotent; the caller holds [Repo.Lock].
func (r Repo) Provision(ctx context.Context, box *sandbox.Sandbox, branch string) ([]string, error) {
	if err := CheckBranch(branch); err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	run, err := box.Start(ctx, sandbox.Cmd{
		Args: []string{"sh", "-c", provisionScript, "provision", r.Target(), branch, Worktree(branch)}, Dir: "/",
	}, sandbox.Stdio{Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		return nil, err
	}
	exit, err := run.Wait()
	if err != nil {
		return nil, err
	}
	said := strings.FieldsFunc(stderr.String(), func(c rune) bool { return c == '\n' })
	if exit.Code == 0 {
		return append(said, strings.FieldsFunc(stdout.String(), func(c rune) bool { return c == '\n' })...), nil
	}
	why := "git failed"
	if len(said) > 0 {
		why = strings.TrimPrefix(said[len(said)-1], "provision: ")
		said = said[:len(said)-1]
	}
	e := sandbox.Errorf(sandbox.Invalid, "no worktree for %s: %.300s", branch, why)
	if exit.Code == codeCollision {
		e.Code = sandbox.Exists
		return said, e.WithHint("two branches cannot have the same directory: rename one")
	}
	return said, e
}

// codeCollision is the exit status of the script if another branch uses the same directory.
const codeCollision = 5

// Owner returns the owner of the repository's directory as "UID:GID", who is the user of its sandboxes.
func (r Repo) Owner() (string, error) {
	info, err := os.Stat(r.Path)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", sandbox.Errorf(sandbox.Unsupported, "%s has no owner", r.Path)
	}
	return fmt.Sprintf("%d:%d", st.Uid, st.Gid), nil
}

// ownScript changes the owner of volumes to the user of the sandboxes: new volumes belong to the image's user, and older ones
// may belong to the owner of an earlier workspace.
const ownScript = `set -eu
user=$1
shift
for dir; do
  [ "$(stat -c %u:%g "$dir")" = "$user" ] || chown -Rh "$user" "$dir"
done`

// Own makes owner, "UID:GID", the owner of the repository's volumes.
func (r Repo) Own(ctx context.Context, e job.Engine, image, owner string) error {
	args := []string{"sh", "-c", ownScript, "sh", owner}
	for _, v := range r.Volumes() {
		args = append(args, v.Target)
	}
	out, err := e.Run(ctx, job.Run{
		Image: image, Args: args, User: "0:0", Caps: []string{"CHOWN", "DAC_OVERRIDE"}, Volumes: r.Volumes(),
	})
	if err != nil {
		return err
	}
	_, err = splitLines(out)
	return err
}
