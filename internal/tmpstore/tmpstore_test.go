//go:build linux

package tmpstore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// place returns a store and a workspace, resolved.
func place(t *testing.T) (Store, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(dir, "w")
	if err := os.Mkdir(workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	return Store{filepath.Join(dir, "data", "tmp")}, workspace
}

func ensure(t *testing.T, s Store, workspace string) string {
	t.Helper()
	dir, err := s.Ensure(workspace)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func Test_A_Workspace_Has_One_Private_Directory(t *testing.T) {
	s, w := place(t)
	dir := ensure(t, s, w)
	if again := ensure(t, s, w); again != dir {
		t.Errorf("%s, then %s", dir, again)
	}
	if path, err := s.Path(w); err != nil || path != dir {
		t.Errorf("Path is %s, %v; want %s", path, err, dir)
	}
	if err := os.Mkdir(w+"2", 0o755); err != nil {
		t.Fatal(err)
	}
	if other := ensure(t, s, w+"2"); other == dir {
		t.Error("two workspaces share a directory")
	}
	// A command can change the mode of its /tmp.
	if err := os.Chmod(dir, 0o004); err != nil {
		t.Fatal(err)
	}
	ensure(t, s, w)
	for at := dir; at != filepath.Dir(s.Dir); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err != nil || info.Mode().Perm() != 0o700 || !info.IsDir() {
			t.Errorf("%s: %v, %v", at, info.Mode(), err)
		}
	}
}

func Test_A_New_Directory_At_The_Same_Path_Is_Another_Workspace(t *testing.T) {
	s, w := place(t)
	dir := ensure(t, s, w)
	if err := os.Rename(w, w+"-old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w, 0o755); err != nil {
		t.Fatal(err)
	}
	if again := ensure(t, s, w); again == dir {
		t.Error("it has the files of the old one")
	}
}

func Test_Links_In_The_Store_Are_Not_Followed(t *testing.T) {
	s, w := place(t)
	dir := ensure(t, s, w)
	for _, path := range []string{dir, filepath.Dir(dir), s.Dir} {
		if err := os.Rename(path, path+"-moved"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path+"-moved", path); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Ensure(w); err == nil {
			t.Errorf("a link at %s was followed to %s", path, got)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+"-moved", path); err != nil {
			t.Fatal(err)
		}
	}
}

func Test_The_Store_Is_Not_In_The_Workspace(t *testing.T) {
	s, w := place(t)
	for _, in := range []Store{{filepath.Join(w, "tmp")}, {filepath.Join(w, "data", "tmp")}} {
		if dir, err := in.Ensure(w); sandbox.CodeOf(err) != sandbox.Invalid || sandbox.HintOf(err) == "" {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "project"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ensure(filepath.Join(s.Dir, "project")); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Errorf("a workspace in the store: %v", err)
	}
}

func Test_Prune_Removes_The_Directories_Of_Workspaces_That_Are_Gone(t *testing.T) {
	s, w := place(t)
	for _, name := range []string{"2", "3"} {
		if err := os.Mkdir(w+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	stays, gone, replaced := ensure(t, s, w), ensure(t, s, w+"2"), ensure(t, s, w+"3")
	if err := os.MkdirAll(filepath.Join(gone, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	// What commands leave cannot stop the removal, and links do not lead it elsewhere.
	if err := os.Symlink(stays, filepath.Join(gone, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(stays, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(gone, "a", "b"), filepath.Join(gone, "a"), gone} {
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(w + "2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w+"3", w+"-old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w+"3", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.Dir, gonePrefix+"x"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := s.Prune()
	slices.Sort(got)
	if want := []string{w + "2", w + "3"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := os.Lstat(filepath.Join(stays, "f")); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil || len(entries) != 1 || !strings.HasPrefix(stays, filepath.Join(s.Dir, entries[0].Name())) {
		t.Errorf("left are %v, %v; want only that of %s (not of %s)", entries, err, w, replaced)
	}
	if got, err := (Store{s.Dir + "-none"}).Prune(); err != nil || got != nil {
		t.Errorf("no store: %q, %v", got, err)
	}
}
