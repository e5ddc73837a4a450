//go:build linux

package session_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

func Test_A_Freeze_Stops_Processes_That_Are_Hard_To_Stop(t *testing.T) {
	for _, row := range []struct{ name, program, script string }{
		{
			name: "its first thread has ended", program: "/usr/bin/python3",
			script: `import ctypes, threading, time
def count():
    while True:
        with open("count", "a") as f: f.write("x")
        time.sleep(0.005)
threading.Thread(target=count).start()
ctypes.CDLL(None).pthread_exit(0)`,
		},
		{
			name: "its child continues it", program: "/bin/sh",
			script: `P=$$; (while :; do kill -CONT $P; done) & while :; do echo x >>count; done`,
		},
		{
			name: "its grandchild continues both", program: "/bin/sh",
			script: `P=$$; sh -c 'sh -c "while :; do kill -CONT $PPID '$P'; done" & while :; do echo x >>count; done' & wait`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := exec.LookPath(row.program); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			c, _ := guest(t)
			cmd := session.Command{Args: []string{row.program, "-c", row.script}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: dir}
			if _, err := c.Start(t.Context(), cmd, sandbox.Stdio{}); err != nil {
				t.Fatal(err)
			}
			count := filepath.Join(dir, "count")
			for range 3 {
				awaitGrowth(t, count)
				if err := c.Freeze(t.Context()); err != nil {
					t.Fatal(err)
				}
				before := sizeOf(count)
				<-time.After(50 * time.Millisecond) // ten turns of the slowest
				if after := sizeOf(count); after != before {
					t.Errorf("a frozen process has written %d bytes", after-before)
				}
				if err := c.Thaw(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			awaitGrowth(t, count)
		})
	}
}

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// startCounter starts a guest with a command that makes a file grow.
func startCounter(t *testing.T) (c *session.Connection, p *session.Process, count string) {
	t.Helper()
	dir := t.TempDir() // removed after the end of the guest
	c, _ = guest(t)
	cmd := session.Command{Args: []string{"sh", "-c", "while :; do echo x >>count; done"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: dir}
	p, err := c.Start(t.Context(), cmd, sandbox.Stdio{})
	if err != nil {
		t.Fatal(err)
	}
	count = filepath.Join(dir, "count")
	awaitGrowth(t, count)
	return c, p, count
}

func awaitGrowth(t *testing.T, name string) {
	t.Helper()
	late := time.After(deadline.Scale(20 * time.Second))
	for before := sizeOf(name); sizeOf(name) == before; {
		select {
		case <-time.After(time.Millisecond):
		case <-late:
			t.Fatalf("%s does not grow", name)
		}
	}
}

func Test_A_Signal_That_Continues_A_Frozen_Command_Waits_For_The_Thaw(t *testing.T) {
	c, p, count := startCounter(t)
	if err := c.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := sizeOf(count)
	if err := p.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	<-time.After(50 * time.Millisecond)
	if after := sizeOf(count); after != before {
		t.Errorf("a frozen process has written %d bytes", after-before)
	}
	if err := c.Thaw(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitGrowth(t, count)
}

func Test_A_Signal_That_Stops_A_Frozen_Command_Waits_For_The_Thaw(t *testing.T) {
	c, p, count := startCounter(t)
	if err := errors.Join(c.Freeze(t.Context()), p.Signal(unix.SIGSTOP)); err != nil {
		t.Fatal(err)
	}
	<-time.After(50 * time.Millisecond) // for the signal to arrive
	if err := c.Thaw(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-time.After(50 * time.Millisecond) // for the command to stop
	before := sizeOf(count)
	<-time.After(50 * time.Millisecond)
	if after := sizeOf(count); after != before {
		t.Errorf("a stopped process has written %d bytes", after-before)
	}
	if err := p.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	awaitGrowth(t, count)
}

func Test_A_Freeze_After_The_Thaw_Of_Another_Session_Stops_Commands(t *testing.T) {
	dir := t.TempDir()
	c, _ := guest(t)
	cmd := session.Command{Args: []string{"sh", "-c", "while :; do echo x >>count; done"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: dir}
	if _, err := c.Start(t.Context(), cmd, sandbox.Stdio{}); err != nil {
		t.Fatal(err)
	}
	count := filepath.Join(dir, "count")
	// Operate thaws without the knowledge of this session, as another one does.
	if err := errors.Join(c.Freeze(t.Context()), c.Operate(t.Context(), "thaw", nil, nil)); err != nil {
		t.Fatal(err)
	}
	awaitGrowth(t, count)
	if err := c.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := sizeOf(count)
	<-time.After(50 * time.Millisecond)
	if after := sizeOf(count); after != before {
		t.Errorf("a frozen process has written %d bytes", after-before)
	}
}

// A command can send SIGSTOP to the process that starts the next command.
func Test_A_Freeze_Does_Not_Wait_For_Ever_For_A_Command_That_Cannot_Start(t *testing.T) {
	c, supervisor := guest(t)
	run(t, c, "true", "")
	lists, err := filepath.Glob("/proc/" + strconv.Itoa(supervisor.Process.Pid) + "/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	signalAll := func(sig unix.Signal) {
		for _, name := range lists {
			list, _ := os.ReadFile(name) // its thread may have ended
			for field := range strings.FieldsSeq(string(list)) {
				if pid, err := strconv.Atoi(field); err == nil {
					_ = unix.Kill(pid, sig) // it may have ended
				}
			}
		}
	}
	signalAll(unix.SIGSTOP)
	defer signalAll(unix.SIGCONT)
	started := make(chan error, 1)
	go func() {
		_, err := c.Start(t.Context(), command(t, "sleep 60"), sandbox.Stdio{})
		started <- err
	}()
	select {
	case err := <-started:
		t.Skipf("the command was started by another process: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := c.Freeze(ctx); err == nil {
		t.Error("frozen while a command is being started")
	}
	ctx, cancel = context.WithTimeout(t.Context(), deadline.Scale(5*time.Second))
	defer cancel()
	if err := c.Thaw(ctx); err != nil {
		t.Fatal(err)
	}
	if spent := time.Since(begin); spent > deadline.Scale(5*time.Second) {
		t.Errorf("freeze and thaw took %v", spent)
	}
	signalAll(unix.SIGCONT)
	if err := <-started; err != nil {
		t.Error(err)
	}
	if err := errors.Join(c.Freeze(t.Context()), c.Thaw(t.Context())); err != nil {
		t.Error(err)
	}
}
