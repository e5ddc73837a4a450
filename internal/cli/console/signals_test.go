package console

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// handled is a command that handles signals and ends with 7 after the first.
const handled = `trap 'echo caught TERM; exit 7' TERM; trap 'echo caught INT; exit 7' INT; trap 'echo caught HUP; exit 7' HUP
trap 'echo caught USR1' USR1; echo ready; while :; do sleep 0.01; done`

// startInMemory starts a script in memory and returns when it has printed a line.
func startInMemory(ctx context.Context, t *testing.T, script string) (*sandbox.Running, *output) {
	t.Helper()
	dir := t.TempDir()
	s, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{Workspace: dir, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	out := &output{line: make(chan struct{})}
	run, err := s.Start(ctx, sandbox.Cmd{Args: []string{"sh", "-c", script}}, sandbox.Stdio{Stdout: out, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	<-out.line
	return run, out
}

// output collects what a command prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	once sync.Once
	line chan struct{} // closed when something was printed
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.once.Do(func() { close(o.line) })
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func Test_Relay_Holds_Signals_During_A_Start(t *testing.T) {
	for _, row := range []struct {
		name     string
		terminal bool
		signals  []syscall.Signal
		caught   string
	}{
		{"SIGTERM", false, []syscall.Signal{syscall.SIGTERM}, "caught TERM\n"},
		{"SIGINT", false, []syscall.Signal{syscall.SIGINT}, "caught INT\n"},
		{"Ctrl-C before the command shares the terminal", true, []syscall.Signal{syscall.SIGINT}, "caught INT\n"},
		{"SIGHUP of the shell and of the kernel", true, []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP}, "caught HUP\n"},
		{"SIGUSR1 and SIGTERM in order", false, []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM}, "caught USR1\ncaught TERM\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, ctx := newRelay(t.Context(), row.terminal, func(string) {})
			r.starts = true
			run, out := startInMemory(ctx, t, handled)
			for _, sig := range row.signals {
				r.got(sig)
			}
			if ctx.Err() != nil {
				t.Fatal("the signal ended the start")
			}
			r.attach(Target{Run: run})
			exit, err := run.Wait()
			if got, _ := strings.CutPrefix(out.String(), "ready\n"); err != nil || exit.Code != 7 || got != row.caught {
				t.Errorf("exit status %d, %v, output %q; want 7 and %q", exit.Code, err, got, row.caught)
			}
		})
	}
}

func Test_Relay_Ends_A_Start_That_Lasts(t *testing.T) {
	r, ctx := newRelay(t.Context(), false, func(string) {})
	overdue := make(chan time.Time)
	r.overdue, r.held, r.starts = overdue, []syscall.Signal{syscall.SIGTERM}, true
	go r.loop()
	close(r.ready)
	overdue <- time.Time{}
	<-ctx.Done()
	if sig := r.End(); sig != syscall.SIGTERM || r.HasAttached() {
		t.Errorf("ended by signal %d, want %d", sig, syscall.SIGTERM)
	}
}

func Test_Relay_A_Second_Signal_During_A_Start_Ends_It(t *testing.T) {
	r, ctx := newRelay(t.Context(), false, func(string) {})
	r.starts = true
	r.got(syscall.SIGINT)
	r.got(syscall.SIGTERM)
	if ctx.Err() == nil || r.killed != syscall.SIGTERM {
		t.Errorf("context: %v; ended by signal %d, want %d", ctx.Err(), r.killed, syscall.SIGTERM)
	}
}

func Test_Relay_A_Start_That_Fails_After_A_Signal_Returns_It(t *testing.T) {
	for range 20 { // the loop sees the signal or the end first
		r, _ := newRelay(t.Context(), false, func(string) {})
		r.starts = true
		r.signals <- syscall.SIGINT
		close(r.ready)
		go r.loop()
		if sig := r.Stop(); sig != syscall.SIGINT || r.HasAttached() {
			t.Fatalf("Stop returned signal %d, want %d", sig, syscall.SIGINT)
		}
	}
}
