package hint

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func Test_Hint_Names_An_Alternative(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ name, want string }{
		{"git", "--backend bwrap"},
		{"python3", "awk, jq, bc and bash compute here; --backend bwrap or docker"},
		{"vim", "sed -i"},
		{"sudo", "run without it"},
		{"apt-get", "nothing can be installed"},
		{"man", "--help"},
		{"wget", "curl"},
		{"grpe", "did you mean grep?"},
		{"sl", " or ls?"},
		{"exprot", "did you mean export?"},
		{"mkdri", "did you mean mkdir?"},
		{"frobnicate", "help lists the programs"},
		{"x", "help lists the programs"},
		{strings.Repeat("x", 1<<20), "help lists the programs"},
	} {
		got := For(r.name)
		if !strings.HasPrefix(got, "\nhint: ") || !strings.Contains(got, r.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%.20s: %q, want %q", r.name, got, r.want)
		}
	}
}

// Test_Hint_Does_Not_Deny_Existing_Programs finds a program that exists but that For still describes as absent.
func Test_Hint_Does_Not_Deny_Existing_Programs(t *testing.T) {
	t.Parallel()
	for _, name := range programNames() {
		if _, ok := findAlternative(name); ok {
			t.Errorf("%s is here, and the hint says that it is not", name)
		}
	}
}

func Test_Shell_Adds_The_Hint_To_Command_Not_Found(t *testing.T) {
	t.Parallel()
	s := shell.New(shell.Options{Commands: coreutils.Commands(), Hint: For})
	defer s.Close()
	var msg bytes.Buffer
	result, err := s.Run(t.Context(), "git status", shell.Stdio{Stderr: &msg})
	lines := strings.Split(strings.TrimRight(msg.String(), "\n"), "\n")
	if err != nil || result.Status != 127 || len(lines) != 2 || !strings.HasSuffix(lines[0], "git: command not found") || !strings.HasPrefix(lines[1], "hint: git") {
		t.Errorf("status %d, error %v, messages %q", result.Status, err, lines)
	}
	if slices.Contains(programNames(), "git") {
		t.Error("git is here: the test needs another name")
	}
}
