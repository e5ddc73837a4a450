package gitindex_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/gitindex"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func Test_Hidden_Files_Are_Those_That_Git_Marks(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "4"} {
			t.Run(format+" "+version, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				git(t, dir, "init", "-q", "--object-format="+format)
				names := []string{"a", "dir/longer-name", "dir/longer-name-still", "dir/z", "ü", strings.Repeat("n", 200)}
				for _, name := range names {
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				git(t, dir, "add", ".")
				git(t, dir, "update-index", "--index-version", version)
				file := gitindex.Find(filepath.Join(dir, "dir"))
				if got := gitindex.HiddenIn(file); len(got) > 0 {
					t.Errorf("nothing is marked, got %q", got)
				}
				git(t, dir, "update-index", "--assume-unchanged", "dir/longer-name-still")
				before := gitindex.HiddenIn(file)
				git(t, dir, "update-index", "--skip-worktree", "a", "ü")
				after := gitindex.HiddenIn(file)
				if want := []string{"a", "dir/longer-name-still", "ü"}; !slices.Equal(after, want) {
					t.Errorf("got %q, want %q", after, want)
				}
				if got := gitindex.New(before, after); !slices.Equal(got, []string{"a", "ü"}) {
					t.Errorf("new are %q", got)
				}
				git(t, dir, "config", "user.name", "x")
				git(t, dir, "config", "user.email", "x@example.com")
				git(t, dir, "commit", "-qm", "x")
				tree := filepath.Join(t.TempDir(), "tree")
				git(t, dir, "worktree", "add", "-q", tree)
				git(t, tree, "update-index", "--skip-worktree", "a")
				if got := gitindex.HiddenIn(gitindex.Find(tree)); !slices.Equal(got, []string{"a"}) {
					t.Errorf("of a worktree: %q", got)
				}
			})
		}
	}
}

func Fuzz_Hidden(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00" + strings.Repeat("x", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("x", 82)))
	f.Fuzz(func(_ *testing.T, index []byte) { _, _ = gitindex.Hidden(index) }) // it must not panic
}
