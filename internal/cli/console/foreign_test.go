package console_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/run"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// fails runs exec with a flag and returns the message and the hint of its error.
func fails(t *testing.T, flag string) (message, hint string) {
	t.Helper()
	var out bytes.Buffer
	cmd := run.NewExec(console.New(nil, sandbox.Stdio{Stdout: &out, Stderr: &out}))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(console.FlagError)
	cmd.SetArgs([]string{flag, "--", "true"})
	err := cmd.Execute()
	var e *sandbox.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v", flag, err)
	}
	return err.Error(), e.Hint
}

func Test_Flags_Of_Other_Programs_Name_Ours(t *testing.T) {
	seen := map[string]bool{}
	flags := run.NewExec(console.New(nil, sandbox.Stdio{})).Flags()
	console.ForeignFlags(func(name, use, own string) {
		if seen[name] {
			t.Errorf("%s occurs twice", name)
		}
		seen[name] = true
		if own != "" && flags.Lookup(own) == nil {
			t.Errorf("--%s: %q names --%s, which does not exist", name, use, own)
		}
		dashes := "--"
		if len(name) == 1 {
			dashes = "-"
		}
		if flags.Lookup(name) != nil || len(name) == 1 && flags.ShorthandLookup(name) != nil {
			if name != "v" {
				t.Errorf("%s%s is our own flag", dashes, name)
			}
			return
		}
		message, hint := fails(t, dashes+name)
		if !strings.Contains(message, "unknown") || !strings.Contains(hint, use) || use == "" && !strings.Contains(hint, "leave it out: ") {
			t.Errorf("%s%s: %q, hint %q; want %q", dashes, name, message, hint, use)
		}
	})
	if len(seen) < 90 {
		t.Errorf("only %d flags are known", len(seen))
	}
}

func Test_Flags_Of_Other_Programs_With_Values(t *testing.T) {
	for _, row := range []struct{ flag, hint string }{
		{"--timeout=5", "use '--limit wall=TIME'; see 'exec --help'"},
		{"-e", "use '--env NAME=VALUE'; see 'exec --help'"},
		{"-it", "leave it out: a command gets the terminal, or the pipes, of its caller; see 'exec --help'"},
		{"--ro-bind", "use '--ro PATH': a path is the same inside and outside; see 'exec --help'"},
		{"--netwrk", "did you mean '--network'? See 'exec --help'"},
		{"--nothing-like-it", "see 'exec --help'"},
	} {
		if _, hint := fails(t, row.flag); hint != row.hint {
			t.Errorf("%s: hint %q, want %q", row.flag, hint, row.hint)
		}
	}
}
