package guest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// ignoring starts argv from a shell that ignores and blocks the same signals as the outer
// process of a terminal session, and returns the signals that the last program finds
// ignored and blocked.
func ignoring(t *testing.T, argv ...string) string {
	t.Helper()
	script := `trap '' INT QUIT TSTP TTIN TTOU HUP PIPE TERM CHLD USR1; exec "$@"`
	cmd := exec.CommandContext(t.Context(), "/bin/bash", append([]string{"-c", script, "sh"}, argv...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func signalMask(t *testing.T, status, field string) uint64 {
	t.Helper()
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			mask, err := strconv.ParseUint(strings.TrimSpace(v), 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			return mask
		}
	}
	t.Fatalf("no %s in %q", field, status)
	return 0
}

func Test_Init_TTY_Gives_Signals_Their_Default_Action(t *testing.T) {
	guest := guesttest.Program(t)
	before := ignoring(t, "cat", "/proc/self/status")
	if signalMask(t, before, "SigIgn") == 0 {
		t.Fatal("the test's shell ignores nothing, so there is nothing to reset")
	}
	after := ignoring(t, guest, "init", "--tty", "--", "cat", "/proc/self/status")
	for _, field := range []string{"SigIgn", "SigBlk", "SigCgt"} {
		if mask := signalMask(t, after, field); mask != 0 {
			t.Errorf("%s is %#x after init --tty, want 0", field, mask)
		}
	}
	const interrupt = 1 << 1
	if plain := ignoring(t, guest, "init", "--", "cat", "/proc/self/status"); signalMask(t, plain, "SigIgn")&interrupt == 0 {
		t.Error("init without --tty changed what SIGINT does")
	}
}

func Test_Init_Unblocks_Signals(t *testing.T) {
	script := `import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR1, signal.SIGRTMIN})
os.execv(sys.argv[1], sys.argv[1:])`
	out, err := exec.CommandContext(t.Context(), require.Command(t, "python3", ""), "-c", script, guesttest.Program(t), "init", "--tty", "--", "cat", "/proc/self/status").Output()
	if err != nil {
		t.Fatal(err)
	}
	if mask := signalMask(t, string(out), "SigBlk"); mask != 0 {
		t.Errorf("SigBlk is %#x", mask)
	}
}

func Test_Init_Finds_The_Command_As_A_Shell_Would(t *testing.T) {
	dir := t.TempDir()
	guesttest.WriteFile(t, dir, "plain", "#!/bin/sh\n")
	guesttest.WriteProgram(t, dir, "text", "echo text \"$@\"\n")
	guesttest.WriteProgram(t, dir, "bad", "#!/no/such/interpreter\n")
	guesttest.WriteProgram(t, dir, "good/both", "#!/bin/sh\necho good\n")
	guesttest.WriteFile(t, dir, "bad-first/both", "#!/bin/sh\necho bad\n")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, path string
		argv       []string
		code       int
		stdout     string
		stderr     string
	}{
		{"in PATH", "/usr/bin:/bin", []string{"echo", "a b", "--"}, 0, "a b --\n", ""},
		{"without PATH", "", []string{"echo", "x"}, 0, "x\n", ""},
		{"a path", "/none", []string{"/bin/echo", "x"}, 0, "x\n", ""},
		{"a relative path", "/none", []string{"./text", "x"}, 0, "text x\n", ""},
		{"an empty entry is here", "/none:", []string{"text"}, 0, "text", ""},
		{"a text without interpreter", dir, []string{"text", "a", "b"}, 0, "text a b\n", ""},
		{"a later one that can be executed", dir + "/bad-first:" + dir + "/good:/bin", []string{"both"}, 0, "good\n", ""},
		{"not there", "/usr/bin:/bin", []string{"no-such"}, 127, "", "agent-sandbox: no-such: not found\n"},
		{"not there by path", "/bin", []string{"/no/such"}, 127, "", "agent-sandbox: /no/such: not found\n"},
		{"not executable", dir, []string{"plain"}, 126, "", "agent-sandbox: plain: permission denied\n"},
		{"a directory", dir, []string{"folder"}, 126, "", "agent-sandbox: folder: is a directory\n"},
		{"its interpreter is not there", dir, []string{"bad"}, 126, "", "agent-sandbox: bad: its interpreter does not exist\n"},
		{"a name with control characters", "/bin", []string{"a\x1b[2J\nb"}, 127, "", "agent-sandbox: a?[2J?b: not found\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), guesttest.Program(t), append([]string{"init", "--"}, row.argv...)...)
			var stdout, stderr bytes.Buffer
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
			cmd.Env = []string{"LC_ALL=C"}
			if row.path != "" {
				cmd.Env = append(cmd.Env, "PATH="+row.path)
			}
			_ = cmd.Run() // the status is checked below
			guesttest.Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}.Check(t, row.code, row.stdout, row.stderr)
		})
	}
}
