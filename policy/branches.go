package policy

import (
	"bufio"
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// protectBranches is @git-strict: of the workspace's repository only the current
// branch may move, and no tag. Branches that exist, loose or packed, stay as they
// are; with a detached HEAD that is all of them.
func (f *filesystem) protectBranches() error {
	if f.workspace == "" {
		return nil
	}
	dir, common := f.gitDirs(f.workspace)
	if dir == "" {
		return nil
	}
	current, err := currentBranch(filepath.Join(dir, "HEAD"))
	if err != nil {
		return err
	}
	const preset = "@git-strict"
	f.protectBelow(common, "refs/tags", preset)
	f.protectBelow(common, "packed-refs", preset)
	for _, ref := range append(looseBranches(common), packedBranches(common)...) {
		if ref != current {
			f.protectBelow(common, ref, preset)
		}
	}
	return nil
}

// gitDirs returns the git directory of a checkout and the one that it shares with
// its worktrees; "" when root is no checkout.
func (f *filesystem) gitDirs(root string) (dir, common string) {
	at, err := f.look.below(root, ".git")
	if err != nil || !at.exists {
		return "", ""
	}
	dir = at.path
	if !at.dir {
		dir = pointer(at.path, "gitdir: ")
	}
	if !isGitDir(dir) {
		return "", ""
	}
	if common = pointer(filepath.Join(dir, "commondir"), ""); common == "" {
		common = dir
	}
	return dir, common
}

// currentBranch returns the ref that HEAD stands for, or "" when it is detached.
func currentBranch(head string) (string, error) {
	text := strings.TrimSpace(string(readSmall(head)))
	ref, symbolic := strings.CutPrefix(text, "ref:")
	ref = strings.TrimSpace(ref)
	switch {
	case !symbolic && len(text) >= 40 && strings.Trim(text, "0123456789abcdef") == "":
		return "", nil
	case symbolic && strings.HasPrefix(ref, "refs/heads/") && ref != "refs/heads/.invalid":
		return ref, nil
	}
	return "", sandbox.Errorf(sandbox.Unsupported, "preset @git-strict: %s holds %.80q, which is neither a branch nor a commit", head, text).
		WithHint("the reftable format cannot be protected by branch; leave out @git-strict")
}

func looseBranches(common string) []string {
	var out []string
	//nolint:errcheck // what cannot be listed cannot be read by git either; the walk goes on
	filepath.WalkDir(filepath.Join(common, "refs", "heads"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".lock") {
			out = append(out, strings.TrimPrefix(path, common+"/"))
		}
		return nil
	})
	return out
}

// packedBranches reads packed-refs: a loose ref of the same name would replace one.
func packedBranches(common string) []string {
	var out []string
	lines := bufio.NewScanner(bytes.NewReader(readSmall(filepath.Join(common, "packed-refs"))))
	for lines.Scan() {
		_, ref, ok := strings.Cut(lines.Text(), " ")
		if ok && strings.HasPrefix(ref, "refs/heads/") && !strings.Contains(ref, "/../") {
			out = append(out, ref)
		}
	}
	return out
}
