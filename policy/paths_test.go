package policy

import (
	"os"
	"path/filepath"
	"testing"
)

func Test_Locate_Finds_The_Same_Place_However_A_Path_Is_Written(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "a/b/c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a/file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"short": "a/b", "up": "a/b/../../a", "absolute": root + "/a", "chain": "short/./", "a/b/back": "..", "a/lost": "none/x",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		path, want  string // below root
		exists, dir bool
		links       int
	}{
		{"a/b/c", "a/b/c", true, true, 0},
		{"a//b/./c/", "a/b/c", true, true, 0},
		{"./a/b/c/.", "a/b/c", true, true, 0},
		{"a/b/../b/c", "a/b/c", true, true, 0},
		{".", ".", true, true, 0},
		{"", ".", true, true, 0},
		{"a/file", "a/file", true, false, 0},
		{"a/file/x", "a/file/x", false, false, 0},
		{"a/none/x/y", "a/none/x/y", false, false, 0},
		{"a/none//x/./y/../z", "a/none/x/z", false, false, 0},
		{"short/c", "a/b/c", true, true, 1},
		{"short/none/x", "a/b/none/x", false, false, 1},
		{"short/../file", "a/file", true, false, 1},
		{"up/b", "a/b", true, true, 1},
		{"absolute/b/c", "a/b/c", true, true, 1},
		{"chain/c", "a/b/c", true, true, 2},
		{"a/b/back/file", "a/file", true, false, 1},
		{"a/lost/y", "a/none/x/y", false, false, 1},
	} {
		t.Run(tt.path, func(t *testing.T) {
			want := filepath.Join(root, tt.want)
			remembering := newLookups()
			for range 10 { // the directories are listed after some
				for name, at := range map[string]func() (place, error){
					"below":             func() (place, error) { return (*lookups)(nil).below(root, tt.path) },
					"below, remembered": func() (place, error) { return remembering.below(root, tt.path) },
					"locate":            func() (place, error) { return remembering.locate(root + "/" + tt.path) },
				} {
					got, err := at()
					if err != nil || got.path != want || got.exists != tt.exists || got.dir != tt.dir || len(got.links) != tt.links {
						t.Fatalf("%s: got %+v, %v; want %s (exists: %v, directory: %v, links: %d)", name, got, err, want, tt.exists, tt.dir, tt.links)
					}
				}
			}
		})
	}
	t.Run("a directory above a file", func(t *testing.T) {
		if got, err := locate(root + "/a/file/.."); err == nil {
			t.Errorf("got %+v, want ENOTDIR", got)
		}
	})
}
