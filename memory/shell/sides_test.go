package shell_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// bench runs scripts on both sides, each in a new directory of the same name.
type bench struct {
	bash string
	root string
	tree *vfs.Snapshot
	rows atomic.Int64
}

// outcome is what a script gave.
type outcome struct {
	out, err string
	status   int
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	root := tb.TempDir()
	b := &bench{bash: needBash(tb), root: root}
	tree := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 1 << 30, FileBytes: 1 << 30, Nodes: 1 << 20}})
	for _, d := range []string{"/tmp", "/usr/bin", "/etc", root} {
		if err := tree.MkdirAll(vfs.Cred{}, d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	if err := tree.Symlink(vfs.Cred{}, "usr/bin", "/bin"); err != nil {
		tb.Fatal(err)
	}
	if err := shell.AddDevices(tree); err != nil {
		tb.Fatal(err)
	}
	for _, c := range coreutils.Commands() {
		put(tb, tree, "/usr/bin/"+c.Name, shell.Stub(c.Name))
		for _, a := range c.Aliases {
			put(tb, tree, "/usr/bin/"+a, shell.Stub(a))
		}
	}
	put(tb, tree, "/usr/bin/bash", shell.Stub("bash"))
	put(tb, tree, "/usr/bin/sh", shell.Stub("sh"))
	b.tree = tree.Snapshot()
	return b
}

func put(tb testing.TB, tree *vfs.FS, path string, data []byte) {
	tb.Helper()
	f, err := tree.OpenFile(tb.Context(), vfs.Cred{}, path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		tb.Fatal(err)
	}
}

func (b *bench) env(dir string) []string {
	return []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C.UTF-8", "TZ=UTC"}
}

// newDir returns the directory of the next row.
func (b *bench) newDir() string { return filepath.Join(b.root, fmt.Sprintf("r%d", b.rows.Add(1))) }

// times are the parts of a second that a script waits for; the digits behind the point are a group.
var times = regexp.MustCompile(`\b((?:sleep|-t) )0\.([0-9$])`)

// compare returns in what the two sides differ, "" for nothing. What a script says that waits for parts of a second is
// also a matter of how busy the machine is, for bash as for this shell: what differs then must also differ when the
// script waits ten times as long.
func (b *bench) compare(tb testing.TB, r corpusRow) string {
	tb.Helper()
	why := b.compareOnce(tb, r)
	slow := times.ReplaceAllString(r.script, "${1}${2}")
	if why == "" || slow == r.script {
		return why
	}
	tb.Logf("differs, asked again with longer times: %s\n%s", r.script, why)
	r.script = slow
	return b.compareOnce(tb, r)
}

func (b *bench) compareOnce(tb testing.TB, r corpusRow) string {
	tb.Helper()
	dir := b.newDir()
	want, got := b.there(tb, r, dir), b.here(tb, r, dir)
	var diff []string
	if got.out != want.out {
		diff = append(diff, fmt.Sprintf("stdout:\n%s\nwant:\n%s", shown(got.out), shown(want.out)))
	}
	if r.anyStderr == "" && got.err != want.err || r.anyStderr != "" && (got.err == "") != (want.err == "") {
		diff = append(diff, fmt.Sprintf("stderr:\n%s\nwant:\n%s", shown(got.err), shown(want.err)))
	}
	if got.status != want.status {
		diff = append(diff, fmt.Sprintf("status %d, want %d; stderr:\n%s", got.status, want.status, shown(got.err)))
	}
	return strings.Join(diff, "\n")
}

func shown(s string) string {
	if len(s) > 6000 {
		s = s[:3000] + " ... " + s[len(s)-3000:]
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0xfffd }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// rowTime is how long a script may take on either side.
const rowTime = time.Minute

// there runs the row with the machine's bash.
func (b *bench) there(tb testing.TB, r corpusRow, dir string) outcome {
	tb.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(tb.Context(), rowTime)
	defer cancel()
	args := append([]string{"-c", r.script, "bash"}, r.args...)
	stdin := r.stdin
	switch r.way {
	case byFile:
		args = append([]string{"script.sh"}, r.args...)
		if err := os.WriteFile(filepath.Join(dir, "script.sh"), []byte(r.script), 0o644); err != nil {
			tb.Fatal(err)
		}
	case byPipe:
		args, stdin = append([]string{"-s"}, r.args...), r.script
	default:
	}
	cmd := exec.CommandContext(ctx, b.bash, args...)
	cmd.Args[0] = "bash"
	cmd.Dir, cmd.Env, cmd.Stdin = dir, b.env(dir), strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := cmd.Run(); cmd.ProcessState == nil {
		tb.Fatal(err)
	}
	if ctx.Err() != nil {
		tb.Fatalf("bash took longer than %v:\n%s", rowTime, r.script)
	}
	status := cmd.ProcessState.ExitCode()
	if status < 0 {
		if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			status = 128 + int(w.Signal())
		}
	}
	return outcome{out.String(), msg.String(), status}
}

// here runs the row in memory.
func (b *bench) here(tb testing.TB, r corpusRow, dir string) outcome {
	tb.Helper()
	tree := b.tree.FS(vfs.Options{})
	if err := tree.MkdirAll(vfs.Cred{}, dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	sc := shell.Script{Text: r.script, Args: append([]string{}, r.args...), Exit: true, Wait: true}
	stdin := r.stdin
	switch r.way {
	case byFile:
		sc.Name = "script.sh"
		put(tb, tree, dir+"/script.sh", []byte(r.script))
	case byPipe:
		stdin, sc.Text = r.script, `exec bash -s "$@"`
	default:
	}
	sh := shell.New(shell.Options{FS: tree, Env: b.env(dir), Dir: dir, Commands: coreutils.Commands()})
	defer sh.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), rowTime)
	defer cancel()
	var out, msg bytes.Buffer
	res, err := sh.RunScript(ctx, sc, shell.Stdio{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &msg})
	if err != nil {
		tb.Fatalf("%v:\n%s\nstdout:\n%s\nstderr:\n%s", err, r.script, shown(out.String()), shown(msg.String()))
	}
	return outcome{out.String(), msg.String(), res.Status}
}
