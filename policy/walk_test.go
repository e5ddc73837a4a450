package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"syscall"
	"testing"
)

func TestDiscover(t *testing.T) {
	dir := realDir(t)
	makeTree(t, dir, "a/.git/HEAD", "a/.git/sub/.git/HEAD", "a/b/c/.git", "d/.git -> ../a/.git", "bare/HEAD", "bare/objects/x", "bare/refs/",
		"bare/inner/.git/", "nobare/HEAD", "nobare/objects", "nobare/refs/", "stop/.git/", "link -> a", "z\xff/.git/")
	for i := range 3000 { // more than one getdents(2) returns at once
		makeTree(t, dir, "many/"+strconv.Itoa(i)+"-a-rather-long-name")
	}
	makeTree(t, dir, "many/zz/.git/")
	want := []repository{
		{dir + "/a", repositoryPlain},
		{dir + "/a/b/c", repositoryPlain},
		{dir + "/bare", repositoryBare},
		{dir + "/bare/inner", repositoryPlain},
		{dir + "/d", repositoryPlain},
		{dir + "/many/zz", repositoryPlain},
		{dir + "/z\xff", repositoryPlain},
	}
	if got := discover([]string{dir}, map[string]bool{dir + "/stop": true}); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestReadSmallDoesNotWaitForAFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readSmall(path); got != nil {
		t.Errorf("read %q", got)
	}
}

// BenchmarkDiscover walks 50,000 files in 5,000 directories.
func BenchmarkDiscover(b *testing.B) {
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
		discover([]string{dir}, nil)
	}
}
