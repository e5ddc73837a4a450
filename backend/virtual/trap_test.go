package virtual_test

import (
	"bufio"
	"io"
	"syscall"
	"testing"
	"time"

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

func Test_A_Command_Has_A_Limit_Of_Time_Besides_The_Policys(t *testing.T) {
	for _, row := range []struct {
		name         string
		policy, own  time.Duration
		want         string
		wantTimedOut bool
	}{
		{"its own", 0, 100 * time.Millisecond, "wall-clock limit of 100ms", true},
		{"the lower of both is its own", time.Hour, 100 * time.Millisecond, "wall-clock limit of 100ms", true},
		{"the lower of both is the policy's", 100 * time.Millisecond, time.Hour, "wall-clock limit of 100ms", true},
		{"neither passes", time.Hour, time.Hour, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := sandbox.Create(t.Context(), virtual.New(virtual.Options{}), sandbox.Spec{
				Env: []string{"PATH=/usr/bin:/bin"}, Policy: sandbox.Policy{Limits: sandbox.Limits{Wall: sandbox.Duration(row.policy)}},
			})
			if err != nil {
				t.Fatal(err)
			}
			script := "sleep 1000"
			if !row.wantTimedOut {
				script = "true"
			}
			res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", script}, Wall: sandbox.Duration(row.own)})
			if err != nil || res.TimedOut != row.wantTimedOut || res.Reason != row.want || (res.Code == sandbox.ExitTimeout) != row.wantTimedOut {
				t.Errorf("%+v, %v", res, err)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
