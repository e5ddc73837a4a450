package proxy

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// alone runs a test again in a session without a terminal.
func alone(t *testing.T) bool {
	t.Helper()
	if !isInForeground() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("without a terminal: %v\n%s", err, out)
	}
	return false
}

func script(t *testing.T, text string) (string, error) {
	t.Helper()
	return runProgram(t.Context(), &policy.Plan{}, []string{"/bin/sh", "-c", text}, []string{"PATH=/usr/bin:/bin"})
}

func Test_Programs_Print_Values(t *testing.T) {
	for _, row := range []struct{ name, text, want, error string }{
		{"what it prints is the value", "echo " + value, value + "\n", ""},
		{"its stderr is not part of the value", "echo talk >&2; echo " + value, value + "\n", ""},
		{"it has no input", "cat; echo " + value, value + "\n", ""},
		{"it does not start where commands could leave something for it", "pwd; echo $PWD", "/\n/\n", ""},
		{"the error holds the last line of its stderr", "echo first >&2; printf 'no such key\\n\\n' >&2; exit 3", "", `/bin/sh: exit status 3: "no such key"`},
		{"its last words are one line for a terminal", `printf 'a\033[31mb\000' >&2; exit 1`, "", `"a\x1b[31mb\x00"`},
		{"its failure without words", "exit 4", "", "/bin/sh: exit status 4"},
		{"the error does not hold its output", "echo " + value + "; exit 5", "", "/bin/sh: exit status 5"},
		{"nor when it says that again", "set -x; echo " + value + "; exit 6", "", "exit status 6"},
		{"nor when that is the last word", "echo " + value + "; echo wrong: " + value + " >&2; exit 7", "", "repeats its output and is not shown"},
		{"a signal", "kill -9 $$", "", "signal: killed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := script(t, row.text)
			if row.error == "" {
				if got != row.want || err != nil {
					t.Errorf("got %q, %v, want %q", got, err, row.want)
				}
				return
			}
			if err == nil || got != "" || !strings.Contains(err.Error(), row.error) || strings.Contains(err.Error(), value) {
				t.Errorf("got %q, %v, want an error with %q", got, err, row.error)
			}
		})
	}
}

func Test_A_Program_That_Prints_Without_End_Is_Bounded(t *testing.T) {
	plan := &policy.Plan{Secrets: []policy.Secret{{Name: "A", FromCommand: []string{"/bin/sh", "-c", "yes | head -c 5000000"}, Env: "A"}}}
	_, err := Open(t.Context(), plan, Options{HostEnv: []string{"PATH=/usr/bin:/bin"}})
	wantError(t, err, sandbox.Invalid, "larger than 64KiB")
}

func Test_A_Program_Finds_No_Others_Where_Commands_Write(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"planted", "safe"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, "gpg"), []byte("#!/bin/sh\necho "+d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "planted"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	plan := &policy.Plan{Mounts: []policy.Mount{{Path: filepath.Join(dir, "planted"), Access: policy.ReadWrite, Dir: true}}, Rules: make([]policy.Rule, 1)}
	path := "PATH=" + filepath.Join(dir, "planted") + ":" + filepath.Join(dir, "link") + ":.:planted:" + filepath.Join(dir, "safe") + ":/usr/bin:/bin"
	got, err := runProgram(t.Context(), plan, []string{"/bin/sh", "-c", "gpg"}, []string{path})
	if got != "safe\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func Test_All_Of_A_Program_Is_Killed(t *testing.T) {
	if !alone(t) {
		return
	}
	lock, ready := filepath.Join(t.TempDir(), "lock"), filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		// The child has no stream of this process, so only a signal ends it.
		text := "(exec 9>" + lock + "; flock 9; echo > " + ready + "; exec sleep 1000 >&- 2>&-) & wait"
		_, err := runProgram(ctx, &policy.Plan{}, []string{"/bin/sh", "-c", text}, []string{"PATH=/usr/bin:/bin"})
		done <- err
	}()
	if _, err := os.ReadFile(ready); err != nil { // until the child has the lock
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("got %v", err)
	}
	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Blocks until the child is gone.
	got := make(chan error, 1)
	go func() { got <- syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }()
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(deadline.Scale(10 * time.Second)):
		t.Error("the program's child lives on")
	}
}

// Test_Asking is run by the tests below on a terminal of its own.
func Test_Asking(t *testing.T) {
	if os.Getenv("GATEWAY_ASK") == "" {
		return
	}
	// agent-sandbox does the same, because it also receives the keys' signals.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	got, err := script(t, os.Getenv("GATEWAY_ASK"))
	t.Logf("value %q, error %v", got, err)
	if err != nil && !strings.Contains(err.Error(), "context canceled") {
		t.Fail()
	}
}

func Test_A_Program_Asks_On_The_Terminal(t *testing.T) {
	for _, row := range []struct{ name, keys, want string }{
		{"the answer reaches it", "open sesame\r", `value "got open sesame\n", error <nil>`},
		{"ctrl-C ends it as a cancellation", "\x03", "context canceled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^Test_Asking$", "-test.v")
			cmd.Env = append(os.Environ(), "GATEWAY_ASK=printf 'passphrase? ' > /dev/tty; read x < /dev/tty; echo got $x")
			tty, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer tty.Close()
			var text bytes.Buffer
			buf := make([]byte, 4096)
			typed := false
			for {
				n, err := tty.Read(buf)
				text.Write(buf[:n])
				if !typed && strings.Contains(text.String(), "passphrase? ") {
					typed = true
					if _, err := tty.WriteString(row.keys); err != nil {
						t.Fatal(err)
					}
				}
				if err != nil {
					break
				}
			}
			if err := cmd.Wait(); err != nil || !strings.Contains(text.String(), row.want) {
				t.Errorf("%v: %s", err, text.String())
			}
		})
	}
}
