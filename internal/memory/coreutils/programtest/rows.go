// Package programtest runs command lines with the programs of package coreutils and with the real programs of
// the machine, and compares what they print and leave.
package programtest

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

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// CompareText runs args over a text on both sides.
func CompareText(t *testing.T, work string, args []string, text string) {
	t.Helper()
	tree := ImportTree(t, work)
	in := Row{Stdin: text}
	got, want := RunVirtual(t, tree, work, args, in), RunReal(t, work, args, in)
	if got.Stdout != want.Stdout || got.Stderr != want.Stderr || got.Status != want.Status {
		t.Fatalf("%q of %q\n is %q, %q\nwant %q, %q", args, text, got.Stdout, got.Stderr, want.Stdout, want.Stderr)
	}
}

// IsCompared reports whether rows run with the real programs, too. Those take most of the time and do the same under the race
// detector, so they do not run with it.
func IsCompared() bool { return !raced }

// RequireReal skips the test with -short: the real programs take most of the time, and without the comparison the test shows
// little. Under the race detector the test runs in memory, which is then what shows something.
func RequireReal(t *testing.T) {
	t.Helper()
	if testing.Short() && !raced {
		t.Skip("with -short nothing is compared with the real programs")
	}
}

// Row is a command line that is run by the real program in a real directory and by ours in a
// virtual one with the same content and path. Output, messages, status and tree must agree.
type Row struct {
	Setup string // what bash makes in the directory before
	Line  string // words in the quotes of a shell; nothing else is special
	Stdin string
	Env   []string
	Loose Looseness
}

// Looseness lists the allowed differences.
type Looseness uint8

// The ways to be loose.
const (
	AnyOrder     Looseness = 1 << iota // lines of output: the order in which a directory is read
	NoTimes                            // of the tree
	AnyTree                            // the tree: what depends on the order in which a directory is read
	SloppyOutput                       // output that depends on the machine; only status and tree count
)

// Outcome is the result of a row.
type Outcome struct {
	Status         int
	Stdout, Stderr string
	Tree           map[string]string
}

// RunRows runs rows in both worlds.
func RunRows(t *testing.T, rows []Row) {
	t.Helper()
	RequireReal(t)
	for i, r := range rows {
		t.Run(fmt.Sprintf("%d %s", i, r.Line), func(t *testing.T) {
			t.Parallel()
			got, want := RunBoth(t, r)
			Compare(t, r, got, want)
		})
	}
}

// RunBoth runs a row in both worlds, each from the start.
func RunBoth(t *testing.T, r Row) (got, want Outcome) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	Prepare(t, work, r.Setup)
	tree := ImportTree(t, work)
	args := SplitWords(t, r.Line)
	got = RunVirtual(t, tree, work, args, r)
	if !IsCompared() {
		return got, got
	}
	return got, RunReal(t, work, args, r)
}

// RunReadOnly runs rows that change nothing, all in one directory that setup made.
func RunReadOnly(t *testing.T, setup string, rows []Row) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	Prepare(t, work, setup)
	tree := ImportTree(t, work)
	t.Run("rows", func(t *testing.T) {
		for i, r := range rows {
			t.Run(fmt.Sprintf("%d %s", i, r.Line), func(t *testing.T) {
				t.Parallel()
				args := SplitWords(t, r.Line)
				if !IsCompared() {
					RunVirtual(t, tree.Fork(), work, args, r)
					return
				}
				// Only one side has seen an account that the machine gained or lost meanwhile.
				for again := 3; ; again-- {
					fork := tree.Fork()
					copyAccounts(t, fork)
					got, want := RunVirtual(t, fork, work, args, r), RunReal(t, work, args, r)
					if again == 0 || hasSameAccounts(t, fork) {
						Compare(t, r, got, want)
						return
					}
				}
			})
		}
	})
}

// Prepare runs a script with bash in dir; an empty script does nothing. A script that changes owners needs root; without it the
// test is skipped.
func Prepare(t *testing.T, dir, script string) {
	t.Helper()
	RequireReal(t)
	if strings.Contains(script, "chown ") && os.Getuid() != 0 {
		t.Skip("only root changes owners: run it as root")
	}
	if script == "" {
		return
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", "umask 022\n"+script)
	cmd.Dir, cmd.Env = dir, RealEnv(nil)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setup: %v\n%s", err, out)
	}
}

// RealEnv returns the environment of both sides with the variables of more. LC_ALL is C unless more sets it.
func RealEnv(more []string) []string {
	locale := "LC_ALL=C"
	for _, v := range more {
		if strings.HasPrefix(v, "LC_ALL=") {
			locale = v
		}
	}
	return append([]string{locale, "TZ=UTC", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root", "TERM=xterm"}, more...)
}

// RunReal runs the real program in dir.
func RunReal(t *testing.T, dir string, args []string, r Row) Outcome {
	t.Helper()
	RequireReal(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	path := require.Command(t, args[0], "")
	cmd := &exec.Cmd{Path: path, Args: args, Dir: dir, Env: RealEnv(r.Env), Stdin: strings.NewReader(r.Stdin)}
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	o := Outcome{}
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		o.Status = exit.ExitCode()
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			o.Status = 128 + int(w.Signal())
		}
	} else if err != nil {
		t.Fatal(err)
	}
	o.Stdout, o.Stderr, o.Tree = out.String(), msg.String(), realTree(t, dir)
	return o
}

// RunVirtual runs the program of package coreutils in dir of the tree.
func RunVirtual(t *testing.T, tree *vfs.FS, dir string, args []string, r Row) Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, msg bytes.Buffer
	p := shell.NewProc(ctx, shell.ProcOptions{
		FS: tree, Args: args, Env: RealEnv(r.Env), Dir: dir, Umask: 0o022, Stdin: strings.NewReader(r.Stdin),
		Stdout: &out, Stderr: &msg, Commands: coreutils.Commands(),
	})
	o := Outcome{Status: p.Run(shell.Spawn{Args: args})}
	o.Stdout, o.Stderr, o.Tree = out.String(), msg.String(), virtualTree(t, tree, dir)
	return o
}

// RunOf returns the Run of the program that has the name.
func RunOf(t *testing.T, name string) func(p *shell.Proc) int {
	t.Helper()
	for _, c := range coreutils.Commands() {
		if c.Name == name {
			return c.Run
		}
	}
	t.Fatalf("there is no program %s", name)
	return nil
}

// Compare reports where got differs from want, except for what the row leaves loose.
func Compare(t *testing.T, r Row, got, want Outcome) {
	t.Helper()
	if got.Status != want.Status {
		t.Errorf("status %d, want %d", got.Status, want.Status)
	}
	if r.Loose&SloppyOutput == 0 {
		if r.Loose&AnyOrder != 0 {
			for _, s := range []*string{&got.Stdout, &want.Stdout, &got.Stderr, &want.Stderr} {
				lines := strings.Split(*s, "\n")
				slices.Sort(lines)
				*s = strings.Join(lines, "\n")
			}
		}
		if got.Stdout != want.Stdout {
			t.Errorf("stdout %q\n  want %q", got.Stdout, want.Stdout)
		}
		if got.Stderr != want.Stderr {
			t.Errorf("stderr %q\n  want %q", got.Stderr, want.Stderr)
		}
	}
	if r.Loose&AnyTree != 0 {
		return
	}
	paths := make(map[string]bool)
	for p := range got.Tree {
		paths[p] = true
	}
	for p := range want.Tree {
		paths[p] = true
	}
	for p := range paths {
		g, w := got.Tree[p], want.Tree[p]
		if r.Loose&NoTimes != 0 {
			g, _, _ = strings.Cut(g, " mtime")
			w, _, _ = strings.Cut(w, " mtime")
		}
		if g != w {
			t.Errorf("tree: %q is %q\n  want %q", p, g, w)
		}
	}
}

// formatTime writes a time that was set. For the time of the test itself it returns "now".
func formatTime(at time.Time) string {
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
		text := fmt.Sprintf("%s %d:%d", filemode.String(info.Mode()), st.Uid, st.Gid)
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
			text += fmt.Sprintf(" %q", shorten(b))
		}
		name := strings.TrimPrefix(path, root)
		if !info.IsDir() && st.Nlink > 1 {
			if other, ok := first[st.Ino]; ok {
				text += " = " + other
			} else {
				first[st.Ino] = name
			}
		}
		tree[name] = text + " mtime " + formatTime(info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func shorten(b []byte) []byte {
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
		text := fmt.Sprintf("%s %d:%d", filemode.String(info.Mode), info.UID, info.GID)
		switch {
		case info.Mode&fs.ModeSymlink != 0:
			target, err := f.Readlink(vfs.Cred{}, path)
			if err != nil {
				t.Fatal(err)
			}
			text = "-> " + target
		case info.Mode.IsRegular():
			text += fmt.Sprintf(" %q", shorten(ReadVirtual(t, f, path)))
		}
		name := strings.TrimPrefix(path, root)
		if !info.IsDir() && info.Nlink > 1 {
			if other, ok := first[info.Ino]; ok {
				text += " = " + other
			} else {
				first[info.Ino] = name
			}
		}
		tree[name] = text + " mtime " + formatTime(info.Mtime)
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

// ReadVirtual returns the content of a file of the tree.
func ReadVirtual(t *testing.T, f *vfs.FS, path string) []byte {
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

// accountFiles hold the users and groups of a machine.
var accountFiles = []string{"/etc/passwd", "/etc/group"}

// copyAccounts gives a tree the users and groups that the machine has.
func copyAccounts(t *testing.T, f *vfs.FS) {
	t.Helper()
	for _, name := range accountFiles {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		WriteVirtual(t, f, name, b)
	}
}

// hasSameAccounts reports whether the machine still has the users and groups that it had at copyAccounts.
func hasSameAccounts(t *testing.T, f *vfs.FS) bool {
	t.Helper()
	return !slices.ContainsFunc(accountFiles, func(name string) bool {
		b, err := os.ReadFile(name)
		return err != nil || !bytes.Equal(b, ReadVirtual(t, f, name))
	})
}

// ImportTree makes a tree with what there is below root on the host, with all of its times.
func ImportTree(t *testing.T, root string) *vfs.FS {
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
	copyAccounts(t, f)
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
			WriteVirtual(t, f, path, b)
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
		clock = func() time.Time { return s.ctime } // Only the clock sets the time of a change.
		must(f.Chtimes(c, s.path, s.atime, s.mtime, false))
	}
	clock = time.Now
	return f
}

// WriteVirtual writes a file of the tree.
func WriteVirtual(t *testing.T, f *vfs.FS, path string, b []byte) {
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

// SplitWords splits a line at blanks outside of single and double quotes.
func SplitWords(t *testing.T, line string) []string {
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

// NewVirtualTree returns a tree with files in /w.
func NewVirtualTree(t *testing.T, content map[string]string) *vfs.FS {
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

// RowsOf makes a row of each line, all with one setup.
func RowsOf(setup string, lines ...string) []Row {
	rows := make([]Row, len(lines))
	for i, l := range lines {
		rows[i] = Row{Setup: setup, Line: l}
	}
	return rows
}

// TarRows makes a row of each line, all with one setup and one looseness.
func TarRows(loose Looseness, setup string, lines ...string) []Row {
	rows := make([]Row, 0, len(lines))
	for _, l := range lines {
		rows = append(rows, Row{Setup: setup, Line: l, Loose: loose})
	}
	return rows
}

// MadeOnce runs a script in a directory of its own and returns a script that copies the result.
func MadeOnce(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	Prepare(t, dir, script)
	return "cp -a " + dir + "/. .\n"
}

// TextRows makes a row of each line, with the same few lines as standard input.
func TextRows(lines []string) []Row {
	var rows []Row
	for _, line := range lines {
		rows = append(rows, Row{Line: line, Stdin: "in one\nin  two\nin two\nIN TWO\n"})
	}
	return rows
}
