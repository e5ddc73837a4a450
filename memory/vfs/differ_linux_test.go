package vfs_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/rounds"
)

// compare does the same on both and returns the first difference.
func compare(k *kernel, m *memory, o op) error {
	switch o.kind {
	case "read", "pread", "write", "pwrite", "ftruncate":
		o.who = m.users[o.slot] // an open file has the rights of the user that opened it
	case "open":
		if i, err := m.fs.Stat(root, o.path); err == nil && i.Mode&fs.ModeDevice != 0 {
			return nil // the real directory may be on a mount without devices
		}
	case "seek":
		if f := m.files[o.slot]; f != nil {
			if i, err := f.Stat(); err == nil && i.IsDir() {
				return nil // offsets of directories depend on the file system
			}
		}
	}
	if f := m.files[o.slot]; f != nil && o.kind == "write" {
		if i, err := f.Stat(); err == nil && i.Mode&fs.ModeNamedPipe != 0 {
			o.n %= 64 // how much fits depends on pages
		}
	}
	want, e := k.do(o)
	got, e2 := m.do(o)
	if e == syscall.EINVAL && e2 == syscall.EINVAL || e == e2 && want == got {
		return nil
	}
	if len(want) > 100 || len(got) > 100 {
		want, got = fmt.Sprintf("%d bytes %x", len(want), sum([]byte(want))), fmt.Sprintf("%d bytes %x", len(got), sum([]byte(got)))
	}
	return fmt.Errorf("%v\nkernel %q %w (%d)\nmemory %q %w (%d)", o, want, e, int(e), got, e2, int(e2))
}

// trees compares all there is, and which times changed since before.
func trees(k *kernel, m *memory, o op, before [2]map[string]node) ([2]map[string]node, error) {
	a, b := k.tree(), m.tree()
	for path, x := range a {
		y, ok := b[path]
		switch old, older := before[0][path], before[1][path]; {
		case !ok:
			return before, fmt.Errorf("memory lacks %.60q", path)
		case x.text != y.text:
			return before, fmt.Errorf("%.60q\nkernel %.200s\nmemory %.200s", path, x.text, y.text)
		case old.ino != x.ino: // another file
		case o.kind == "truncate": // ext4 sets times also if the size stays; others do not
		case (x.mtime != old.mtime) != (y.mtime != older.mtime):
			return before, fmt.Errorf("%.60q mtime changed: kernel %v, memory %v", path, x.mtime != old.mtime, y.mtime != older.mtime)
		case (x.ctime != old.ctime) != (y.ctime != older.ctime):
			return before, fmt.Errorf("%.60q ctime changed: kernel %v, memory %v", path, x.ctime != old.ctime, y.ctime != older.ctime)
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			return before, fmt.Errorf("memory has %.60q too much", path)
		}
	}
	return [2]map[string]node{a, b}, nil
}

// run does random operations on both until one differs.
func run(k *kernel, m *memory, r *rand.Rand, length int) error {
	var state [2]map[string]node
	var trail []string
	for range length {
		o := choices(r.IntN).op()
		trail = append(trail, o.String())
		fault := compare(k, m, o)
		if fault == nil {
			state, fault = trees(k, m, o, state)
		}
		// Snapshots must not change the visible tree.
		if fault == nil && r.IntN(10) == 0 {
			m.fs.Snapshot()
			fault = m.fs.Check()
		}
		if fault != nil {
			return fmt.Errorf("after %d operations:\n%s\n%w", len(trail), strings.Join(trail[max(0, len(trail)-6):], "\n"), fault)
		}
	}
	return nil
}

// seeds is the number of random sequences that are compared with the kernel.
const seeds = 6

func Test_Random_Operations_Behave_As_In_The_Kernel(t *testing.T) {
	for round := range rounds.Of(seeds) {
		t.Run(fmt.Sprint("seed ", round), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(round), 1)) //nolint:gosec // The same operations each time.
			var fault error
			onKernel(t, func(k *kernel) { fault = run(k, newMemory(t), r, 400) })
			if fault != nil {
				t.Fatal(fault)
			}
		})
	}
}

// populate does the operations that can make a layer.
func populate(k *kernel, r *rand.Rand) {
	for range 300 {
		o := choices(r.IntN).op()
		switch o.kind {
		case "mkdir", "mkfifo", "mkreg", "symlink", "open", "write", "chmod", "chown", "unlink":
			o.flag = o.flag&^syscall.O_NOFOLLOW | os.O_CREATE | os.O_WRONLY
			o.who = vfs.Cred{}
			_, _ = k.do(o)
		}
	}
	for i := range slots {
		_, _ = k.do(op{kind: "close", slot: i})
	}
	_, _ = k.do(op{kind: "chown", path: "/"})
	_, _ = k.do(op{kind: "chmod", path: "/", mode: 0o755})
}

func Test_Random_Operations_On_A_Layer_Behave_As_In_The_Kernel(t *testing.T) {
	for round := range rounds.Of(seeds) {
		t.Run(fmt.Sprint("seed ", round), func(t *testing.T) {
			seed := func() *rand.Rand { return rand.New(rand.NewPCG(uint64(round), 2)) } //nolint:gosec // The same operations each time.
			var dir string
			onKernel(t, func(k *kernel) {
				populate(k, seed())
				dir = k.dir
			})
			lower, fault := os.OpenRoot(dir)
			if fault != nil {
				t.Fatal(fault)
			}
			defer lower.Close()
			before := shape(t, lower)
			onKernel(t, func(k *kernel) {
				populate(k, seed())
				m := newMemory(t)
				k.noLinks, m.noLinks = true, true
				var l *vfs.Layer
				l, fault = m.fs.Attach("/", lower.FS(), vfs.LayerOptions{Owner: func(i fs.FileInfo) (uid, gid uint32) {
					st := i.Sys().(*syscall.Stat_t)
					return st.Uid, st.Gid
				}})
				if fault == nil {
					r := seed()
					r.Uint64()
					fault = run(k, m, r, 300)
					_ = l.Close()
				}
			})
			if fault != nil {
				t.Fatal(fault)
			}
			if after := shape(t, lower); after != before {
				t.Fatalf("the layer was changed:\n%s\n%s", before, after)
			}
		})
	}
}

// shape describes a real directory.
func shape(t *testing.T, r *os.Root) string {
	t.Helper()
	var b strings.Builder
	err := fs.WalkDir(r.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, i.Mode(), i.Size(), i.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
