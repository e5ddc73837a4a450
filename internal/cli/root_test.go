package cli

import (
	"bytes"
	"errors"
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

// The examples of the help are command lines that a user types as they are: each names a command, and has flags and arguments
// that this command takes.
func Test_Examples_In_Help_Parse(t *testing.T) {
	t.Parallel()
	number := 0
	walkCommands(newTree(console.New(nil, sandbox.Stdio{})), func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			for _, words := range splitCommands(line) {
				if len(words) == 0 || words[0] != "agent-sandbox" {
					continue
				}
				number++
				if err := parseCommand(words[1:]); err != nil {
					t.Errorf("%s: %s: %v", cmd.CommandPath(), strings.TrimSpace(line), err)
				}
			}
		}
	})
	if number < 50 {
		t.Errorf("only %d examples were found", number)
	}
	for _, line := range []string{"exec --no-such-flag true", "create a b", "snapshot"} { // the test can fail
		if parseCommand(strings.Fields(line)) == nil {
			t.Errorf("%q parses", line)
		}
	}
}

func walkCommands(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		walkCommands(c, f)
	}
}

// parseCommand finds the command of a command line, and parses its flags and arguments.
func parseCommand(words []string) error {
	cmd, rest, err := newTree(console.New(nil, sandbox.Stdio{})).Find(words)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err == nil && cmd.HasSubCommands() && !cmd.Runnable() {
		err = errors.New("a command of a family is missing")
	}
	return err
}

// splitCommands splits a line at the operators of the shell, and its commands into words.
func splitCommands(line string) (commands [][]string) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case strings.ContainsRune("|&;<>", r):
			endWord()
			commands, words = append(commands, words), nil
		case r == ' ' || r == '\n' || r == '\t':
			endWord()
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	endWord()
	return append(commands, words)
}
