package vfs_test

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// sum stands for a file's content.
func sum(b []byte) []byte {
	s := md5.Sum(b)
	return s[:4]
}

// paths describes all there is in a snapshot, as far as Diff looks at it.
func paths(t *testing.T, s *vfs.Snapshot) map[string]string {
	t.Helper()
	f, all := s.FS(vfs.Options{NoAtime: true}), map[string]string{}
	err := fs.WalkDir(f.View(root), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path := "/" + strings.TrimPrefix(name, ".")
		if name != "." {
			path = "/" + name
		}
		i, err := f.Lstat(root, path)
		if err != nil {
			return err
		}
		d := fmt.Sprint(i.Mode, i.UID, i.GID, i.Rdev)
		switch i.Mode.Type() {
		case 0:
			data, err := f.ReadFile(t.Context(), root, path)
			if err != nil {
				return err
			}
			d += fmt.Sprintf("%v %x", i.Mtime, sum(data))
		case fs.ModeSymlink:
			target, err := f.Readlink(root, path)
			if err != nil {
				return err
			}
			d += fmt.Sprint(i.Mtime, target)
		case fs.ModeDir:
		default:
			d += fmt.Sprint(i.Mtime)
		}
		all[path] = d
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checkDiff compares Diff with a comparison of all files.
func checkDiff(t *testing.T, a, b *vfs.Snapshot) {
	t.Helper()
	old, now := paths(t, a), paths(t, b)
	found := map[string]vfs.ChangeKind{}
	for _, c := range vfs.Diff(a, b) {
		if found[c.Path] != 0 {
			t.Fatalf("%s is in the difference twice", c.Path)
		}
		found[c.Path] = c.Kind
	}
	for path := range maps.Keys(old) {
		kind := found[path]
		_, still := now[path]
		switch {
		case !still && kind != vfs.Deleted,
			still && old[path] == now[path] && kind != 0,
			still && old[path] != now[path] && kind != vfs.Modified && kind != vfs.Retyped:
			t.Fatalf("%s: %v\nold %s\nnow %s", path, kind, old[path], now[path])
		}
	}
	for path := range now {
		if _, was := old[path]; !was && found[path] != vfs.Created {
			t.Fatalf("%s is new: %v", path, found[path])
		}
	}
	for path := range found {
		if old[path] == "" && now[path] == "" {
			t.Fatalf("%s was never there", path)
		}
	}
}

// fuzzOps does operations, snapshots, forks and restores, and checks all after each.
func fuzzOps(t *testing.T, data []byte) {
	t.Helper()
	pick := choices(func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := int(data[0])
		data = data[1:]
		if n > 256 && len(data) > 0 {
			b = b<<8 | int(data[0])
			data = data[1:]
		}
		return b % n
	})
	m := newMemory(t)
	m.fs = vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 300000, FileBytes: 200000, Nodes: 40}})
	marks := []*vfs.Snapshot{m.fs.Snapshot()}
	states := []map[string]string{paths(t, marks[0])}
	for len(data) > 0 {
		switch pick(12) {
		case 0:
			marks = append(marks, m.fs.Snapshot())
			states = append(states, paths(t, marks[len(marks)-1]))
		case 1:
			m.fs.Restore(marks[pick(len(marks))])
		case 2:
			other := m.fs.Fork()
			if pick(2) == 0 {
				m.fs, other = other, m.fs
				m.files = [slots]*vfs.File{}
			}
			_ = other.RemoveAll(root, pick.path())
		case 3:
			_ = m.fs.RemoveAll(people[pick(len(people))], pick.path())
		default:
			_, e := m.do(pick.op())
			if int(e) == 9999 {
				t.Fatal("an error without a number")
			}
		}
		if err := m.fs.Check(); err != nil {
			t.Fatal(err)
		}
		u := m.fs.Usage()
		if u.Bytes > u.Limits.Bytes || u.Nodes > u.Limits.Nodes {
			t.Fatal("beyond the limits:", u)
		}
	}
	last := m.fs.Snapshot()
	for i, s := range marks {
		if !maps.Equal(states[i], paths(t, s)) {
			t.Fatal("a snapshot was changed")
		}
		checkDiff(t, s, last)
		checkDiff(t, last, s)
	}
	for _, file := range m.files {
		if file != nil {
			_ = file.Close()
		}
	}
	if err := m.fs.Check(); err != nil {
		t.Fatal(err)
	}
}

func Fuzz_Operations(f *testing.F) {
	for seed := range 20 {
		b := make([]byte, 600)
		x := uint32(seed*7919 + 1)
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = byte(x >> 24)
		}
		f.Add(b)
	}
	f.Fuzz(fuzzOps)
}

func Fuzz_Tar(f *testing.F) {
	t := vfs.New(vfs.Options{})
	for _, err := range []error{
		t.Mkdir(root, "/d", 0o755), t.Symlink(root, "..", "/d/up"), t.Mkfifo(root, "/d/p", 0o600),
		t.WriteFile(f.Context(), root, "/d/f", []byte("text"), 0o644), t.Link(root, "/d/f", "/g"), t.Truncate(root, "/g", 200000),
	} {
		if err != nil {
			f.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := t.Snapshot().WriteTar(&b, "/"); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		g := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 1 << 20, FileBytes: 1 << 20, Nodes: 100}})
		for _, p := range []string{"/out", "/in"} {
			if err := g.Mkdir(root, p, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		before := g.Snapshot()
		_ = g.ReadTar(t.Context(), bytes.NewReader(data), "/in")
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		for _, c := range vfs.Diff(before, g.Snapshot()) {
			if c.Path != "/in" && !strings.HasPrefix(c.Path, "/in/") {
				t.Fatal(c.Path, c.Kind)
			}
		}
		var again bytes.Buffer
		if err := g.Snapshot().WriteTar(&again, "/in"); err != nil {
			t.Fatal(err)
		}
	})
}

func Fuzz_Pack(f *testing.F) {
	t := vfs.New(unlimited)
	for _, err := range []error{
		t.Mkdir(root, "/d", 0o755), t.Symlink(root, "..", "/d/up"),
		t.WriteFile(f.Context(), root, "/d/f", bytes.Repeat([]byte("text"), 40), 0o644), t.Link(root, "/d/f", "/g"),
	} {
		if err != nil {
			f.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := t.Snapshot().WritePack(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), uint16(0), byte(0))
	// What is changed gets its right hashes again: not only the sums are to be put to the test.
	f.Fuzz(func(t *testing.T, data []byte, at uint16, with byte) {
		s, h, err := vfs.ReadPack(bytes.NewReader(data), vfs.Limits{})
		if err == nil {
			reread(t, s, h)
		}
		if s, h, err := forge(data, int(at), with); err == nil {
			reread(t, s, h)
		}
	})
}

// reread checks that an accepted tree is sound.
func reread(t *testing.T, s *vfs.Snapshot, h vfs.Hash) {
	t.Helper()
	var b bytes.Buffer
	again, err := s.WritePack(&b)
	if err != nil || again != h {
		t.Fatal("another hash:", h, again, err)
	}
	g := s.FS(vfs.Options{})
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	if err := g.RemoveAll(root, "/d"); err != nil {
		t.Fatal(err)
	}
	file, err := g.OpenFile(t.Context(), root, "/g", os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err == nil {
		_, _ = file.WriteAt([]byte("x"), 100000)
		_ = file.Close()
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
}

// forge changes one byte of one object of a pack and makes all hashes right again.
func forge(data []byte, at int, with byte) (*vfs.Snapshot, vfs.Hash, error) {
	objects := map[vfs.Hash][]byte{}
	s, top, err := vfs.ReadPack(bytes.NewReader(data), vfs.Limits{})
	if err != nil {
		return nil, top, err
	}
	var order []vfs.Hash
	if _, err := s.Save(nil, func(h vfs.Hash, p []byte) error {
		objects[h] = bytes.Clone(p)
		order = append(order, h)
		return nil
	}); err != nil {
		return nil, top, err
	}
	total := 0
	for _, h := range order {
		p := objects[h]
		if i := at - total; i >= 0 && i < len(p) {
			p[i] = with
		}
		total += len(p)
	}
	forged := map[vfs.Hash][]byte{}
	renamed := map[vfs.Hash]vfs.Hash{}
	for _, h := range order {
		p := objects[h]
		for old, now := range renamed {
			p = bytes.ReplaceAll(p, old[:], now[:])
		}
		now := vfs.HashOf(p)
		forged[now], renamed[h] = p, now
	}
	top = renamed[top]
	s, err = vfs.Load(top, func(h vfs.Hash) ([]byte, error) {
		if p := forged[h]; p != nil {
			return slices.Clone(p), nil
		}
		return nil, vfs.ErrCorrupt
	}, vfs.Limits{})
	return s, top, err
}
