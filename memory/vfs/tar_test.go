package vfs_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// zoo holds one of everything that an archive can hold.
func zoo(t *testing.T) *vfs.FS {
	t.Helper()
	f := vfs.New(unlimited)
	for _, err := range []error{
		f.MkdirAll(root, "/d/e", 0o755),
		f.Mkdir(root, "/d/sticky", 0o777|fs.ModeSticky),
		f.WriteFile(t.Context(), root, "/d/file", []byte("text"), 0o640),
		f.WriteFile(t.Context(), root, "/d/big", bytes.Repeat([]byte("0123456789"), 20000), 0o644),
		f.WriteFile(t.Context(), root, "/d/empty", nil, 0o600),
		f.Chown(root, "/d/file", 3000000, 1000, true),
		f.Chmod(root, "/d/file", 0o755|fs.ModeSetuid),
		f.Link(root, "/d/file", "/d/e/hard"),
		f.Symlink(root, "../file", "/d/e/soft"),
		f.Link(root, "/d/e/soft", "/d/e/soft2"),
		f.Symlink(root, strings.Repeat("x", 300), "/d/long"),
		f.Mkfifo(root, "/d/fifo", 0o600),
		f.Mknod(root, "/d/null", 0o666|fs.ModeDevice|fs.ModeCharDevice, vfs.Device(1, 3)),
		f.WriteFile(t.Context(), root, "/d/"+strings.Repeat("ü", 120), []byte("name"), 0o644),
		f.WriteFile(t.Context(), root, "/d/sparse", nil, 0o644),
		f.Truncate(root, "/d/sparse", 10<<20+5),
		f.WriteFile(t.Context(), root, "/d/hole", nil, 0o644),
		f.Truncate(root, "/d/hole", 1<<20),
		f.Chtimes(root, "/d/file", time.Unix(100, 7), time.Unix(1e9, 123456789), true),
		f.Chtimes(root, "/d/e/soft", time.Unix(1, 1), time.Unix(2, 2), false),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, off := range []int64{3 << 20, 7<<20 + 100} {
		writeAt(t, f, "/d/sparse", "island", off)
	}
	want(t, f.Chtimes(root, "/d/e", time.Unix(5, 0), time.Unix(-5, 250000000), true), 0)
	want(t, f.Chtimes(root, "/d/sparse", time.Unix(5, 5), time.Unix(6, 6), true), 0)
	return f
}

func writeAt(t *testing.T, f *vfs.FS, path, text string, off int64) {
	t.Helper()
	file, err := f.OpenFile(t.Context(), root, path, os.O_RDWR, 0)
	want(t, err, 0)
	if _, err := file.WriteAt([]byte(text), off); err != nil {
		t.Fatal(err)
	}
	want(t, file.Close(), 0)
}

// differences describes the differences below two directories.
func differences(a, b *vfs.Snapshot) []string {
	var all []string
	for _, c := range vfs.Diff(a, b) {
		all = append(all, fmt.Sprintf("%s %.40s\n  %v\n  %v", c.Kind, c.Path, c.Old, c.New))
	}
	return all
}

func Test_A_Tree_Comes_Back_From_A_Tar(t *testing.T) {
	f := zoo(t)
	var archive bytes.Buffer
	want(t, f.Snapshot().WriteTar(&archive, "/"), 0)
	if archive.Len() > 1<<20 {
		t.Errorf("the archive has %d bytes: holes are in it", archive.Len())
	}
	g := vfs.New(unlimited)
	if err := g.ReadTar(t.Context(), bytes.NewReader(archive.Bytes()), "/"); err != nil {
		t.Fatal(err)
	}
	want(t, g.Check(), 0)
	if d := differences(f.Snapshot(), g.Snapshot()); len(d) > 0 {
		t.Error(strings.Join(d, "\n"))
	}
	if a, b := f.Usage(), g.Usage(); a != b {
		t.Error(a, b)
	}
	for _, pair := range [][2]string{{"/d/file", "/d/e/hard"}, {"/d/e/soft", "/d/e/soft2"}} {
		a, _ := g.Lstat(root, pair[0])
		b, _ := g.Lstat(root, pair[1])
		if a.Ino != b.Ino || a.Nlink != 2 {
			t.Error(pair, a, b)
		}
	}
}

func Test_GNU_Tar_Reads_The_Archive_And_Is_Read(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("owners and devices need root")
	}
	gnu, err := exec.LookPath("tar")
	if err != nil {
		t.Skip("no tar to compare with: ", err)
	}
	f := zoo(t)
	want(t, f.Unlink(root, "/d/null"), 0) // not every place can hold devices
	dir := t.TempDir()
	archive := filepath.Join(dir, "a.tar")
	out, err := os.Create(archive)
	want(t, err, 0)
	want(t, f.Snapshot().WriteTar(out, "/"), 0)
	want(t, out.Close(), 0)
	real := filepath.Join(dir, "real")
	want(t, os.Mkdir(real, 0o755), 0)
	for _, args := range [][]string{
		{"-xpSf", archive, "--numeric-owner", "-C", real},
		{"-cSf", archive, "--format=pax", "--numeric-owner", "-C", real, "."},
	} {
		if out, err := exec.CommandContext(t.Context(), gnu, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	g := vfs.New(unlimited)
	in, err := os.Open(archive)
	want(t, err, 0)
	defer in.Close()
	if err := g.ReadTar(t.Context(), in, "/"); err != nil {
		t.Fatal(err)
	}
	if d := differences(f.Snapshot(), g.Snapshot()); len(d) > 0 {
		t.Error(strings.Join(d, "\n"))
	}
	if i, _ := g.Stat(root, "/d/sparse"); i.Blocks > 1000 {
		t.Error("the holes are gone:", i.Blocks)
	}
}

func Test_A_Hostile_Tar_Writes_Only_Below_Its_Directory(t *testing.T) {
	type entry = tar.Header
	cases := []struct {
		name    string
		entries []entry
		want    error // nil: it is read
	}{
		{"dots lead nowhere", []entry{{Name: "../../etc/x", Size: 4}}, nil},
		{"an absolute name is taken below", []entry{{Name: "/etc/x", Size: 4}}, nil},
		{"a link to a directory outside is not gone through", []entry{{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, {Name: "l/x", Size: 4}}, syscall.ENOTDIR},
		{"nor one that replaces a directory", []entry{{Name: "l/", Typeflag: tar.TypeDir}, {Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, {Name: "l/x", Size: 4}}, syscall.ENOTDIR},
		{"a file is not written through a link", []entry{{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, {Name: "l", Size: 4}}, nil},
		{"a hard link to the outside finds nothing", []entry{{Name: "l", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}, syscall.ENOENT},
		{"a hard link through a link is refused", []entry{{Name: "s", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, {Name: "l", Typeflag: tar.TypeLink, Linkname: "s/passwd"}}, syscall.ELOOP},
		{"the directory itself is not replaced", []entry{{Name: ".", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}, syscall.EINVAL},
		{"a size beyond the limit is refused at once", []entry{{Name: "x", Size: 1 << 40}}, syscall.EFBIG},
		{"an unknown type is refused", []entry{{Name: "x", Typeflag: 'Z'}}, errors.ErrUnsupported},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			w := tar.NewWriter(&b)
			for _, h := range c.entries {
				if h.Typeflag == 0 {
					h.Typeflag = tar.TypeReg
				}
				h.Mode = 0o644
				if err := w.WriteHeader(&h); err != nil {
					t.Fatal(err)
				}
				_, _ = w.Write(make([]byte, min(h.Size, 4)))
			}
			_ = w.Flush()
			f := vfs.New(vfs.Options{})
			want(t, f.MkdirAll(root, "/etc", 0o755), 0)
			want(t, f.MkdirAll(root, "/in/here", 0o755), 0)
			put(t, f, "/etc/passwd", "root")
			before := f.Snapshot()
			if err := f.ReadTar(t.Context(), &b, "/in/here"); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			for _, d := range vfs.Diff(before, f.Snapshot()) {
				if !strings.HasPrefix(d.Path, "/in/here") {
					t.Errorf("%s %s", d.Kind, d.Path)
				}
			}
			want(t, f.Check(), 0)
		})
	}
}
