package git

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/treetest"
)

func Test_Search_Finds_Repositories_In_Every_Shape(t *testing.T) {
	dir := treetest.Dir(t)
	treetest.Make(t, dir, "a/.git/HEAD", "a/.git/sub/.git/HEAD", "a/b/c/.git", "d/.git -> ../a/.git", "bare/HEAD", "bare/objects/x", "bare/refs/",
		"bare/inner/.git/", "nobare/HEAD", "nobare/objects", "nobare/refs/", "stop/.git/", "link -> a", "z\xff/.git/")
	for i := range 3000 { // more than one getdents(2) returns at once
		treetest.Make(t, dir, "many/"+strconv.Itoa(i)+"-a-rather-long-name")
	}
	treetest.Make(t, dir, "many/zz/.git/")
	want := []Repository{
		{dir + "/a", Checkout},
		{dir + "/a/b/c", Checkout},
		{dir + "/bare", Bare},
		{dir + "/bare/inner", Checkout},
		{dir + "/d", Checkout},
		{dir + "/many/zz", Checkout},
		{dir + "/z\xff", Checkout},
	}
	if got, named := Search([]string{dir}, map[string]bool{dir + "/stop": true}, NewNames(nil)); !reflect.DeepEqual(got, want) || named != nil {
		t.Errorf("got  %v and %v\nwant %v", got, named, want)
	}
}

func Test_Search_Finds_Names_In_Every_Directory(t *testing.T) {
	dir := treetest.Dir(t)
	treetest.Make(t, dir, ".envrc", "a/b/.VSCode/tasks.json", "a/.envrc -> nowhere", "a/envrc", "stop/.envrc", "a/.git/.envrc", "c/Mise.toml/", "c/.envrc2")
	want := []string{dir + "/.envrc", dir + "/a/.envrc", dir + "/a/b/.VSCode", dir + "/c/Mise.toml"}
	names := NewNames([]string{".envrc", ".vscode", "mise.toml"})
	if _, got := Search([]string{dir, dir + "/a"}, map[string]bool{dir + "/stop": true}, names); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func Test_Reading_Does_Not_Wait_For_A_FIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readFile(path); got != nil {
		t.Errorf("read %q", got)
	}
}

// BenchmarkSearch walks 50,000 files in 5,000 directories.
func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		for j := range 10 {
			sub := fmt.Sprintf("%s/%d/%d", dir, i, j)
			if err := os.MkdirAll(sub, 0o755); err != nil {
				b.Fatal(err)
			}
			for k := range 10 {
				if err := os.WriteFile(fmt.Sprintf("%s/file%d.go", sub, k), nil, 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	for b.Loop() {
		Search([]string{dir}, nil, NewNames([]string{".envrc", ".vscode", "mise.toml"}))
	}
}
