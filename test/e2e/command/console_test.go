package command_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// patience is the time that a console waits for text on an idle machine before the test fails.
const patience = 20 * time.Second

// console is a program on its own terminal, on which the test types.
type console struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	news chan struct{} // gets a value after each read; closed at the end

	mu   sync.Mutex
	text string // output that no expect has consumed
}

// open starts a program on a terminal of 24 rows and 80 columns, in a new directory with a home
// beside it.
func open(t *testing.T, name string, args ...string) *console {
	t.Helper()
	dir := scratchDir(t)
	for _, sub := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = filepath.Join(dir, "project")
	cmd.Env = []string{
		"HOME=" + filepath.Join(dir, "home"), "TERM=xterm", "PS1=prompt>", "HISTFILE=",
		"PATH=" + filepath.Join(scratch, "bin") + ":/usr/local/bin:/usr/bin:/bin",
	}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, cmd: cmd, tty: tty, news: make(chan struct{}, 1)}
	go c.read()
	t.Cleanup(func() {
		if err := tty.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// openSandbox starts agent-sandbox itself.
func openSandbox(t *testing.T, args ...string) *console {
	t.Helper()
	requireBwrap(t)
	return open(t, filepath.Join(scratch, "bin", "agent-sandbox"), args...)
}

func requireBwrap(t *testing.T) {
	t.Helper()
	if err := unavailable(t); err != nil {
		t.Skipf("not available: %v", err)
	}
}

// openShell starts an interactive shell, in which the sandbox is a job.
func openShell(t *testing.T) *console {
	t.Helper()
	requireBwrap(t)
	c := open(t, "bash", "--norc", "--noprofile", "-i")
	c.expect(`prompt>`)
	return c
}

func (c *console) read() {
	defer close(c.news)
	buf := make([]byte, 4096)
	for {
		n, err := c.tty.Read(buf)
		c.mu.Lock()
		c.text += string(buf[:n])
		c.mu.Unlock()
		select {
		case c.news <- struct{}{}:
		default:
		}
		if err != nil { // EIO when the last program has left the terminal
			return
		}
	}
}

// take removes the text up to the end of the first match of re, and reports whether there is one.
func (c *console) take(re *regexp.Regexp) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := re.FindStringIndex(c.text)
	if at != nil {
		c.text = c.text[at[1]:]
	}
	return at != nil
}

// expect waits until the text matches.
func (c *console) expect(pattern string) {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	limit := deadline.Scale(patience)
	timeout := time.After(limit)
	for open := true; !c.take(re); {
		if !open {
			c.t.Fatalf("it ended without %q: %q", pattern, c.text)
		}
		select {
		case _, open = <-c.news:
		case <-timeout:
			c.mu.Lock()
			defer c.mu.Unlock()
			c.t.Fatalf("no %q within %s: %q", pattern, limit, c.text)
		}
	}
}

// keys types text.
func (c *console) keys(s string) {
	c.t.Helper()
	if _, err := c.tty.WriteString(s); err != nil {
		c.t.Fatal(err)
	}
}

// touch makes an empty file in the program's directory.
func (c *console) touch(name string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.cmd.Dir, name), nil, 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// wait waits until the program has ended and the last process has left the
// terminal. It returns the exit status and the rest of the text.
func (c *console) wait() (int, string) {
	c.t.Helper()
	err := c.cmd.Wait()
	limit := deadline.Scale(patience)
	timeout := time.After(limit)
	for more := true; more; {
		select {
		case _, more = <-c.news:
		case <-timeout:
			c.t.Fatalf("it ended, and a process still holds its terminal after %s", limit)
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode(), strings.ReplaceAll(c.text, "\r\n", "\n")
}

// resize changes the window.
func (c *console) resize(rows, cols uint16) {
	c.t.Helper()
	if err := pty.Setsize(c.tty, &pty.Winsize{Rows: rows, Cols: cols}); err != nil {
		c.t.Fatal(err)
	}
}
