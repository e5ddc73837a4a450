package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func Test_Terminal_A_Session_In_Memory(t *testing.T) {
	c := openSandbox(t, "shell", "--backend", "virtual")
	c.expect(`prompt>`)
	for _, step := range []struct{ keys, want string }{
		{"x=1; echo sum-$((40+2))\r", `sum-42[\r\n]`},
		{"for i in a b\r", `> `},
		{"do echo loop-$i\r", `> `},
		{"done\r", `loop-a\s+loop-b`},
		{"ec\tone >fi'l'e\r", `prompt>`}, // Tab completes echo
		{":diff\r", `created\s+\S+/project/file`},
		{"cat fi\t\r", `[\r\n]one`},
		{"\x1b[A\r", `[\r\n]one`}, // the previous line
		{"echo rea''dy; sleep 1000\r", `ready`},
		{ctrlC, `prompt>`},
		{"echo st-$?-\r", `st-130-`},
		{"false | true; (exit 7)\r", `prompt>`},
		{"echo st-$?-${PIPESTATUS[0]}\r", `st-7-7\s+prompt>`},
		{"half a line" + ctrlC, `\^C`},
		{"echo st-$?-\r", `st-130-`},
		{"read y\r", `read y`},
		{"typed\r", `prompt>`},
		{"echo got-$y-$x; test -t 0 && echo on a termin''al\r", `got-typed-1\s+on a terminal`},
		{":snapshot here\r", `prompt>`},
		{"rm file; x=2\r", `prompt>`},
		{":restore here\r", `prompt>`},
		{"echo x-$x-$(cat file)\r", `x-1-one`},
		{":apply\r", `1 change applied`},
		{":stats\r", `files: \d+\S* of \S+, one at most 256MiB\s+nodes: \d+ of \d+\s+commands: \d\d in `},
		{":history\r", `status 130, \S+: echo rea''dy; sleep 1000[\s\S]*status 0, \S+: echo x-`},
		{"rm file; echo more >other\r", `prompt>`},
	} {
		c.keys(step.keys)
		c.expect(step.want)
	}
	c.keys("exit 3\r")
	if code, rest := c.wait(); code != 3 {
		t.Errorf("exit status %d, want 3: %q", code, rest)
	}
	if got, err := os.ReadFile(filepath.Join(c.cmd.Dir, "file")); err != nil || string(got) != "one\n" {
		t.Errorf("the applied file: %q, %v", got, err)
	}
	if _, err := os.Lstat(filepath.Join(c.cmd.Dir, "other")); err == nil {
		t.Error("a change that was not applied exists")
	}
}

// A command has ended, and the prompt is not there yet, when Ctrl-C is typed.
func Test_Terminal_Ctrl_C_Before_The_Prompt_In_Memory(t *testing.T) {
	c := openSandbox(t, "shell", "--backend", "virtual")
	c.expect(`prompt>`)
	c.keys("PS1='$(sleep 2)slow>'\r")
	c.expect(`slow>`)
	for range 3 {
		c.keys("echo rea''dy\r")
		c.expect(`[\r\n]ready[\r\n]`)
		c.keys(ctrlC)
		c.expect(`\^C[\s\S]*slow>`)
		c.keys("echo st-$?-\r")
		c.expect(`st-130-[\s\S]*slow>`)
	}
	c.keys("exit 3\r")
	if code, rest := c.wait(); code != 3 {
		t.Errorf("exit status %d, want 3: %q", code, rest)
	}
}

func Test_Terminal_The_Prompt_Of_A_Shell_Shows_The_Sandbox(t *testing.T) {
	c := openSandbox(t, "shell")
	c.expect(`\(sandbox\) [^\n]*[#$>] ?`)
	c.keys("false\r")
	c.expect(`\(sandbox\) [^\n]*[#$>] ?`)
	c.keys("echo st-$?-${PROMPT_COMMAND:+s}et-$(bash -c 'echo ${PROMPT_COMMAND-none}')\r")
	c.expect(`st-1-set-none`)
	c.keys("exit\r")
	if code, rest := c.wait(); code != 0 || strings.Contains(rest, "refused") {
		t.Errorf("exit status %d: %q", code, rest)
	}
}

func Test_Terminal_Typed_Ahead_In_Memory(t *testing.T) {
	c := openSandbox(t, "shell", "--backend", "virtual")
	c.expect(`prompt>`)
	// All of it arrives before the first command runs; each reader takes only its own
	// lines.
	c.keys("read a\rfirst\recho got-$a; read b c; echo and-$b-$c\rsecond third\rtrue\r")
	c.expect(`got-first\s`)
	c.expect(`and-second-third\s`)
	c.keys("read -t 0.01 d; echo wa''it; sleep 0.2; true\r")
	c.expect(`wait\s`)
	c.keys("echo af''ter\r") // While a command runs, or after a read with a time limit has given up.
	c.expect(`after\s`)
	c.keys("exit 4\r")
	if code, rest := c.wait(); code != 4 {
		t.Errorf("exit status %d, want 4: %q", code, rest)
	}
}

func Test_Terminal_Ctrl_C_Ends_A_Command_In_Memory(t *testing.T) {
	c := openSandbox(t, "exec", "--backend", "virtual", "--", "sh", "-c", "echo ready; sleep 60")
	c.expect(`ready`)
	c.keys(ctrlC)
	if code, rest := c.wait(); code != 130 {
		t.Errorf("exit status %d, want 130: %q", code, rest)
	}
}

func Test_Terminal_Programs_In_Memory_Know_It(t *testing.T) {
	c := openSandbox(t, "exec", "--backend", "virtual", "--", "sh", "-c", "touch a b c; ls; test -t 1 && echo yes")
	c.expect(`a  b  c\s+yes`)
	if code, rest := c.wait(); code != 0 {
		t.Errorf("exit status %d: %q", code, rest)
	}
}
