package repo

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Files of Codex's configuration.
const (
	codexConfig  = "config.toml"
	codexHigh    = "high.config.toml"
	codexAgents  = "AGENTS.md"
	codexAuth    = "auth.json"
	codexProfile = "profile.json"
)

// codexConfigText disables Codex's own sandbox, which needs namespaces that a container cannot create.
const codexConfigText = `# The profile "high" (codex -p high) is in high.config.toml.
sandbox_mode = "danger-full-access"
`

// codexHighText is the profile. Codex rejects a profile in a table of config.toml, where older versions had it.
const codexHighText = `model = "gpt-5"
# Constrains reasoning effort for reasoning-capable models
model_reasoning_effort = "high"
`

const codexAgentsText = `# Where you are

You are running inside a containerized sandbox (agent-sandbox): a safe, auditable place to write code, with guardrails
around its network and file system.

- The repository is below /workspace. Some of its files cannot be changed here: git's hooks, and the configuration of
  this sandbox. Only hosts that the user allowed can be reached. Do not look for ways around either.
- Directories of tools, such as ~/.codex, are volumes that the sandboxes of all repositories share.
- With --branch you work in a worktree below /repo-shelf/worktrees. "git push host BRANCH" hands a branch to the user.
- Installed: ast-grep (` + "`ast-grep`, `sg`" + `) for structural search and rewrites, git, gh, jq, fzf.
`

// CodexFiles returns the initial files of Codex's volume. With auth they include the credentials in home, a directory
// of the host. NotFound: home has no credentials.
func CodexFiles(home string, auth bool) (map[string][]byte, error) {
	files := map[string][]byte{codexConfig: []byte(codexConfigText), codexHigh: []byte(codexHighText), codexAgents: []byte(codexAgentsText)}
	if !auth {
		return files, nil
	}
	for _, name := range []string{codexAuth, codexProfile} {
		data, err := policy.ReadConfig(filepath.Join(home, name))
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == codexProfile:
		case errors.Is(err, fs.ErrNotExist):
			return nil, sandbox.Errorf(sandbox.NotFound, "no %s in %s", name, home).WithHint("log in on the host first: codex login")
		case err != nil:
			return nil, err
		default:
			files[name] = data
		}
	}
	return files, nil
}

// codexScript unpacks the archive on its standard input, each file in one step. It replaces existing credentials, and with
// "yes" all other existing files.
const codexScript = `set -eu
umask 077
cd "$1"
force=$2
new=$(mktemp -d .new-XXXXXX)
trap 'rm -rf "$new"' EXIT
tar -x -f - -C "$new" --no-same-owner
for f in "$new"/*; do
  name=${f##*/}
  if [ "$force" = no ] && [ "$name" != auth.json ] && { [ -e "$name" ] || [ -L "$name" ]; }; then
    echo "kept $name"
  else
    mv -fT -- "$f" "$name"
    echo "wrote $name"
  fi
done`

// InitCodex writes files to Codex's volume as user, "UID:GID", and returns the result for each: "wrote NAME", or "kept NAME"
// if it exists and force is not set. It always replaces credentials. It sends them through a pipe, so that neither a command
// line nor the container's description shows them.
func InitCodex(ctx context.Context, e job.Engine, image, user string, files map[string][]byte, force bool) ([]string, error) {
	archive, err := packFiles(files)
	if err != nil {
		return nil, err
	}
	word := "no"
	if force {
		word = "yes"
	}
	out, err := e.Run(ctx, job.Run{
		Image: image, Args: []string{"sh", "-c", codexScript, "sh", CodexHome, word}, User: user, Stdin: archive, Volumes: codexVolumes(),
	})
	if err != nil {
		return nil, err
	}
	return splitLines(out)
}

// LogoutCodex deletes the credentials in Codex's volume, which must exist, and returns their names.
func LogoutCodex(ctx context.Context, e job.Engine, image string) ([]string, error) {
	const script = `cd "$1"; shift; for f; do [ -e "$f" ] || [ -L "$f" ] || continue; rm -f -- "$f" && echo "$f" || exit 1; done`
	out, err := e.Run(ctx, job.Run{
		Image: image, Args: []string{"sh", "-c", script, "sh", CodexHome, codexAuth, codexProfile},
		// The script runs as root, because the credentials may belong to any user.
		User: "0:0", Caps: []string{"DAC_OVERRIDE"}, Volumes: codexVolumes(),
	})
	if err != nil {
		return nil, err
	}
	return splitLines(out)
}

func codexVolumes() []sandbox.Volume { return []sandbox.Volume{{Name: CodexVolume, Target: CodexHome}} }

// splitLines returns the lines that a script has printed, or its error.
func splitLines(out job.Output) ([]string, error) {
	if out.Code != 0 {
		return nil, sandbox.Errorf(sandbox.Internal, "the volume cannot be changed: %.300s", strings.Join(strings.Fields(string(out.Stderr)), " "))
	}
	return strings.FieldsFunc(string(out.Stdout), func(c rune) bool { return c == '\n' }), nil
}

func packFiles(files map[string][]byte) (*bytes.Buffer, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(files[name]))}); err != nil {
			return nil, err
		}
		if _, err := t.Write(files[name]); err != nil {
			return nil, err
		}
	}
	return &b, t.Close()
}
