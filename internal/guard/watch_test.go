//go:build linux

package guard

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func Test_A_Watch_Finds_New_Names(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	make := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	make(".there")
	at := Path(dir)
	w := NewWatch([]Name{{Dir: at, Name: ".there"}, {Dir: at, Name: ".envrc"}, {Dir: at + "/.github", Name: "workflows"}, {Dir: at, Name: "*"}})
	if got := w.Look(); got != nil {
		t.Fatalf("before anything was made: %q", got)
	}
	make(".envrc")
	make("elsewhere/workflows")
	if err := os.Symlink("elsewhere", filepath.Join(dir, ".github")); err != nil {
		t.Fatal(err)
	}
	if got, want := w.Look(), []string{dir + "/.envrc", dir + "/.github"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := w.Look(); got != nil {
		t.Errorf("once more: %q", got)
	}
}
