package shell_test

import (
	"bytes"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// say runs a script and returns all that it wrote.
func say(t *testing.T, s *shell.Shell, script string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := s.Run(t.Context(), script, shell.Stdio{Stdout: &out, Stderr: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func Test_A_State_Brings_Everything_Back(t *testing.T) {
	t.Parallel()
	s := shell.New(shell.Options{})
	defer s.Close()
	say(t, s, "cd /tmp; x=1; a=(1 2); f() { echo f$x; }; set -f; alias l=ls; echo one >file; trap 'echo usr' USR1")
	before := s.Save()
	say(t, s, "cd /; x=2; unset a; unset -f f; set +f; unalias l; echo two >/tmp/file; >/tmp/more; trap - USR1")
	if err := s.Restore(before); err != nil {
		t.Fatal(err)
	}
	const look = "pwd; f; echo $x ${a[@]} $-; alias; read -r line <file; echo $line; [ -e more ] || echo gone; trap -p USR1"
	want := "/tmp\nf1\n1 1 2 fhBc\nalias l='ls'\none\ngone\ntrap -- 'echo usr' SIGUSR1\n"
	if got := say(t, s, look); got != want {
		t.Errorf("restored: %q, want %q", got, want)
	}
	other := before.Shell()
	defer other.Close()
	say(t, s, "x=3; echo three >file")
	if got := say(t, other, look); got != want {
		t.Errorf("a machine of the state: %q, want %q", got, want)
	}
	if err := s.Restore(before); err != nil {
		t.Fatal(err)
	}
	if got := say(t, s, look); got != want {
		t.Errorf("restored twice: %q, want %q", got, want)
	}
	stranger := shell.New(shell.Options{})
	defer stranger.Close()
	if err := stranger.Restore(before); err == nil {
		t.Error("a state of another machine was taken")
	}
}

func Test_A_Program_Runs_In_The_Shells_Place(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		args   []string
		signal syscall.Signal
		want   string
		status int
		killed int
	}{
		{"with its arguments", []string{"bash", "-c", `printf '<%s>' "$0" "$@"`, "a b", "$x", "*"}, 0, "<a b><$x><*>", 0, 0},
		{"with its status", []string{"bash", "-c", "exit 3"}, 0, "", 3, 0},
		{"that is not there", []string{"nothing-like-it"}, 0, "bash: line 1: nothing-like-it: command not found\n", 127, 0},
		{"that kills itself", []string{"bash", "-c", "kill -9 $$; echo on"}, 0, "", 137, 9},
		{"that is killed", []string{"bash", "-c", "echo up; read x </dev/fifo"}, syscall.SIGTERM, "", 143, 15},
		{"that answers a signal", []string{"bash", "-c", "trap 'echo caught; exit 7' TERM; while :; do :; done"}, syscall.SIGTERM, "", -1, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := shell.New(shell.Options{})
			defer s.Close()
			say(t, s, "true")
			var out bytes.Buffer
			if row.signal != 0 {
				s.Signal(row.signal) // before the program runs: it must not be lost
			}
			res, err := s.RunScript(t.Context(), shell.Script{Program: row.args, Exit: true, Wait: true}, shell.Stdio{Stdout: &out, Stderr: &out})
			if err != nil {
				t.Fatal(err)
			}
			if row.status == -1 { // It depends on whether the trap was there in time.
				if res.Status != 143 && res.Status != 7 {
					t.Errorf("status %d", res.Status)
				}
				return
			}
			if res.Status != row.status || res.Signal != row.killed || row.signal == 0 && out.String() != row.want {
				t.Errorf("%q, status %d, signal %d; want %q, %d, %d", out.String(), res.Status, res.Signal, row.want, row.status, row.killed)
			}
		})
	}
}

func Test_Wait_Lasts_As_Long_As_A_Process_Can_Write(t *testing.T) {
	t.Parallel()
	tree := vfs.New(vfs.Options{})
	if err := tree.Mknod(vfs.Cred{}, "/p", fs.ModeNamedPipe|0o666, 0); err != nil {
		t.Fatal(err)
	}
	s := shell.New(shell.Options{FS: tree})
	defer s.Close()
	var out strings.Builder
	script := "(read -t 0.2 x <>/p; echo late) & echo now; (read x <>/p) >/dev/null 2>&1 & exec 3>&1"
	begin := time.Now()
	res, err := s.RunScript(t.Context(), shell.Script{Text: script, Exit: true, Wait: true}, shell.Stdio{Stdout: &out})
	if err != nil || res.Status != 0 || out.String() != "now\nlate\n" {
		t.Errorf("%q, %+v, %v after %v", out.String(), res, err, time.Since(begin))
	}
}

func Test_A_Signal_Ends_A_Program_That_Waits(t *testing.T) {
	t.Parallel()
	wait := shell.Command{Name: "wait-for-ever", Run: func(p *shell.Proc) int {
		_, _ = p.Stdout.Write([]byte("waits"))
		<-p.Context().Done()
		return p.Status(p.Context().Err())
	}}
	s := shell.New(shell.Options{Commands: []shell.Command{wait}})
	defer s.Close()
	said := make(chan struct{})
	go func() {
		<-said
		s.Signal(syscall.SIGTERM)
	}()
	out := writerFunc(func(p []byte) (int, error) { close(said); return len(p), nil })
	res, err := s.RunScript(t.Context(), shell.Script{Program: []string{"bash", "-c", "exec wait-for-ever"}, Exit: true, Wait: true}, shell.Stdio{Stdout: out})
	if err != nil || res.Status != 143 || res.Signal != 15 {
		t.Errorf("%+v, %v", res, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
