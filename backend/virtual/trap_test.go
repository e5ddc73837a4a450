package virtual_test

import (
	"bufio"
	"io"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// A trap may come while the shell reads the file of the program that it is about to run, or in the middle of a builtin.
func Test_A_Trap_That_Exits_Keeps_Its_Status(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 100 {
		s, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{Workspace: dir, Env: []string{"PATH=/usr/bin:/bin"}})
		if err != nil {
			t.Fatal(err)
		}
		r, w := io.Pipe()
		script := `trap 'exit 7' TERM; echo ready; while :; do ` + []string{"sleep 0.001", "let x=1"}[i%2] + `; done`
		run, err := s.Start(t.Context(), sandbox.Cmd{Args: []string{"/bin/sh", "-c", script}}, sandbox.Stdio{Stdout: w})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = bufio.NewReader(r).ReadString('\n')
			if err := run.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			_ = r.Close()
		}()
		if exit, err := run.Wait(); err != nil || exit.Code != 7 {
			t.Fatalf("%+v and %v, want 7", exit, err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
