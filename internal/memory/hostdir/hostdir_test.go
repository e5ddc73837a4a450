package hostdir_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/hostdir"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

var (
	root      = vfs.Cred{}
	unlimited = vfs.Options{Limits: vfs.Limits{Bytes: -1, FileBytes: -1, Nodes: -1}}
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// scene is a host directory with some files, attached at /proj.
func scene(t *testing.T) (dir string, f *vfs.FS, m *hostdir.Mount) {
	t.Helper()
	dir = t.TempDir()
	must(t,
		os.MkdirAll(filepath.Join(dir, "src/deep"), 0o755),
		os.WriteFile(filepath.Join(dir, "a"), []byte("one"), 0o644),
		os.WriteFile(filepath.Join(dir, "src/b"), []byte("two"), 0o755),
		os.WriteFile(filepath.Join(dir, "src/deep/c"), []byte("three"), 0o600),
		os.Symlink("/etc/passwd", filepath.Join(dir, "out")),
		os.Symlink("../../../../../../../../etc", filepath.Join(dir, "up")),
	)
	f = vfs.New(unlimited)
	must(t, f.Mkdir(root, "/proj", 0o755))
	m, err := hostdir.Attach(f, "/proj", dir, hostdir.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return dir, f, m
}

func write(t *testing.T, f *vfs.FS, path, text string) {
	t.Helper()
	must(t, f.WriteFile(t.Context(), root, path, []byte(text), 0o644))
}

func read(t *testing.T, f *vfs.FS, path string) string {
	t.Helper()
	data, err := f.ReadFile(t.Context(), root, path)
	must(t, err)
	return string(data)
}

func host(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return string(data)
}

func kinds(changes []vfs.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprint(c.Kind, " ", c.Path))
	}
	return strings.Join(all, ", ")
}

func Test_A_Host_Directory_Is_Seen_And_Never_Written(t *testing.T) {
	dir, f, m := scene(t)
	if got := read(t, f, "/proj/src/deep/c"); got != "three" {
		t.Fatal(got)
	}
	write(t, f, "/proj/a", "changed")
	write(t, f, "/proj/new", "new")
	must(t, f.Unlink(root, "/proj/src/b"), f.Rename(root, "/proj/src", "/proj/moved"))
	if host(t, dir, "a") != "one" || host(t, dir, "src/b") != "two" {
		t.Fatal("the host was changed")
	}
	changes, err := m.Diff()
	must(t, err)
	want := "modified a, created moved, created moved/deep, created moved/deep/c, created new, deleted src, deleted src/b, deleted src/deep, deleted src/deep/c"
	if got := kinds(changes); got != want {
		t.Fatal(got)
	}
	must(t, m.Discard())
	if got := read(t, f, "/proj/a") + read(t, f, "/proj/src/b"); got != "onetwo" {
		t.Fatal(got)
	}
	if changes, err := m.Diff(); len(changes) > 0 || err != nil {
		t.Fatal(changes, err)
	}
	if u := f.Usage(); u.Bytes != 0 || u.Nodes != 2 {
		t.Fatal(u)
	}
}

func Test_The_Top_Has_The_Attributes_Of_The_Host_Directory(t *testing.T) {
	dir := t.TempDir()
	then := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	must(t, os.Chmod(dir, 0o751), os.Chtimes(dir, then, then))
	f := vfs.New(unlimited)
	must(t, f.Mkdir(root, "/proj", 0o755))
	_, err := f.Protect("/proj", vfs.Fixed) // as below a directory of the system
	must(t, err)
	m, err := hostdir.Attach(f, "/proj", dir, hostdir.Options{UID: 1234, GID: 567})
	must(t, err)
	defer func() { must(t, m.Close()) }()
	info, err := f.Stat(root, "/proj")
	must(t, err)
	if info.UID != 1234 || info.GID != 567 || info.Mode != fs.ModeDir|0o751 || !info.Mtime.Equal(then) {
		t.Errorf("%+v", info)
	}
	must(t, f.WriteFile(t.Context(), vfs.Cred{UID: 1234, GID: 567}, "/proj/new", []byte("x"), 0o644))
}

func Test_Links_Of_The_Host_Lead_Nowhere_Outside(t *testing.T) {
	_, f, _ := scene(t)
	for _, path := range []string{"/proj/out", "/proj/up/passwd", "/proj/../../etc/passwd"} {
		if _, err := f.ReadFile(t.Context(), root, path); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%s: %v", path, err)
		}
	}
	must(t, f.Mkdir(root, "/etc", 0o755))
	write(t, f, "/etc/passwd", "virtual")
	if got := read(t, f, "/proj/out") + read(t, f, "/proj/up/passwd"); got != "virtualvirtual" {
		t.Error(got)
	}
}

func Test_A_Directory_That_Becomes_A_Link_Outside_Is_Not_Followed(t *testing.T) {
	dir, f, _ := scene(t)
	if _, err := f.ReadDir(root, "/proj/src"); err != nil {
		t.Fatal(err)
	}
	secret := t.TempDir()
	must(t, os.Mkdir(filepath.Join(secret, "deep"), 0o755), os.WriteFile(filepath.Join(secret, "deep/c"), []byte("THREE"), 0o600))
	must(t, os.Rename(filepath.Join(dir, "src"), filepath.Join(dir, "gone")), os.Symlink(secret, filepath.Join(dir, "src")))
	if data, err := f.ReadFile(t.Context(), root, "/proj/src/deep/c"); err == nil {
		t.Fatalf("read %q", data)
	}
}

func Test_A_Read_Only_Mount_Refuses_Every_Change(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755), os.WriteFile(filepath.Join(dir, "d/a"), []byte("one"), 0o666))
	f := vfs.New(unlimited)
	m, err := hostdir.Attach(f, "/", dir, hostdir.Options{ReadOnly: true})
	must(t, err)
	defer m.Close()
	changes := map[string]func() error{
		"write":    func() error { return f.WriteFile(t.Context(), root, "/d/a", nil, 0o644) },
		"create":   func() error { return f.WriteFile(t.Context(), root, "/d/b", nil, 0o644) },
		"mkdir":    func() error { return f.Mkdir(root, "/x", 0o755) },
		"unlink":   func() error { return f.Unlink(root, "/d/a") },
		"rename":   func() error { return f.Rename(root, "/d/a", "/d/b") },
		"link":     func() error { return f.Link(root, "/d/a", "/d/b") },
		"symlink":  func() error { return f.Symlink(root, "a", "/d/b") },
		"chmod":    func() error { return f.Chmod(root, "/d/a", 0o600) },
		"chown":    func() error { return f.Chown(root, "/d", 1, 1, true) },
		"touch":    func() error { return f.Touch(root, "/d/a", true) },
		"truncate": func() error { return f.Truncate(root, "/d/a", 0) },
		"remove":   func() error { return f.RemoveAll(root, "/d") },
	}
	for name, change := range changes {
		if err := change(); !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := read(t, f, "/d/a"); got != "one" {
		t.Error(got)
	}
}

func Test_Apply_Makes_The_Host_Equal_And_Then_Nothing_Is_Left(t *testing.T) {
	for seed := range 30 {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			dir, f, m := scene(t)
			r := rand.New(rand.NewPCG(uint64(seed), 4)) //nolint:gosec // The same operations each time.
			for round := range 4 {
				for range 60 {
					change(f, r)
				}
				must(t, f.RemoveAll(root, "/proj/pipe"))
				result, err := m.Apply(t.Context(), hostdir.ApplyOptions{})
				if err != nil || len(result.Skipped) > 0 {
					t.Fatal(round, err, result.Skipped)
				}
				if a, b := hostTree(t, dir), memoryTree(t, f); a != b {
					t.Fatalf("round %d:\nhost\n%s\nmemory\n%s", round, a, b)
				}
				if changes, err := m.Diff(); len(changes) > 0 || err != nil {
					t.Fatal(round, changes, err)
				}
			}
			must(t, m.Discard())
			if a, b := hostTree(t, dir), memoryTree(t, f); a != b {
				t.Fatalf("after discard:\nhost\n%s\nmemory\n%s", a, b)
			}
		})
	}
}

// change does something in the mount.
func change(f *vfs.FS, r *rand.Rand) {
	path := func() string {
		p := "/proj"
		for range 1 + r.IntN(3) {
			p += "/" + []string{"a", "src", "b", "deep", "c", "out"}[r.IntN(6)]
		}
		return p
	}
	p := path()
	switch r.IntN(9) {
	case 0:
		_ = f.Mkdir(root, p, 0o700|fs.FileMode(r.IntN(64)))
	case 1:
		_ = f.RemoveAll(root, p)
	case 2:
		_ = f.Rename(root, p, path())
	case 3:
		_ = f.Symlink(root, "elsewhere", p)
	case 4:
		mode := 0o600 | fs.FileMode(r.IntN(64))
		if os.Getuid() != 0 {
			mode |= 0o100 // Only root reads a directory that cannot be searched.
		}
		_ = f.Chmod(root, p, mode)
	case 5:
		_ = f.Link(root, p, path())
	case 6:
		_ = f.Truncate(root, p, int64(r.IntN(100000)))
	default:
		if file, err := f.OpenFile(nil, root, p, os.O_WRONLY|os.O_CREATE|syscall.O_NOFOLLOW, 0o644); err == nil { //nolint:staticcheck // No pipe.
			_, _ = file.WriteAt([]byte(fmt.Sprint("text ", r.IntN(1000))), int64(r.IntN(3)*40000))
			_ = file.Close()
		}
	}
}

func hostTree(t *testing.T, dir string) string {
	t.Helper()
	return describe(t, os.DirFS(dir))
}

func memoryTree(t *testing.T, f *vfs.FS) string {
	t.Helper()
	sub, err := fs.Sub(f.View(root), "proj")
	must(t, err)
	return describe(t, sub)
}

func describe(t *testing.T, fsys fs.FS) string {
	t.Helper()
	var all []string
	must(t, fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprint(p, " ", i.Mode())
		switch {
		case i.Mode()&fs.ModeSymlink != 0:
			target, err := fs.ReadLink(fsys, p)
			if err != nil {
				return err
			}
			line = fmt.Sprint(p, " -> ", target)
		case i.Mode().IsRegular():
			data, err := fs.ReadFile(fsys, p)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", strings.TrimRight(string(data), "\x00"))
		}
		all = append(all, line)
		return nil
	}))
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func Test_Apply_Refuses_Files_That_Changed_Outside(t *testing.T) {
	dir, f, m := scene(t)
	for _, p := range []string{"a", "src/b", "src/deep/c"} {
		read(t, f, "/proj/"+p)
		write(t, f, "/proj/"+p, "inside")
	}
	write(t, f, "/proj/new", "inside")
	write(t, f, "/proj/fine", "inside")
	late := time.Now().Add(time.Hour)
	must(t,
		os.WriteFile(filepath.Join(dir, "a"), []byte("outside"), 0o644),
		os.Chtimes(filepath.Join(dir, "src/b"), late, late),
		os.Remove(filepath.Join(dir, "src/deep/c")),
		os.WriteFile(filepath.Join(dir, "new"), []byte("outside"), 0o644),
	)
	result, err := m.Apply(t.Context(), hostdir.ApplyOptions{})
	must(t, err)
	if got := kinds(result.Applied); got != "created fine" {
		t.Error(got)
	}
	for _, s := range result.Skipped {
		if s.Reason != hostdir.Conflicting {
			t.Error(s)
		}
	}
	if len(result.Skipped) != 4 || host(t, dir, "a") != "outside" {
		t.Error(result.Skipped)
	}
	result, err = m.Apply(t.Context(), hostdir.ApplyOptions{Force: true, Paths: []string{"a", "src"}})
	must(t, err)
	if got := kinds(result.Applied); got != "modified a, modified src/b, created src/deep/c" || host(t, dir, "src/deep/c") != "inside" {
		t.Error(got, result.Skipped)
	}
	if changes, _ := m.Diff(); kinds(changes) != "modified new" {
		t.Error(kinds(changes))
	}
	m.Refresh()
	result, err = m.Apply(t.Context(), hostdir.ApplyOptions{})
	must(t, err)
	if len(result.Applied) > 0 || len(result.Skipped) != 1 || result.Skipped[0].Reason != hostdir.Conflicting || host(t, dir, "new") != "outside" {
		t.Error("a conflict is forgotten:", result)
	}
	if got := read(t, f, "/proj/new") + read(t, f, "/proj/a"); got != "insideinside" {
		t.Error(got)
	}
}

// A name of a kernel is any bytes but / and NUL.
func Test_Names_That_Are_No_Text_Are_Read_Moved_And_Applied(t *testing.T) {
	dir, f, m := scene(t)
	must(t,
		os.Mkdir(filepath.Join(dir, "d\xfe"), 0o755),
		os.WriteFile(filepath.Join(dir, "d\xfe/\xfdf"), []byte("four"), 0o644),
		os.WriteFile(filepath.Join(dir, "\xff\n.txt"), []byte("five"), 0o644),
		os.Symlink("d\xfe/\xfdf", filepath.Join(dir, "l\xff")),
	)
	if got := read(t, f, "/proj/l\xff") + read(t, f, "/proj/\xff\n.txt"); got != "fourfive" {
		t.Error(got)
	}
	must(t, f.Rename(root, "/proj/\xff\n.txt", "/proj/text"), f.Rename(root, "/proj/a", "/proj/d\xfe/\x80"))
	write(t, f, "/proj/d\xfe/\xfdf", "changed")
	result, err := m.Apply(t.Context(), hostdir.ApplyOptions{})
	must(t, err)
	if len(result.Skipped) > 0 || host(t, dir, "text") != "five" || host(t, dir, "d\xfe/\x80") != "one" || host(t, dir, "d\xfe/\xfdf") != "changed" {
		t.Error(result)
	}
	if _, err := os.Lstat(filepath.Join(dir, "\xff\n.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the old name:", err)
	}
}

// The state that an Apply leaves when it is killed after its last step, before the tree knows of it.
func Test_A_Change_The_Host_Has_Already_Does_Not_Conflict(t *testing.T) {
	dir, f, m := scene(t)
	read(t, f, "/proj/a")
	big := strings.Repeat("inside", 30_000)
	write(t, f, "/proj/a", big)
	write(t, f, "/proj/new", "inside")
	write(t, f, "/proj/mode", "inside")
	write(t, f, "/proj/size", "inside")
	write(t, f, "/proj/end", big)
	must(t,
		f.Symlink(root, "a", "/proj/link"), f.Symlink(root, "a", "/proj/other"), f.Chmod(root, "/proj/new", 0o600),
		os.WriteFile(filepath.Join(dir, "a"), []byte(big), 0o644), os.WriteFile(filepath.Join(dir, "new"), []byte("inside"), 0o600),
		os.Symlink("a", filepath.Join(dir, "link")), os.Symlink("b", filepath.Join(dir, "other")),
		os.WriteFile(filepath.Join(dir, "mode"), []byte("inside"), 0o600), os.WriteFile(filepath.Join(dir, "size"), []byte("inside and more"), 0o644),
		os.WriteFile(filepath.Join(dir, "end"), []byte(big[1:]+"X"), 0o644),
	)
	result, err := m.Apply(t.Context(), hostdir.ApplyOptions{})
	must(t, err)
	if got := kinds(result.Applied); got != "modified a, created link, created new" {
		t.Error(got)
	}
	var kept []string
	for _, s := range result.Skipped {
		kept = append(kept, s.Path+" "+string(s.Reason))
	}
	if got := strings.Join(kept, ", "); got != "end conflict, mode conflict, other conflict, size conflict" {
		t.Error(got)
	}
	if got := host(t, dir, "a") + read(t, f, "/proj/a"); got != big+big {
		t.Error("the file is another now")
	}
}

func Test_Apply_Keeps_Refused_Changes_And_Those_That_Need_Them(t *testing.T) {
	dir, f, m := scene(t)
	must(t, f.MkdirAll(root, "/proj/x/y", 0o755), f.RemoveAll(root, "/proj/src"), f.Mkfifo(root, "/proj/pipe", 0o600))
	write(t, f, "/proj/x/y/z", "z")
	result, err := m.Apply(t.Context(), hostdir.ApplyOptions{Refuse: func(c vfs.Change) string {
		if c.Path == "x" || c.Path == "src/deep/c" {
			return "protected"
		}
		return ""
	}})
	must(t, err)
	if got := kinds(result.Applied); got != "deleted src/b" {
		t.Error(got)
	}
	var skipped []string
	for _, s := range result.Skipped {
		skipped = append(skipped, fmt.Sprint(s.Path, " ", s.Reason))
	}
	want := "pipe refused, src depends, src/deep depends, src/deep/c refused, x refused, x/y depends, x/y/z depends"
	if got := strings.Join(skipped, ", "); got != want {
		t.Error(got)
	}
	if host(t, dir, "src/deep/c") != "three" {
		t.Error("what was refused was removed")
	}
	result, err = m.Apply(t.Context(), hostdir.ApplyOptions{DryRun: true})
	must(t, err)
	if len(result.Applied) != 6 || host(t, dir, "src/deep/c") != "three" {
		t.Error(kinds(result.Applied))
	}
}

func Test_A_Tree_From_Before_The_Mount_Deletes_Nothing(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("one"), 0o644))
	f := vfs.New(unlimited)
	must(t, f.Mkdir(root, "/proj", 0o755))
	before := f.Snapshot()
	m, err := hostdir.Attach(f, "/proj", dir, hostdir.Options{})
	must(t, err)
	defer m.Close()
	with := f.Snapshot()
	for name, undo := range map[string]func(){
		"restored to before":          func() { f.Restore(before) },
		"the mount is renamed":        func() { must(t, f.Rename(root, "/proj", "/elsewhere")) },
		"the directory is gone":       func() { must(t, f.RemoveAll(root, "/proj")) },
		"another one is in its place": func() { must(t, f.RemoveAll(root, "/proj"), f.Mkdir(root, "/proj", 0o755)) },
	} {
		f.Restore(with)
		undo()
		if _, err := m.Apply(t.Context(), hostdir.ApplyOptions{Force: true}); !errors.Is(err, hostdir.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
		if err := m.Discard(); !errors.Is(err, hostdir.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if host(t, dir, "a") != "one" {
		t.Error("the host was changed")
	}
	f.Restore(with)
	if changes, err := m.Diff(); len(changes) != 0 || err != nil {
		t.Error(changes, err)
	}
}

func Test_Refresh_Shows_Outside_Changes(t *testing.T) {
	dir, f, m := scene(t)
	read(t, f, "/proj/a")
	read(t, f, "/proj/src/b")
	write(t, f, "/proj/src/deep/c", "inside")
	late := time.Now().Add(time.Minute)
	must(t,
		os.WriteFile(filepath.Join(dir, "a"), []byte("another"), 0o644),
		os.Chtimes(filepath.Join(dir, "a"), late, late),
		os.Remove(filepath.Join(dir, "src/b")),
		os.WriteFile(filepath.Join(dir, "src/n"), []byte("new"), 0o644),
		os.WriteFile(filepath.Join(dir, "src/deep/c"), []byte("outside"), 0o644),
	)
	if _, err := f.ReadFile(t.Context(), root, "/proj/a"); err == nil {
		if got := read(t, f, "/proj/a"); got != "one" && got != "ano" {
			t.Error(got)
		}
	}
	m.Refresh()
	if got := read(t, f, "/proj/a") + read(t, f, "/proj/src/n") + read(t, f, "/proj/src/deep/c"); got != "anothernewinside" {
		t.Error(got)
	}
	if _, err := f.Stat(root, "/proj/src/b"); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
}

func Test_Refresh_Forgets_No_Conflict(t *testing.T) {
	dir, f, m := scene(t)
	if _, err := f.ReadDir(root, "/proj/src"); err != nil {
		t.Fatal(err)
	}
	write(t, f, "/proj/a", "inside")
	write(t, f, "/proj/new", "inside")
	must(t, f.Unlink(root, "/proj/src/b"), f.Rename(root, "/proj/src/deep", "/proj/moved"))
	late := time.Now().Add(time.Minute)
	must(t,
		os.WriteFile(filepath.Join(dir, "a"), []byte("outside"), 0o644), os.Chtimes(filepath.Join(dir, "a"), late, late),
		os.WriteFile(filepath.Join(dir, "new"), []byte("outside"), 0o644),
		os.WriteFile(filepath.Join(dir, "src/b"), []byte("outside"), 0o644), os.Chtimes(filepath.Join(dir, "src/b"), late, late),
		os.WriteFile(filepath.Join(dir, "src/fresh"), []byte("outside"), 0o644),
		os.WriteFile(filepath.Join(dir, "src/deep/fresh"), []byte("outside"), 0o644),
	)
	m.Refresh()
	result, err := m.Apply(t.Context(), hostdir.ApplyOptions{})
	must(t, err)
	for _, name := range []string{"a", "new", "src/b", "src/fresh"} {
		if host(t, dir, name) != "outside" {
			t.Errorf("%s was lost: %v", name, result)
		}
	}
	if host(t, dir, "moved/c") != "three" {
		t.Error("what is no conflict was not applied:", result)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "src/deep/fresh")); err != nil {
		if host(t, dir, "moved/fresh") != "outside" {
			t.Error("src/deep/fresh was lost:", result)
		}
	} else if string(data) != "outside" {
		t.Error(string(data))
	}
}

func Test_Forks_Have_Changes_Of_Their_Own(t *testing.T) {
	dir, f, m := scene(t)
	g := f.Fork()
	n := m.In(g)
	write(t, f, "/proj/a", "f")
	write(t, g, "/proj/src/b", "g")
	x, err := m.Diff()
	must(t, err)
	y, err := n.Diff()
	must(t, err)
	if kinds(x) != "modified a" || kinds(y) != "modified src/b" {
		t.Fatal(kinds(x), kinds(y))
	}
	if _, err := n.Apply(t.Context(), hostdir.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	if host(t, dir, "a")+host(t, dir, "src/b") != "oneg" {
		t.Fatal("the wrong changes were applied")
	}
}
