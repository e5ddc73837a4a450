package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Root_Help_Names_Every_Command_On_One_Screen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	root := newTree(console.New(nil, sandbox.Stdio{Stdout: &out, Stderr: &out}))
	root.SetArgs([]string{"--help"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if lines := strings.Count(text, "\n"); lines > 56 {
		t.Errorf("the help has %d lines, expected at most 56", lines)
	}
	named := map[string]bool{}
	for line := range strings.Lines(text) {
		if len([]rune(line)) > 110 {
			t.Errorf("line of %d characters: %q", len([]rune(line)), line)
		}
		names, _, _ := strings.Cut(strings.TrimPrefix(line, "  "), "   ")
		for name := range strings.SplitSeq(names, ",") {
			named[strings.TrimSpace(name)] = true
		}
	}
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && !named[cmd.Name()] {
			t.Errorf("the help does not name %s", cmd.Name())
		}
		if cmd.Annotations["exit"] == "" || cmd.Short == "" {
			t.Errorf("%s has no EXIT STATUS section or no short description", cmd.Name())
		}
	}
}

func Test_Subcommands_Are_Reached_By_Their_Names(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	root := newTree(console.New(nil, sandbox.Stdio{Stdout: &out, Stderr: &out}))
	for _, path := range []string{"stage diff", "stage apply", "stage discard", "diff", "apply", "discard", "keep", "agent run", "skill list"} {
		found, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 || !strings.HasSuffix(found.CommandPath(), path) {
			t.Errorf("%q finds %q, %v", path, found.CommandPath(), err)
		}
	}
}

func Test_Exec_Without_The_Other_Commands_Prints_The_Same(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"exec --help", "exec", "exec --unknown", "exec --limit", "exec --dry-run --stage true"} {
		texts := map[string]bool{}
		for _, tree := range []func(*console.App) *cobra.Command{newTree, newExecTree} {
			var out bytes.Buffer
			root := tree(console.New(nil, sandbox.Stdio{Stdout: &out, Stderr: &out}))
			root.SetArgs(strings.Fields(line))
			if err := root.Execute(); err != nil {
				out.WriteString(err.Error())
			}
			texts[out.String()] = true
		}
		if len(texts) != 1 {
			t.Errorf("%q prints different texts: %v", line, texts)
		}
	}
}
