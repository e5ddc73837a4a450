package coreutils

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// row is a command line that is run by the real program in a real directory and by ours in a
// virtual one with the same content and path. Output, messages, status and tree must agree.
type row struct {
	setup string // what bash makes in the directory before
	line  string // words in the quotes of a shell; nothing else is special
	stdin string
	env   []string
	loose looseness
}

// looseness is what may differ.
type looseness uint8

const (
	anyOrder     looseness = 1 << iota // lines of output: the order in which a directory is read
	noTimes                            // of the tree
	anyTree                            // the tree: what depends on the order in which a directory is read
	sloppyOutput                       // output that tells of the machine; only status and tree count
)

// outcome is what running a row leaves.
type outcome struct {
	status         int
	stdout, stderr string
	tree           map[string]string
}

// runRows runs rows in both worlds.
func runRows(t *testing.T, rows []row) {
	t.Helper()
	for i, r := range rows {
		t.Run(fmt.Sprintf("%d %s", i, r.line), func(t *testing.T) {
			t.Parallel()
			got, want := runBoth(t, r)
			compare(t, r, got, want)
		})
	}
}

// runBoth runs a row in both worlds, each from the start.
func runBoth(t *testing.T, r row) (got, want outcome) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	prepare(t, work, r.setup)
	tree := importTree(t, work)
	args := splitWords(t, r.line)
	got = runVirtual(t, tree, work, args, r)
	if Raced {
		return got, got
	}
	return got, runReal(t, work, args, r)
}

// runReadOnly runs rows that change nothing, all in one directory that setup made.
func runReadOnly(t *testing.T, setup string, rows []row) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	prepare(t, work, setup)
	tree := importTree(t, work)
	t.Run("rows", func(t *testing.T) {
		for i, r := range rows {
			t.Run(fmt.Sprintf("%d %s", i, r.line), func(t *testing.T) {
				t.Parallel()
				args := splitWords(t, r.line)
				got := runVirtual(t, tree.Fork(), work, args, r)
				if !Raced {
					compare(t, r, got, runReal(t, work, args, r))
				}
			})
		}
	})
}

func prepare(t *testing.T, dir, script string) {
	t.Helper()
	if script == "" {
		return
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", "umask 022\n"+script)
	cmd.Dir, cmd.Env = dir, realEnv(nil)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setup: %v\n%s", err, out)
	}
}

func realEnv(more []string) []string {
	locale := "LC_ALL=C"
	for _, v := range more {
		if strings.HasPrefix(v, "LC_ALL=") {
			locale = v
		}
	}
	return append([]string{locale, "TZ=UTC", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root", "TERM=xterm"}, more...)
}

func runReal(t *testing.T, dir string, args []string, r row) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	path, err := exec.LookPath(args[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: path, Args: args, Dir: dir, Env: realEnv(r.env), Stdin: strings.NewReader(r.stdin)}
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	o := outcome{}
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		o.status = exit.ExitCode()
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			o.status = 128 + int(w.Signal())
		}
	} else if err != nil {
		t.Fatal(err)
	}
	o.stdout, o.stderr, o.tree = out.String(), msg.String(), realTree(t, dir)
	return o
}

func runVirtual(t *testing.T, tree *vfs.FS, dir string, args []string, r row) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, msg bytes.Buffer
	p := shell.NewProc(ctx, shell.ProcOptions{
		FS: tree, Args: args, Env: realEnv(r.env), Dir: dir, Umask: 0o022, Stdin: strings.NewReader(r.stdin),
		Stdout: &out, Stderr: &msg, Commands: Commands(),
	})
	o := outcome{status: p.Run(shell.Spawn{Args: args})}
	o.stdout, o.stderr, o.tree = out.String(), msg.String(), virtualTree(t, tree, dir)
	return o
}

// runOf returns the Run of the program that has the name.
func runOf(t *testing.T, name string) func(p *shell.Proc) int {
	t.Helper()
	for _, c := range Commands() {
		if c.Name == name {
			return c.Run
		}
	}
	t.Fatalf("there is no program %s", name)
	return nil
}

func compare(t *testing.T, r row, got, want outcome) {
	t.Helper()
	if got.status != want.status {
		t.Errorf("status %d, want %d", got.status, want.status)
	}
	if r.loose&sloppyOutput == 0 {
		if r.loose&anyOrder != 0 {
			for _, s := range []*string{&got.stdout, &want.stdout, &got.stderr, &want.stderr} {
				lines := strings.Split(*s, "\n")
				slices.Sort(lines)
				*s = strings.Join(lines, "\n")
			}
		}
		if got.stdout != want.stdout {
			t.Errorf("stdout %q\n  want %q", got.stdout, want.stdout)
		}
		if got.stderr != want.stderr {
			t.Errorf("stderr %q\n  want %q", got.stderr, want.stderr)
		}
	}
	if r.loose&anyTree != 0 {
		return
	}
	paths := make(map[string]bool)
	for p := range got.tree {
		paths[p] = true
	}
	for p := range want.tree {
		paths[p] = true
	}
	for p := range paths {
		g, w := got.tree[p], want.tree[p]
		if r.loose&noTimes != 0 {
			g, _, _ = strings.Cut(g, " mtime")
			w, _, _ = strings.Cut(w, " mtime")
		}
		if g != w {
			t.Errorf("tree: %q is %q\n  want %q", p, g, w)
		}
	}
}

// old tells whether a time was set, rather than being that of the test.
func old(at time.Time) string {
	if time.Since(at) < 24*time.Hour && time.Since(at) > -time.Hour {
		return "now"
	}
	return at.UTC().Format(time.RFC3339Nano)
}

func realTree(t *testing.T, root string) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	first := make(map[uint64]string)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		text := fmt.Sprintf("%s %d:%d", modeString(info.Mode()), st.Uid, st.Gid)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text = "-> " + target
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %q", short(b))
		}
		name := strings.TrimPrefix(path, root)
		if !info.IsDir() && st.Nlink > 1 {
			if other, ok := first[st.Ino]; ok {
				text += " = " + other
			} else {
				first[st.Ino] = name
			}
		}
		tree[name] = text + " mtime " + old(info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func short(b []byte) []byte {
	if len(b) > 200 {
		return append(b[:200:200], fmt.Sprintf("... %d bytes", len(b))...)
	}
	return b
}

func virtualTree(t *testing.T, f *vfs.FS, root string) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	first := make(map[uint64]string)
	var walk func(path string)
	walk = func(path string) {
		info, err := f.Lstat(vfs.Cred{}, path)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%s %d:%d", modeString(info.Mode), info.UID, info.GID)
		switch {
		case info.Mode&fs.ModeSymlink != 0:
			target, err := f.Readlink(vfs.Cred{}, path)
			if err != nil {
				t.Fatal(err)
			}
			text = "-> " + target
		case info.Mode.IsRegular():
			text += fmt.Sprintf(" %q", short(readVirtual(t, f, path)))
		}
		name := strings.TrimPrefix(path, root)
		if !info.IsDir() && info.Nlink > 1 {
			if other, ok := first[info.Ino]; ok {
				text += " = " + other
			} else {
				first[info.Ino] = name
			}
		}
		tree[name] = text + " mtime " + old(info.Mtime)
		if info.IsDir() {
			entries, err := f.ReadDir(vfs.Cred{}, path)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				walk(path + "/" + e.Name)
			}
		}
	}
	walk(root)
	return tree
}

func readVirtual(t *testing.T, f *vfs.FS, path string) []byte {
	t.Helper()
	file, err := f.OpenFile(t.Context(), vfs.Cred{}, path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// importTree makes a tree with what there is below root on the host, with all of its times.
func importTree(t *testing.T, root string) *vfs.FS {
	t.Helper()
	clock := time.Now
	f := vfs.New(vfs.Options{Now: func() time.Time { return clock() }})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := vfs.Cred{}
	for i := range root {
		if root[i] == '/' && i > 0 {
			must(f.Mkdir(c, root[:i], 0o755))
		}
	}
	must(f.Mkdir(c, "/etc", 0o755))
	must(f.Mkdir(c, "/dev", 0o755))
	devNull, err := os.Stat("/dev/null")
	must(err)
	must(f.Mknod(c, "/dev/null", devNull.Mode(), vfs.Device(1, 3)))
	must(f.Mknod(c, "/dev/zero", fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(1, 5)))
	for _, name := range []string{"/etc/passwd", "/etc/group"} {
		b, err := os.ReadFile(name)
		must(err)
		writeVirtual(t, f, name, b)
	}
	first := make(map[uint64]string)
	type stamp struct {
		path                string
		atime, mtime, ctime time.Time
	}
	var stamps []stamp
	must(filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		must(err)
		info, err := os.Lstat(path)
		must(err)
		st := info.Sys().(*syscall.Stat_t)
		if other, ok := first[st.Ino]; ok && !info.IsDir() {
			must(f.Link(c, other, path))
			return nil
		}
		first[st.Ino] = path
		switch {
		case info.IsDir():
			must(f.Mkdir(c, path, 0o755))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			must(err)
			must(f.Symlink(c, target, path))
		case info.Mode()&fs.ModeNamedPipe != 0:
			must(f.Mkfifo(c, path, 0o600))
		default:
			b, err := os.ReadFile(path)
			must(err)
			writeVirtual(t, f, path, b)
		}
		must(f.Chown(c, path, st.Uid, st.Gid, false))
		if info.Mode()&fs.ModeSymlink == 0 {
			must(f.Chmod(c, path, info.Mode()))
		}
		stamps = append(stamps, stamp{path, accessed(st), info.ModTime(), changed(st)})
		return nil
	}))
	if info, err := os.Lstat(filepath.Dir(root)); err == nil {
		must(f.Chmod(c, filepath.Dir(root), info.Mode()))
		stamps = append(stamps, stamp{filepath.Dir(root), info.ModTime(), info.ModTime(), info.ModTime()})
	}
	for _, s := range stamps {
		clock = func() time.Time { return s.ctime } // Nobody sets the time of a change but the clock.
		must(f.Chtimes(c, s.path, s.atime, s.mtime, false))
	}
	clock = time.Now
	return f
}

func writeVirtual(t *testing.T, f *vfs.FS, path string, b []byte) {
	t.Helper()
	file, err := f.OpenFile(t.Context(), vfs.Cred{}, path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// splitWords splits a line at blanks outside of single and double quotes.
func splitWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	var word strings.Builder
	in, quote := false, byte(0)
	for i := range len(line) {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			in, quote = true, c
		case c == ' ':
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteByte(c)
		}
	}
	if in {
		words = append(words, word.String())
	}
	if quote != 0 || len(words) == 0 {
		t.Fatalf("line %q", line)
	}
	return words
}

// newVirtualTree returns a tree with files in /w.
func newVirtualTree(t *testing.T, content map[string]string) *vfs.FS {
	t.Helper()
	f := vfs.New(vfs.Options{})
	if err := f.Mkdir(vfs.Cred{}, "/w", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range content {
		file, err := f.OpenFile(t.Context(), vfs.Cred{}, "/w/"+name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return f
}
