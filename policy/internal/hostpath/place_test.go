package hostpath

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
)

func Test_Locate_Finds_The_Same_Place_However_A_Path_Is_Written(t *testing.T) {
	root := treetest.Dir(t)
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
			remembering := NewLookups()
			for range 10 { // the directories are listed after some
				for name, at := range map[string]func() (Place, error){
					"below":             func() (Place, error) { return (*Lookups)(nil).Below(root, tt.path) },
					"below, remembered": func() (Place, error) { return remembering.Below(root, tt.path) },
					"locate":            func() (Place, error) { return remembering.Locate(root + "/" + tt.path) },
				} {
					got, err := at()
					if err != nil || got.Path != want || got.Exists != tt.exists || got.Dir != tt.dir || len(got.Links) != tt.links {
						t.Fatalf("%s: got %+v, %v; want %s (exists: %v, directory: %v, links: %d)", name, got, err, want, tt.exists, tt.dir, tt.links)
					}
				}
			}
		})
	}
	t.Run("a directory above a file", func(t *testing.T) {
		if got, err := Locate(root + "/a/file/.."); err == nil {
			t.Errorf("got %+v, want ENOTDIR", got)
		}
	})
}

func Test_Locate_Passes_Links_As_The_Kernel_Does(t *testing.T) {
	dir := treetest.Dir(t)
	treetest.Make(t, dir, "a/f", "l -> a", "up -> ..", "abs -> "+dir+"/a", "chain -> l", "dead -> no/where")
	cases := []struct {
		name, path, want string
		exists           bool
		links            int
	}{
		{"a file", "a/f", "a/f", true, 0},
		{"through a link", "l/f", "a/f", true, 1},
		{"through two", "chain/f", "a/f", true, 2},
		{"through an absolute one", "abs/f", "a/f", true, 1},
		{"slashes and dots", "./a//./f/", "a/f", true, 0},
		{"dot-dot after a link", "l/../a", "a", true, 1},
		{"a dangling link", "dead/x", "no/where/x", false, 1},
		{"missing", "no/such", "no/such", false, 0},
		{"below a file", "a/f/x", "a/f/x", false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at, err := Locate(dir + "/" + c.path)
			if err != nil || at.Path != filepath.Join(dir, c.want) || at.Exists != c.exists || len(at.Links) != c.links {
				t.Errorf("%+v, %v", at, err)
			}
		})
	}
	if _, err := Locate(dir + "/a/f/.."); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("dot-dot of a file: %v", err)
	}
}
