package claude

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	said "github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
)

// maxWord is the limit of Linux for one argument (MAX_ARG_STRLEN).
const maxWord = 128 << 10

func commandLine(t *testing.T, task executor.Task) []string {
	t.Helper()
	set, err := known.Read(task.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	return arguments(task, set, set.Choice("permission_mode", "bypassPermissions"))
}

// Y1: without --verbose, Claude Code exits at once when its output format is stream-json.
func Test_The_Command_Line_Requests_Stream_JSON(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]executor.Task{
		"nothing asked for": {},
		"a session":         {Session: "s", Model: executor.Model{Name: "m"}},
		"one that goes on":  {Resume: "s", Arguments: map[string]any{"max_turns": 3.0, "tools": []any{"Read"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := commandLine(t, task)
			for _, want := range []string{"--print", "--verbose"} {
				if !slices.Contains(args, want) {
					t.Errorf("%q lacks %s", args, want)
				}
			}
			for _, flag := range []string{"--input-format", "--output-format"} {
				if i := slices.Index(args, flag); i < 0 || args[i+1] != "stream-json" {
					t.Errorf("%q: %s", args, flag)
				}
			}
		})
	}
}

// Y4: prompts and histories of any length are not arguments, which have at most 128 KiB.
func Test_The_Command_Line_Is_As_Long_For_Any_Prompt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("CANARY ", 1<<20)
	task := executor.Task{
		System: []string{long}, History: []said.Message{said.New(said.User, long), said.New(said.Assistant, long)},
		Prompt: said.New(said.User, long),
	}
	for _, word := range commandLine(t, task) {
		if len(word) >= maxWord || strings.Contains(word, "CANARY") {
			t.Errorf("an argument of %d bytes: %.80q", len(word), word)
		}
	}
	lines, err := encodeBegin(task)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(bytes.Join(lines, nil), []byte("CANARY ")); n != 4<<20 {
		t.Errorf("the input has %d of %d words", n, 4<<20)
	}
}
