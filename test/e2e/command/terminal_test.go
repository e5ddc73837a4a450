package command_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/landlock"
)

const (
	ctrlC         = "\x03"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
)

func Test_Terminal_Ctrl_C_Ends_The_Command_With_130(t *testing.T) {
	c := openSandbox(t, "exec", "--", "sh", "-c", "echo ready; sleep 60")
	c.expect(`ready`)
	c.keys(ctrlC)
	if code, rest := c.wait(); code != 130 {
		t.Errorf("exit status %d, want 130: %q", code, rest)
	}
}

// untilEnd is a shell loop that handles signals soon, where read may delay one.
const untilEnd = `until test -e end; do sleep 0.05; done; exit 6`

// countsInterrupts is a Perl program. bash is not suitable: it takes an interrupt for that of its
// child if the child exits with 0 at the same moment.
const countsInterrupts = `$| = 1; $SIG{INT} = sub { print "caught ", ++$n, "\n" }; print "ready\n";
select undef, undef, undef, 0.05 until -e "end"; exit 6`

func Test_Terminal_Ctrl_C_Reaches_The_Command_Once(t *testing.T) {
	c := openSandbox(t, "exec", "--", "perl", "-e", countsInterrupts)
	c.expect(`ready`)
	c.keys(ctrlC)
	c.expect(`caught 1`)
	c.touch("end")
	code, rest := c.wait()
	if code != 6 || strings.Contains(rest, "caught") {
		t.Errorf("exit status %d, want 6, and nothing caught again: %q", code, rest)
	}
}

func Test_Terminal_Ctrl_C_Twice_Does_Not_Kill_A_Command_That_Handles_It(t *testing.T) {
	c := openSandbox(t, "exec", "--", "perl", "-e", countsInterrupts)
	c.expect(`ready`)
	for _, want := range []string{"caught 1", "caught 2", "caught 3"} {
		c.keys(ctrlC)
		c.expect(want)
	}
	c.touch("end")
	if code, rest := c.wait(); code != 6 {
		t.Errorf("exit status %d, want 6: %q", code, rest)
	}
}

func Test_Terminal_Ctrl_Backslash_Quits_The_Command(t *testing.T) {
	c := openSandbox(t, "exec", "--", "sh", "-c", "ulimit -c 0; echo ready; exec sleep 60")
	c.expect(`ready`)
	c.keys(ctrlBackslash)
	if code, rest := c.wait(); code != 131 {
		t.Errorf("exit status %d, want 131: %q", code, rest)
	}
}

func Test_Terminal_Ctrl_Z_Stops_And_Fg_Continues(t *testing.T) {
	c := openShell(t)
	// It must not read before fg: a reader that is being stopped may still consume a key. It starts no processes: a shell waits for a child
	// that is stopped between vfork(2) and execve(2), and cannot be stopped itself.
	c.keys("agent-sandbox exec -- perl -e '$|=1; print qq(rea).qq(dy\\n); select undef, undef, undef, 0.05 until -e qq(go); print qq(got-).<STDIN>; exit 9'\n")
	c.expect(`ready`)
	c.keys(ctrlZ)
	c.expect(`Stopped`)
	c.expect(`prompt>`)
	c.keys("touch go; echo shell-is-$((40+2))\n")
	c.expect(`shell-is-42`)
	c.keys("fg\n")
	c.expect(`exec -- perl`)
	c.keys("hello\n")
	c.expect(`got-hello`)
	c.expect(`prompt>`)
	c.keys("echo status-$?\n")
	c.expect(`status-9`)
	c.keys("exit\n")
}

// The command has a terminal of its own, as with "docker exec -it": Ctrl-Z is for the shell inside, and does not suspend agent-sandbox.
func Test_Terminal_Ctrl_Z_In_A_Persistent_Sandbox_Goes_Inside(t *testing.T) {
	c := openShell(t)
	c.keys("agent-sandbox create work && agent-sandbox exec --in work -- env PS1=in''side: bash --norc --noprofile -i\n")
	c.expect(`inside:`)
	// No processes are started, for the same reason.
	c.keys("perl -e '$|=1; print qq(rea).qq(dy\\n); select undef, undef, undef, 0.05 until -e qq(go); exit 9'\n")
	c.expect(`ready`)
	c.keys(ctrlZ)
	c.expect(`Stopped`)
	c.expect(`inside:`)
	c.keys("touch go; fg; echo status-$?\n")
	c.expect(`status-9`)
	c.keys("exit 4\n")
	c.expect(`prompt>`)
	c.keys("echo status-$?; jobs; agent-sandbox destroy work && echo destroyed-$?\n")
	c.expect(`status-4\r\n(.*prompt>)?.*destroyed-0`)
	c.keys("exit\n")
}

func Test_Terminal_Background_Job_Is_Stopped_When_It_Reads_And_Killed_By_Kill(t *testing.T) {
	c := openShell(t)
	c.keys("agent-sandbox exec -- sh -c 'read x' &\n")
	c.expect(`prompt>`)
	c.keys("until jobs | grep Stopped; do sleep 0.1; done\n")
	c.expect(`Stopped`)
	c.expect(`prompt>`)
	// The shell lists it as stopped until it has waited for it, and reports its end once.
	c.keys("kill %1; while jobs | grep -q Stopped; do sleep 0.1; done; wait %1; echo status-$?\n")
	c.expect(`status-143|Exit 143`)
	c.keys("exit\n")
}

func Test_Terminal_Has_Its_Size_Inside(t *testing.T) {
	c := openSandbox(t, "exec", "--", "sh", "-c", "read go; stty size; test -t 0 && test -t 1 && test -t 2 && tty")
	c.resize(33, 77)
	c.keys("\n")
	c.expect(`33 77`)
	c.expect(`/dev/`)
	if code, rest := c.wait(); code != 0 {
		t.Errorf("exit status %d, want 0: %q", code, rest)
	}
}

func Test_Terminal_Resize_Reaches_The_Command(t *testing.T) {
	c := openSandbox(t, "exec", "--", "bash", "-c", `trap 'stty size' WINCH; echo ready; `+untilEnd)
	c.expect(`ready`)
	c.resize(44, 99)
	c.expect(`44 99`)
	c.touch("end")
	if code, rest := c.wait(); code != 6 {
		t.Errorf("exit status %d, want 6: %q", code, rest)
	}
}

func Test_Terminal_Raw_Mode_Works_And_Is_Restored(t *testing.T) {
	c := openShell(t)
	c.keys("agent-sandbox exec -- sh -c 's=$(stty -g); stty raw -echo; echo rea''dy; x=$(dd bs=1 count=1 2>/dev/null); stty $s; echo key-$x-'\n")
	c.expect(`ready`)
	c.keys("k") // no newline: only a raw terminal hands it over
	c.expect(`key-k-`)
	c.expect(`prompt>`)
	c.keys("stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon -e echo | tr '\\n' +\n")
	c.expect(`icanon\+echo\+`)
	c.keys("exit\n")
}

func Test_Terminal_Has_No_Process_Left_When_We_Are_Killed(t *testing.T) {
	c := openSandbox(t, "exec", "--", "sh", "-c", "trap '' HUP TERM INT; echo ready; while :; do sleep 0.05; done")
	c.expect(`ready`)
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.wait() // returns when the last process has left the terminal
}

// A program such as rg searches a pipe on its input, and the directory when its input is a terminal.
func Test_Terminal_On_Stdin_Only_Is_A_Terminal_Inside(t *testing.T) {
	for _, row := range []struct{ name, create, flags string }{
		{"one command", ":", ""},
		{"a persistent sandbox", "agent-sandbox create work", "--in work"},
		{"one command in memory", ":", "--backend virtual"},
		{"a persistent sandbox in memory", "agent-sandbox create --backend virtual work", "--in work"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := openShell(t)
			inside := `test -t 0 && echo typed-is-terminal; test -p /dev/stdin && echo typed-is-pipe; read x; echo got-$x`
			c.keys(row.create + "; agent-sandbox exec " + row.flags + " -- sh -c '" + inside + "' | cat; echo left-$((40+2))\n")
			c.expect(`[\r\n]typed-is-terminal\s`)
			c.keys("a line\n")
			c.expect(`[\r\n]got-a line\s`)
			c.expect(`left-42`)
			c.keys("agent-sandbox exec " + row.flags + " -- sh -c 'echo rea''dy; cat' | cat; echo left-$((41+2))\n")
			c.expect(`ready`)
			c.keys("\x04") // the end of the input
			c.expect(`left-43`)
			c.keys("agent-sandbox destroy work >/dev/null 2>&1; exit\n")
			c.wait()
		})
	}
}

func Test_Terminal_Shows_Errors_In_Red_Unless_NO_COLOR(t *testing.T) {
	for _, row := range []struct {
		name, env, want string
	}{
		{"on a terminal the prefix is red", "A=b", "\x1b[31magent-sandbox:\x1b[m no command was given"},
		{"NO_COLOR takes the colour away", "NO_COLOR=1", "agent-sandbox: no command was given"},
		{"a dumb terminal has no colours", "TERM=dumb", "agent-sandbox: no command was given"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := open(t, "env", row.env, "agent-sandbox", "exec")
			code, text := c.wait()
			if code != 125 || !strings.HasPrefix(text, row.want) {
				t.Errorf("exit status %d, text %q, want 125, %q", code, text, row.want)
			}
		})
	}
}

func Test_Terminal_Trust_Asks_And_No_Is_The_Default(t *testing.T) {
	for _, row := range []struct {
		name, answer string
		code         int
		want         string
	}{
		{"y trusts", "y\n", 0, "is trusted until it changes"},
		{"an empty line does not", "\n", 1, "not trusted"},
		{"end of input does not", "\x04", 1, "not trusted"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := open(t, "sh", "-c", `echo '{"network":"host"}' > .agent-sandbox.json; exec agent-sandbox trust`)
			c.expect(`the host's network`)
			c.expect(`\[y/N\] `)
			c.keys(row.answer)
			if code, text := c.wait(); code != row.code || !strings.Contains(text, row.want) {
				t.Errorf("exit status %d, text %q, want %d, %q", code, text, row.code, row.want)
			}
		})
	}
}

func Test_Terminal_The_End_Of_Files_In_Tmp_Is_Told_Once(t *testing.T) {
	if landlock.Version() == 0 {
		t.Skip("this kernel has no Landlock, and without it agent-sandbox does not look into /tmp")
	}
	const leaves = ` -- sh -c 'echo x >/tmp/f; printf "le""ft\n"'`
	c := openShell(t)
	for i, step := range []struct {
		name, command, want string // want follows the command's output
	}{
		{"nothing is left", ` -- sh -c 'mkdir /tmp/d; rmdir /tmp/d; printf "le""ft\n"'`, ""},
		{"quiet", " -q" + leaves, ""},
		{"persistent", " --tmp keep" + leaves, ""},
		{"the first time", leaves, `.*agent-sandbox:.* the files that the command left in /tmp are gone with the sandbox; --tmp keep keeps them.*\r\n`},
		{"the second time", leaves, ""},
	} {
		c.keys("agent-sandbox exec" + step.command + "; echo e''nd" + strconv.Itoa(i) + "\n")
		c.expect(`left\r\n` + step.want + `end` + strconv.Itoa(i) + `\r\n`)
		c.expect(`prompt>`)
	}
}
