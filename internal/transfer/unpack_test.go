package transfer_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/transfer"
)

// member is one of an archive.
type member struct {
	kind       byte
	name, link string
	text       string
	mode       int64
}

func archive(tb testing.TB, members ...member) []byte {
	tb.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, m := range members {
		if m.mode == 0 {
			m.mode = 0o644
			if m.kind == dirKind {
				m.mode = 0o755
			}
		}
		h := &tar.Header{Typeflag: m.kind, Name: m.name, Linkname: m.link, Size: int64(len(m.text)), Mode: m.mode}
		if err := w.WriteHeader(h); err != nil {
			tb.Fatal(err)
		}
		if _, err := io.WriteString(w, m.text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// place is a directory to extract into, and a secret outside of it that no test may
// change.
func place(tb testing.TB) (dir string, root *os.Root) {
	tb.Helper()
	top := tb.TempDir()
	dir = filepath.Join(top, "tree")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Mkdir(top+"/outside", 0o755), os.WriteFile(top+"/outside/secret", []byte("secret"), 0o600)); err != nil {
		tb.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = root.Close()
		if got := tree(tb, filepath.Join(top, "outside")); !slices.Equal(got, []string{"secret -rw------- secret"}) {
			tb.Errorf("outside: %q", got)
		}
		if entries, err := os.ReadDir(top); err != nil || len(entries) != 2 {
			tb.Errorf("beside the tree: %v, %v", entries, err)
		}
	})
	return dir, root
}

// tree describes the entries below dir.
func tree(tb testing.TB, dir string) []string {
	tb.Helper()
	out := []string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		what := ""
		switch info.Mode().Type() {
		case 0:
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			what = " " + string(data[:min(len(data), 20)])
		case fs.ModeSymlink:
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			out = append(out, rel+" -> "+link)
			return nil
		default:
		}
		out = append(out, fmt.Sprintf("%s %s%s", rel, info.Mode(), what))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

const (
	dirKind, regKind, linkKind, hardKind = tar.TypeDir, tar.TypeReg, tar.TypeSymlink, tar.TypeLink
)

// Y12: no member of an archive, and no link in it, writes outside of the directory.
func Test_Unpack_Creates_Files_Only_Below_Its_Root(t *testing.T) {
	for _, row := range []struct {
		name    string
		members []member
		want    []string
		left    []string
		err     error
	}{
		{name: "files, directories and links", members: []member{
			{kind: dirKind, name: "./"},
			{kind: dirKind, name: "d/", mode: 0o750},
			{kind: regKind, name: "d/f", text: "f", mode: 0o6755},
			{kind: regKind, name: "d/new\nline", text: "n"},
			{kind: regKind, name: "deep/er/g", text: ""},
			{kind: linkKind, name: "d/l", link: "f"},
			{kind: linkKind, name: "d/up", link: "../deep"},
			{kind: hardKind, name: "h", link: "d/f"},
		}, want: []string{
			"d drwxr-x---", "d/f -rwxr-xr-x f", "d/l -> f", "d/new\nline -rw-r--r-- n", "d/up -> ../deep", "deep drwxr-xr-x",
			"deep/er drwxr-xr-x", "deep/er/g -rw-r--r-- ", "h -rwxr-xr-x f",
		}},
		{name: "a name with ..", members: []member{{kind: regKind, name: "../outside/secret", text: "x"}}, err: transfer.ErrHostile},
		{name: "a name with .. in the middle", members: []member{{kind: regKind, name: "a/../../outside/secret", text: "x"}}, err: transfer.ErrHostile},
		{name: "an absolute name", members: []member{{kind: regKind, name: "/etc/x", text: "x"}}, err: transfer.ErrHostile},
		{name: "a link that leaves", members: []member{
			{kind: linkKind, name: "l", link: "../outside"},
			{kind: linkKind, name: "m", link: "/etc"},
			{kind: linkKind, name: "n", link: "a/../../x"},
			{kind: linkKind, name: "o", link: "a/.."},
			{kind: regKind, name: "kept", text: "k"},
		}, want: []string{"kept -rw-r--r-- k"}, left: []string{"l", "m", "n", "o"}},
		{name: "a file below a link", members: []member{
			{kind: dirKind, name: "d/"}, {kind: linkKind, name: "l", link: "d"}, {kind: regKind, name: "l/f", text: "x"},
		}, want: []string{"d drwxr-xr-x", "l -> d"}, err: transfer.ErrHostile},
		{name: "a directory in the place of a link", members: []member{
			{kind: dirKind, name: "d/"}, {kind: linkKind, name: "l", link: "d"}, {kind: dirKind, name: "l/"},
		}, want: []string{"d drwxr-xr-x", "l -> d"}, err: transfer.ErrHostile},
		{name: "a link in the place of a directory", members: []member{
			{kind: dirKind, name: "d/"}, {kind: linkKind, name: "d", link: "e"},
		}, want: []string{"d drwxr-xr-x"}, err: transfer.ErrHostile},
		{name: "a file in the place of a link", members: []member{
			{kind: regKind, name: "f", text: "old"}, {kind: linkKind, name: "l", link: "f"}, {kind: regKind, name: "l", text: "new"},
		}, want: []string{"f -rw-r--r-- old", "l -rw-r--r-- new"}},
		{name: "a file below a file", members: []member{
			{kind: regKind, name: "f", text: "f"}, {kind: regKind, name: "f/g", text: "g"},
		}, want: []string{"f -rw-r--r-- f"}, err: transfer.ErrHostile},
		{name: "a hard link to what leaves", members: []member{{kind: hardKind, name: "h", link: "../outside/secret"}}, err: transfer.ErrHostile},
		{name: "a hard link to a link", members: []member{
			{kind: linkKind, name: "l", link: "f"}, {kind: hardKind, name: "h", link: "l"},
		}, want: []string{"l -> f"}, err: transfer.ErrHostile},
		{name: "devices and pipes", members: []member{
			{kind: tar.TypeChar, name: "c"}, {kind: tar.TypeBlock, name: "b"}, {kind: tar.TypeFifo, name: "p"},
		}, left: []string{"c", "b", "p"}},
		{name: "the root as a file", members: []member{{kind: regKind, name: ".", text: "x"}}, err: transfer.ErrHostile},
		{name: "a directory that nothing can be put into", members: []member{
			{kind: dirKind, name: "d/", mode: 0o555}, {kind: regKind, name: "d/f", text: "f"},
		}, want: []string{"d dr-xr-xr-x", "d/f -rw-r--r-- f"}},
		{name: "too many bytes", members: []member{
			{kind: regKind, name: "a", text: strings.Repeat("x", 600)}, {kind: regKind, name: "b", text: strings.Repeat("x", 600)},
		}, want: []string{"a -rw-r--r-- xxxxxxxxxxxxxxxxxxxx"}, err: transfer.ErrTooBig},
		{name: "too many entries", members: slices.Repeat([]member{{kind: dirKind, name: "d/"}}, 30), want: []string{"d drwxr-xr-x"}, err: transfer.ErrTooBig},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, root := place(t)
			left, err := transfer.Unpack(t.Context(), bytes.NewReader(archive(t, row.members...)), root, transfer.Options{
				Limits: transfer.Limits{Bytes: 1000, Entries: 20},
			})
			if !errors.Is(err, row.err) || !slices.Equal(left, row.left) {
				t.Errorf("left %q, error %v", left, err)
			}
			if row.want == nil {
				row.want = []string{}
			}
			if got := tree(t, dir); !slices.Equal(got, row.want) {
				t.Errorf("\ngot  %q\nwant %q", got, row.want)
			}
			_ = os.Chmod(dir+"/d", 0o755) // so that it can be removed
		})
	}
}

// Y12: the same holds for links that existed before.
func Test_Links_Of_The_Place_Are_Not_Written_Through(t *testing.T) {
	dir, root := place(t)
	for name, target := range map[string]string{"in": "real", "out": "../outside", "file": "../outside/secret"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in/f", "out/secret"} {
		_, err := transfer.Unpack(t.Context(), bytes.NewReader(archive(t, member{kind: regKind, name: name, text: "x"})), root, transfer.Options{})
		if !errors.Is(err, transfer.ErrHostile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := transfer.Unpack(t.Context(), bytes.NewReader(archive(t, member{kind: regKind, name: "file", text: "x"})), root, transfer.Options{})
	if got := tree(t, dir); err != nil || !slices.Contains(got, "file -rw-r--r-- x") {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_An_Archive_That_Ends_Too_Early_Is_An_Error(t *testing.T) {
	whole := archive(t, member{kind: regKind, name: "f", text: strings.Repeat("x", 5000)})
	for _, n := range []int{100, 600, 3000} {
		_, root := place(t)
		if _, err := transfer.Unpack(t.Context(), bytes.NewReader(whole[:n]), root, transfer.Options{}); err == nil {
			t.Errorf("%d bytes are enough", n)
		}
	}
}

func Test_Pack_Omits_Hidden_Directories_With_Their_Entries(t *testing.T) {
	from, source := place(t)
	to, dest := place(t)
	for _, name := range []string{"kept", "d/kept", "d/hidden", "hide/a/b"} {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o755)
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	err := transfer.PackWithout(t.Context(), &archive, source, func(name string, _ fs.FileMode) bool { return name == "hide" || name == "d/hidden" })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Unpack(t.Context(), &archive, dest, transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	var got []string
	err = filepath.WalkDir(to, func(name string, d fs.DirEntry, err error) error {
		got = append(got, strings.TrimPrefix(name, to))
		return err
	})
	if want := []string{"", "/d", "/d/kept", "/kept"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q; %v", got, want, err)
	}
}

func Test_A_Tree_Is_Unchanged_After_Pack_And_Unpack(t *testing.T) {
	from, source := place(t)
	to, dest := place(t)
	files := map[string]int{"empty": 0, "new\nline": 3, "-rf": 4, "invalid-\xff": 5, "a/b/c/d": 70_000, strings.Repeat("n", 255): 1, "a/" + strings.Repeat("m", 255): 600_000}
	for name, size := range files {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o755)
		if err := os.WriteFile(filepath.Join(from, name), bytes.Repeat([]byte{'x'}, size), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("a/b", from+"/l"), os.Symlink("nowhere", from+"/dangling"), os.Mkdir(from+"/none", 0o700)); err != nil {
		t.Fatal(err)
	}
	sparse, err := os.Create(from + "/sparse")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sparse.Truncate(10<<20), sparse.Close()); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(transfer.Pack(t.Context(), w, source)) }()
	left, err := transfer.Unpack(t.Context(), r, dest, transfer.Options{})
	if err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if got, want := tree(t, to), tree(t, from); !slices.Equal(got, want) {
		t.Errorf("\ngot  %q\nwant %q", got, want)
	}
	for name, size := range files {
		a, _ := os.Stat(filepath.Join(from, name))
		b, err := os.Stat(filepath.Join(to, name))
		if err != nil || b.Size() != int64(size) || a.ModTime().Unix() != b.ModTime().Unix() {
			t.Errorf("%q: %v, %v", name, b, err)
		}
	}
}

func Fuzz_Unpack(f *testing.F) {
	f.Add(archive(f, member{kind: dirKind, name: "d/"}, member{kind: regKind, name: "d/f", text: "f"}))
	f.Add(archive(f, member{kind: linkKind, name: "l", link: "../outside"}, member{kind: regKind, name: "l/secret", text: "x"}))
	f.Add(archive(f, member{kind: hardKind, name: "h", link: "../outside/secret"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir, root := place(t)
		_, _ = transfer.Unpack(t.Context(), bytes.NewReader(data), root, transfer.Options{Limits: transfer.Limits{Bytes: 1 << 20, Entries: 100}})
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
			if d != nil && d.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 {
				t.Errorf("%s is %s", name, d.Type())
			}
			if d != nil && d.Type() == fs.ModeSymlink {
				if real, err := filepath.EvalSymlinks(name); err == nil && real != dir && !strings.HasPrefix(real, dir+"/") {
					t.Errorf("%s leads to %s", name, real)
				}
			}
			_ = os.Chmod(name, 0o700) // so that it can be removed
			return nil
		})
	})
}
