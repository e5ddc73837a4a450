//go:build linux

package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// TestMain is also the guest and its runners: real processes, as they are inside.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "runner":
			os.Exit(session.Run())
		case "serve":
			f := os.NewFile(3, "host")
			c, err := net.FileConn(f)
			_ = f.Close()
			if err == nil {
				err = session.Serve(c, session.Options{Runner: []string{"guest", "runner"}})
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// guest starts a guest and connects to it. It checks at the end of the test that all of their processes have
// ended.
func guest(tb testing.TB) (*session.Connection, *exec.Cmd) {
	tb.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	cmd := exec.Command("/proc/self/exe", "serve") //nolint:noctx // it ends with its connection
	cmd.ExtraFiles, cmd.Stderr = []*os.File{theirs}, os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	_ = theirs.Close()
	conn, err := net.FileConn(ours)
	_ = ours.Close()
	if err != nil {
		tb.Fatal(err)
	}
	c, err := session.Connect(tb.Context(), conn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = c.Close()
		_ = cmd.Wait()
	})
	return c, cmd
}

func command(t *testing.T, script string) session.Command {
	t.Helper()
	return session.Command{Args: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "MARK=" + t.Name(), "D=" + t.TempDir()}, Dir: "/"}
}

// run runs a script to its end.
func run(t *testing.T, c *session.Connection, script, input string) (exit sandbox.Exit, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	stdio := sandbox.Stdio{Stdout: &out, Stderr: &errs}
	if input != "" {
		stdio.Stdin = strings.NewReader(input)
	}
	p, err := c.Start(t.Context(), command(t, script), stdio)
	if err != nil {
		t.Fatal(err)
	}
	exit, err = p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return exit, out.String(), errs.String()
}

func Test_Commands_Run_As_Asked(t *testing.T) {
	c, _ := guest(t)
	for _, row := range []struct {
		name, script, input, out, errs string
		code, signal                   int
	}{
		{name: "output and errors apart", script: "echo out; echo err >&2", out: "out\n", errs: "err\n"},
		{name: "the exit status", script: "exit 37", code: 37},
		{name: "a signal", script: "kill -TERM $$", code: 143, signal: 15},
		{name: "no input", script: "wc -c", out: "0\n"},
		{name: "input and its end", script: "cat; echo end", input: "a\x00b", out: "a\x00bend\n"},
		{name: "unread input", script: "echo done", input: strings.Repeat("x", 10<<20), out: "done\n"},
		{name: "a lot of output", script: "head -c 5000000 /dev/zero | tr '\\0' y | wc -c", out: "5000000\n"},
		{name: "the environment and nothing else", script: "env | grep -v '^D=\\|^_=\\|^PWD=\\|^SHLVL=\\|^OLDPWD=' | sort", out: "MARK=" + t.Name() + "/the_environment_and_nothing_else\nPATH=/usr/bin:/bin\n"},
		{name: "a session of its own", script: "[ $(ps -o sid= $$) = $$ ] && echo yes", out: "yes\n"},
		{name: "no descriptor but the three", script: "ls /proc/self/fd | wc -l", out: "4\n"}, // and the one of the directory
		{name: "a background process that writes is waited for", script: "{ sleep 0.1; echo late; } & echo early", out: "early\nlate\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			exit, out, errs := run(t, c, row.script, row.input)
			if exit.Code != row.code || exit.Signal != row.signal || out != row.out || errs != row.errs {
				t.Errorf("%+v, %.200q, %.200q", exit, out, errs)
			}
		})
	}
}

func Test_A_Relative_Path_Is_That_Of_The_Commands_Directory(t *testing.T) {
	c, _ := guest(t)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "program"), []byte("#!/bin/sh\necho \"$0\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{"./program": dir + "/sub", "sub/program": dir, "../sub/program": dir + "/sub"} {
		var out strings.Builder
		p, err := c.Start(t.Context(), session.Command{Args: []string{name}, Dir: at}, sandbox.Stdio{Stdout: &out})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if exit, err := p.Wait(); err != nil || exit.Code != 0 || out.String() != name+"\n" {
			t.Errorf("%s: %+v, %v, %q", name, exit, err, out.String())
		}
	}
}

func Test_Big_Output_Arrives_Whole(t *testing.T) {
	c, _ := guest(t)
	_, out, _ := run(t, c, "cat", strings.Repeat("0123456789abcde\n", 1<<20))
	if len(out) != 16<<20 || out != strings.Repeat("0123456789abcde\n", 1<<20) {
		t.Errorf("%d bytes", len(out))
	}
}

func Test_Commands_That_Cannot_Run_Have_Distinct_Errors(t *testing.T) {
	c, _ := guest(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"script": "#!/no/such/interpreter\n", "garbage": "\x01\x02"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, program, dir string
		status             int
		code               sandbox.Code
	}{
		{"a name that is nowhere", "no-such-command", "/", 127, sandbox.NotFound},
		{"a path that is nowhere", "/no/such/command", "/", 127, sandbox.NotFound},
		{"a path below a file", "/etc/passwd/x", "/", 127, sandbox.NotFound},
		{"a file that is not executable", filepath.Join(dir, "plain"), "/", 126, sandbox.Denied},
		{"a directory", dir, "/", 126, sandbox.Denied},
		{"a missing interpreter", filepath.Join(dir, "script"), "/", 126, sandbox.Denied},
		{"another machine's program", filepath.Join(dir, "garbage"), "/", 126, sandbox.Denied},
		{"a missing directory", "true", "/no/such", 0, sandbox.NotFound},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := c.Start(t.Context(), session.Command{Args: []string{row.program}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: row.dir}, sandbox.Stdio{})
			e, ok := errors.AsType[*sandbox.ExecError](err)
			if sandbox.CodeOf(err) != row.code || ok != (row.status != 0) || ok && (e.Code != row.status || e.Name != row.program) {
				t.Errorf("%v", err)
			}
		})
	}
	if exit, out, _ := run(t, c, "echo fine", ""); exit.Code != 0 || out != "fine\n" {
		t.Errorf("afterwards: %+v %q", exit, out)
	}
}

// marked returns the living processes that belong to this test by a variable in their environment.
func marked(t *testing.T, mark string) []string {
	t.Helper()
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		stat, _ := os.ReadFile(dir + "/stat")
		if err == nil && bytes.Contains(env, []byte("MARK="+mark+"\x00")) && !bytes.Contains(stat, []byte(") Z ")) {
			cmdline, _ := os.ReadFile(dir + "/cmdline")
			out = append(out, filepath.Base(dir)+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return out
}

// hard is a script that starts processes in every way that could escape the kill, prints a line and waits. The shells do not
// execute the last commands themselves: during execve(2) a process has no environment in which it can be found.
const hard = `trap '' TERM HUP INT; mkfifo $D/up; s() { echo >$D/up; sleep 1000 >/dev/null; :; }
s & setsid sh -c 'echo >$D/up; sleep 1001 >/dev/null; :' & (setsid sh -c '(echo >$D/up; sleep 1002 >/dev/null; :) & echo >$D/up; sleep 1003 >/dev/null; :' &)
for i in 1 2 3 4; do read x; done <>$D/up; echo ready; sleep 1004; sleep 1005`

// begin starts a script and waits until it prints that it is ready.
func begin(ctx context.Context, t *testing.T, c *session.Connection, script string) *session.Process {
	t.Helper()
	r, w := io.Pipe()
	p, err := c.Start(ctx, command(t, script), sandbox.Stdio{Stdout: w, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(r, line); err != nil || string(line) != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	return p
}

func Test_The_Whole_Tree_Dies(t *testing.T) {
	for _, row := range []struct {
		name string
		end  func(t *testing.T, p *session.Process, cancel func(), c *session.Connection, g *exec.Cmd)
	}{
		{"when the context ends", func(_ *testing.T, p *session.Process, cancel func(), _ *session.Connection, _ *exec.Cmd) {
			cancel()
			_, _ = p.Wait()
		}},
		{"when it is killed", func(t *testing.T, p *session.Process, _ func(), _ *session.Connection, _ *exec.Cmd) {
			t.Helper()
			if err := p.Signal(unix.SIGKILL); err != nil {
				t.Error(err)
			}
			if exit, err := p.Wait(); err != nil || exit.Code != 137 || exit.Signal != 9 {
				t.Errorf("%+v, %v", exit, err)
			}
		}},
		{"when the host hangs up", func(_ *testing.T, _ *session.Process, _ func(), c *session.Connection, g *exec.Cmd) {
			_ = c.Close()
			_ = g.Wait()
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, g := guest(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := begin(ctx, t, c, hard)
			if left := marked(t, t.Name()); len(left) < 5 {
				t.Fatalf("only these run: %q", left)
			}
			row.end(t, p, cancel, c, g)
			if left := marked(t, t.Name()); len(left) > 0 {
				t.Errorf("these are left: %q", left)
			}
		})
	}
}

func Test_A_Fork_Bomb_Dies(t *testing.T) {
	c, _ := guest(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := begin(ctx, t, c, `echo ready; f() { [ $1 = 0 ] || { f $(($1-1)) & f $(($1-1)) & sleep 0.02; }; }; for i in 1 2 3 4 5 6 7 8 9; do f 6; done; exec sleep 1000`)
	cancel()
	_, _ = p.Wait()
	if left := marked(t, t.Name()); len(left) > 0 {
		t.Errorf("these are left: %q", left)
	}
}

func Test_The_Death_Of_A_Command_Does_Not_End_Another(t *testing.T) {
	c, _ := guest(t)
	first := begin(t.Context(), t, c, hard)
	second := begin(t.Context(), t, c, "echo ready; sleep 999; :")
	_ = first.Signal(unix.SIGKILL)
	_, _ = first.Wait()
	left := marked(t, t.Name()) // without the second sleep while execve(2) runs
	if len(left) == 0 || slices.ContainsFunc(left, func(process string) bool { return !strings.Contains(process, "sleep 999") }) {
		t.Errorf("these live: %q", left)
	}
	_ = second.Signal(unix.SIGTERM)
	if exit, err := second.Wait(); err != nil || exit.Signal != 15 {
		t.Errorf("%+v, %v", exit, err)
	}
}

func Test_Background_Processes_Outlive_Their_Command(t *testing.T) {
	c, g := guest(t)
	if exit, _, _ := run(t, c, "sleep 1000 >/dev/null 2>&1 & (setsid sleep 1001 >/dev/null 2>&1 &)", ""); exit.Code != 0 {
		t.Error(exit)
	}
	live := marked(t, t.Name())
	for range 100 { // a process has no environment while execve(2) runs
		if len(live) == 2 {
			break
		}
		_, _, _ = run(t, c, "unset MARK; sleep 0.05", "")
		live = marked(t, t.Name())
	}
	if len(live) != 2 {
		t.Errorf("these live: %q", live)
	}
	_ = c.Close()
	_ = g.Wait()
	if left := marked(t, t.Name()); len(left) > 0 {
		t.Errorf("these are left: %q", left)
	}
}

func Test_A_Command_That_Kills_Its_Runner_Dies_With_It(t *testing.T) {
	c, _ := guest(t)
	exit, _, _ := run(t, c, `setsid sleep 1000 & sleep 1001 & kill -9 $PPID; sleep 1002`, "")
	if exit.Signal != 9 {
		t.Errorf("%+v", exit)
	}
	if exit, out, _ := run(t, c, "echo fine", ""); exit.Code != 0 || out != "fine\n" {
		t.Errorf("afterwards: %+v %q", exit, out)
	}
	for range 100 {
		if len(marked(t, t.Name())) == 0 {
			return
		}
		_, _, _ = run(t, c, "unset MARK; sleep 0.05", "")
	}
	t.Errorf("these are left: %q", marked(t, t.Name()))
}

func Test_Signals_Pass_Unread_Input(t *testing.T) {
	c, _ := guest(t)
	r, w := io.Pipe()
	p, err := c.Start(t.Context(), command(t, `trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.01; done`), sandbox.Stdio{Stdin: endless{}, Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 6)
	_, _ = io.ReadFull(r, line)
	if err := p.Signal(unix.SIGUSR1); err != nil {
		t.Error(err)
	}
	_, _ = io.ReadFull(r, line[:4])
	if exit, err := p.Wait(); err != nil || exit.Code != 5 || string(line[:4]) != "got\n" {
		t.Errorf("%+v, %v, %q", exit, err, line)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func Test_Many_Commands_At_Once(t *testing.T) {
	c, _ := guest(t)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			want := strconv.Itoa(i)
			var out bytes.Buffer
			p, err := c.Start(t.Context(), command(t, "cat; exit "+strconv.Itoa(i%7)), sandbox.Stdio{Stdin: strings.NewReader(want), Stdout: &out})
			if err != nil {
				t.Error(err)
				return
			}
			if exit, err := p.Wait(); err != nil || exit.Code != i%7 || out.String() != want {
				t.Errorf("%d: %+v, %v, %q", i, exit, err, out.String())
			}
		})
	}
	wg.Wait()
}

func Test_A_Command_With_A_Terminal_Gets_Size_And_Resize(t *testing.T) {
	c, _ := guest(t)
	cmd := command(t, `stty size; test -t 0 && test -t 1 && test -t 2 && echo tty; trap 'stty size; exit 3' WINCH; echo ready; while :; do sleep 0.01; done`)
	cmd.TTY = &sandbox.Terminal{Rows: 24, Cols: 80}
	r, w := io.Pipe()
	p, err := c.Start(t.Context(), cmd, sandbox.Stdio{Stdin: endless0{}, Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1000)
	got := ""
	for !strings.Contains(got, "ready") {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatal(err, got)
		}
		got += string(buf[:n])
	}
	if err := p.Resize(sandbox.Terminal{Rows: 50, Cols: 132}); err != nil {
		t.Error(err)
	}
	go func() {
		_, _ = p.Wait()
		_ = w.Close()
	}()
	rest, _ := io.ReadAll(r)
	exit, err := p.Wait()
	if want := "24 80\r\ntty\r\nready\r\n50 132\r\n"; got+string(rest) != want || exit.Code != 3 || err != nil {
		t.Errorf("%q, %+v, %v", got+string(rest), exit, err)
	}
}

// endless0 is input whose reads block forever.
type endless0 struct{}

func (endless0) Read([]byte) (int, error) { select {} }

// typed is input from a terminal of the caller.
type typed struct{ io.Reader }

func (typed) Terminal() (columns, rows int, ok bool) { return 132, 50, true }

func Test_Input_From_A_Terminal_Is_A_Terminal_Inside(t *testing.T) {
	c, _ := guest(t)
	var out, errs bytes.Buffer
	text := "one\n\x03\x7f\x11two\n"
	cmd := command(t, `test -t 0 && echo tty; test -t 1 || test -t 2 || echo pipes; stty size; cat; exit 3`)
	p, err := c.Start(t.Context(), cmd, sandbox.Stdio{Stdin: typed{strings.NewReader(text)}, Stdout: &out, Stderr: &errs})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(); err != nil || exit.Code != 3 || out.String() != "tty\npipes\n50 132\n"+text || errs.Len() > 0 {
		t.Errorf("%+v, %v, %q, %q", exit, err, out.String(), errs.String())
	}
}

func Test_A_Terminal_Ends_With_Its_Command(t *testing.T) {
	c, _ := guest(t)
	cmd := command(t, `trap '' HUP; sleep 1000 & echo last; exit 4`)
	cmd.TTY = &sandbox.Terminal{Rows: 24, Cols: 80}
	var out bytes.Buffer
	p, err := c.Start(t.Context(), cmd, sandbox.Stdio{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(); err != nil || exit.Code != 4 || out.String() != "last\r\n" {
		t.Errorf("%+v, %v, %q", exit, err, out.String())
	}
}

func Test_Another_Version_Is_Refused(t *testing.T) {
	for _, row := range []struct{ says, want string }{
		{"agent-sandbox session 0\n", "different versions"},
		{"bash: agent-sandbox: command not found\n", ""},
		{"", ""},
		{strings.Repeat("x", 1000), ""},
	} {
		ours, theirs := net.Pipe()
		go func() {
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			_, _ = io.WriteString(theirs, row.says)
			_ = theirs.Close()
		}()
		_, err := session.Connect(t.Context(), ours)
		if sandbox.CodeOf(err) != sandbox.Unavailable {
			t.Errorf("%.50q: %v", row.says, err)
		}
	}
}

func Test_Connect_Does_Not_Wait_For_A_Silent_Guest(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	if _, err := session.Connect(ctx, ours); sandbox.CodeOf(err) != sandbox.Unavailable {
		t.Error(err)
	}
}

func Benchmark_True(b *testing.B) {
	c, _ := guest(b)
	for b.Loop() {
		p, err := c.Start(b.Context(), session.Command{Args: []string{"/bin/true"}, Dir: "/"}, sandbox.Stdio{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}
