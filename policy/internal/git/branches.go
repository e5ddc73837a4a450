package git

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// CurrentBranch returns the ref that the file head stands for, or "" when it is detached. The error has code
// Unsupported: the repository stores refs in another format.
func CurrentBranch(head string) (string, error) {
	text := strings.TrimSpace(string(readFile(head)))
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

// Branches lists the refs below refs/heads of a repository, loose or packed: "refs/heads/main". common is the directory
// that its worktrees share.
func Branches(common string) []string {
	return append(looseBranches(common), packedBranches(common)...)
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
	for line := range strings.Lines(string(readFile(filepath.Join(common, "packed-refs")))) {
		_, ref, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if ok && strings.HasPrefix(ref, "refs/heads/") && !strings.Contains(ref, "/../") {
			out = append(out, ref)
		}
	}
	return out
}
