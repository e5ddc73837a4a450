package repo

import (
	"crypto/md5"
	"encoding/hex"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The volumes that all repositories share.
const (
	ClaudeVolume = "agent-sandbox-claude-code-config"
	CodexVolume  = "agent-sandbox-codex-config"
)

// Paths of directories inside.
const (
	Shelf      = "/repo-shelf"        // the volume of a repository's worktrees
	ClaudeHome = "/home/node/.claude" // Claude Code's configuration
	CodexHome  = "/home/node/.codex"  // Codex's configuration
	History    = "/commandhistory"    // of shells
	Workspace  = "/workspace"         // above the repository itself
	worktrees  = Shelf + "/worktrees" // one directory for each branch
	primary    = Shelf + "/repo"      // the repository whose objects the worktrees share
	configDir  = ".agent-sandbox"     // in the repository
	configFile = configDir + "/config.json"
)

// Repo is a repository on the host. Its names contain a hash of its path, so that each clone has its own.
type Repo struct {
	Path string // absolute, resolved through symbolic links
}

// hashLength is the number of digits of the hash in names: a sandbox's name has 63 characters at most.
const hashLength = 12

// Hash returns the first digits of the MD5 of the path, for the names of containers. Names of volumes contain the whole
// MD5.
func (r Repo) Hash() string { return hash(r.Path)[:hashLength] }

func hash(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Name returns the repository's name: the last element of its path, in characters that the engine accepts.
func (r Repo) Name() string { return cleanName(filepath.Base(r.Path), 24) }

// Image returns the name of its sandboxes' image.
func (r Repo) Image() string {
	// The engine allows only lower case, and no two separators in a row.
	words := strings.FieldsFunc(strings.ToLower(r.Name()), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	return "agent-sandbox-repo-" + strings.Join(append(words, r.Hash()), "-") + ":latest"
}

// Container returns the name of its sandbox, or of the sandbox of a branch.
func (r Repo) Container(branch string) string {
	if branch == "" {
		return "agent-sandbox-" + r.Name() + "-" + r.Hash()
	}
	const room = 63 - len("agent-sandbox-") - hashLength - 2
	return "agent-sandbox-" + r.Name() + "-" + cleanName(Worktree(branch), room-len(r.Name())) + "-" + r.Hash()
}

// HistoryVolume returns the name of the volume of its shells' history.
func (r Repo) HistoryVolume() string { return "agent-sandbox-" + hash(r.Path) + "-history" }

// ShelfVolume returns the name of the volume of its branches' worktrees.
func (r Repo) ShelfVolume() string { return "agent-sbx-repo-" + hash(r.Path) }

// Target returns the repository's directory inside.
func (r Repo) Target() string { return Workspace + "/" + r.Name() }

// Dir returns the directory in which commands start: the repository, or the worktree of a branch.
func (r Repo) Dir(branch string) string {
	if branch == "" {
		return r.Target()
	}
	return worktrees + "/" + Worktree(branch)
}

// Mode returns "bind", or "branch" for a sandbox of a branch.
func Mode(branch string) string {
	if branch == "" {
		return "bind"
	}
	return "branch"
}

// SandboxVolumes returns the volumes for the sandbox of a branch; "": of the repository itself. It protects the git
// directory of the shelf and the branch's worktree like those of the repository.
func (r Repo) SandboxVolumes(branch string) []sandbox.Volume {
	all := r.Volumes()
	all[0].Git = strings.TrimPrefix(primary, Shelf+"/") + "/.git"
	if branch != "" {
		all[0].Project = strings.TrimPrefix(r.Dir(branch), Shelf+"/")
	}
	return all
}

// Volumes returns the volumes of its sandboxes.
func (r Repo) Volumes() []sandbox.Volume {
	labels := map[string]string{"agent-sandbox": "1", labelPath: r.Path}
	shared := map[string]string{"agent-sandbox": "1"}
	return []sandbox.Volume{
		{Name: r.ShelfVolume(), Target: Shelf, Labels: labels},
		{Name: r.HistoryVolume(), Target: History, Labels: labels},
		{Name: ClaudeVolume, Target: ClaudeHome, Labels: shared},
		{Name: CodexVolume, Target: CodexHome, Labels: shared},
	}
}

// Worktree returns the name of a branch's directory, in which "/" and white space are replaced by "__".
func Worktree(branch string) string {
	var b strings.Builder
	for _, c := range branch {
		if c == '/' || unicode.IsSpace(c) {
			b.WriteString("__")
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// cleanName returns at most length allowed characters of s. It appends a hash if it had to change or cut s, so that different
// strings stay different.
func cleanName(s string, length int) string {
	const mark = 6
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", c) {
			b.WriteRune(c)
		} else {
			b.WriteByte('_')
		}
	}
	if b.String() == s && len(s) <= length {
		return s
	}
	out := b.String()
	return out[:min(len(out), length-mark-1)] + "-" + hash(s)[:mark]
}

// CheckBranch returns Invalid for a name that git does not accept for a branch, by the rules of git-check-ref-format(1).
func CheckBranch(name string) error {
	bad := func(why string) error {
		return sandbox.Errorf(sandbox.Invalid, "%.100q cannot be a branch: %s", name, why).
			WithHint("git check-ref-format has the rules")
	}
	switch {
	case name == "":
		return bad("it is empty")
	case len(name) > 200:
		return bad("it is too long")
	case strings.HasPrefix(name, "-"):
		return bad("it begins with a dash")
	case name == "HEAD" || name == "@" || strings.HasPrefix(name, "refs/"):
		return bad("that is git's own")
	case strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || unicode.IsSpace(c) || c == unicode.ReplacementChar }):
		return bad("it has spaces or control characters")
	case strings.ContainsAny(name, `~^:?*[\`) || strings.Contains(name, "@{"):
		return bad(`it has one of ~ ^ : ? * [ \ @{`)
	case strings.Contains(name, "..") || strings.HasSuffix(name, "."):
		return bad(`it has ".." or ends with a dot`)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return bad("it has an empty part")
		case strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock"):
			return bad(`a part of it begins with a dot or ends with ".lock"`)
		}
	}
	return nil
}
