package shell_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// session is a shell with its output.
type session struct {
	*shell.Shell

	t *testing.T
}

func newSession(t *testing.T, o shell.Options) session {
	t.Helper()
	sh := shell.New(o)
	t.Cleanup(sh.Close)
	return session{sh, t}
}

// run returns output, messages and status.
func (s session) run(script string) (out, msg string, status int) {
	s.t.Helper()
	var o, e bytes.Buffer
	res, err := s.Run(s.t.Context(), script, shell.Stdio{Stdout: &o, Stderr: &e})
	if err != nil {
		s.t.Fatal(err)
	}
	return o.String(), e.String(), res.Status
}

// wants compares all of it.
func (s session) wants(script, out, msg string, status int) {
	s.t.Helper()
	gotOut, gotMsg, gotStatus := s.run(script)
	if gotOut != out || gotMsg != msg || gotStatus != status {
		s.t.Errorf("%s\nstdout %q\n  want %q\nstderr %q\n  want %q\nstatus %d, want %d", script, gotOut, out, gotMsg, msg, gotStatus, status)
	}
}

func (s session) register(commands ...shell.Command) {
	s.t.Helper()
	if err := s.Register(commands...); err != nil {
		s.t.Fatal(err)
	}
}

// says is a command that prints its name and arguments.
func says(name string, aliases ...string) shell.Command {
	return shell.Command{Name: name, Aliases: aliases, Summary: "tell what it was given", Usage: "[ARG]...", Run: func(p *shell.Proc) int {
		fmt.Fprintf(p.Stdout, "%s: %s\n", name, strings.Join(p.Args, " "))
		return len(p.Args) - 1
	}}
}

// wraps replaces a command with one that prints a line before and after the original.
func wraps(name string) shell.Command {
	return shell.Command{Name: name, Replace: true, Run: func(p *shell.Proc) int {
		fmt.Fprintf(p.Stdout, "<%s>", strings.Join(p.Args, " "))
		return p.Original(p.Args[1:]...)
	}}
}

func Test_An_Extension_Sees_The_Machine_Through_Its_Process(t *testing.T) {
	t.Parallel()
	tree := vfs.New(vfs.Options{})
	for _, dir := range []string{"/proj", "/tmp"} {
		if err := tree.Mkdir(vfs.Cred{}, dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t, shell.Options{FS: tree, Dir: "/proj", Env: []string{"GREETING=hello"}})
	s.register(shell.Command{Name: "greet", Run: func(p *shell.Proc) int {
		f, err := p.Create("note")
		if err != nil {
			return p.Status(err)
		}
		defer f.Close()
		_, _ = fmt.Fprintf(f, "%s from %s", p.Getenv("GREETING"), p.Dir())
		_, _ = fmt.Fprintf(p.Stdout, "wrote %s\n", p.Abs("note"))
		if info, err := p.FS().Stat(p.Cred(), p.Abs("note")); err != nil || info.Size == 0 {
			return 1
		}
		return 5
	}})
	s.wants("greet; echo $? $(<note)", "wrote /proj/note\n5 hello from /proj\n", "", 0)
}

func Test_A_Registered_Command_Is_Found_Under_All_Its_Names(t *testing.T) {
	t.Parallel()
	s := newSession(t, shell.Options{Commands: coreutils.Commands(), Env: []string{"PATH=/usr/bin:/bin"}})
	s.wants("fetch", "", "bash: line 1: fetch: command not found\n", 127)
	s.register(says("fetch", "get", "g++"))
	for _, row := range []struct{ script, out string }{
		{"fetch a b", "fetch: fetch a b\n"},
		{"get a", "fetch: get a\n"},
		{"g++", "fetch: g++\n"},
		{"/usr/bin/get", "fetch: /usr/bin/get\n"},
		{"echo x | xargs get", "fetch: get x\n"},
		{"command get", "fetch: get\n"},
		{"(get) & wait", "fetch: get\n"},
		{"hash -r; type fetch get", "fetch is /usr/bin/fetch\nget is /usr/bin/get\n"},
		{"type -t get", "file\n"},
		{"command -v get", "/usr/bin/get\n"},
		{"which get fetch", "/usr/bin/get\n/usr/bin/fetch\n"},
		{"compgen -c fet", "fetch\n"},
		{"help -d fetch", "fetch - tell what it was given\n"},
		{"help -s get", "get: get [ARG]...\n"},
		{"help fetch", "fetch: fetch [ARG]...\n    tell what it was given\n"},
		{"fetch --help", "Usage: fetch [ARG]...\nTell what it was given.\n"},
		{"get --help", "Usage: get [ARG]...\nTell what it was given.\n"},
		{"fetch --help x", "fetch: fetch --help x\n"},
	} {
		if out, msg, _ := s.run(row.script); out != row.out || msg != "" {
			t.Errorf("%s\nstdout %q\n  want %q\nstderr %q", row.script, out, row.out, msg)
		}
	}
	out, _, _ := s.run("help")
	if !strings.Contains(out, "\n fetch [ARG]...\n\ttell what it was given\n\talso called get, g++\n") {
		t.Errorf("help does not list fetch:\n%s", out)
	}
	names := map[string]bool{}
	for _, c := range s.Commands() {
		names[c.Name] = true
	}
	if !names["fetch"] || !names["cat"] || names["get"] {
		t.Errorf("Commands returned %v", names)
	}
}

func Test_Names_That_Cannot_Be_Taken_Are_Refused(t *testing.T) {
	t.Parallel()
	run := func(*shell.Proc) int { return 0 }
	one := func(name string, aliases ...string) []shell.Command {
		return []shell.Command{{Name: name, Aliases: aliases, Summary: "the new one", Run: run}}
	}
	for _, row := range []struct {
		name     string
		commands []shell.Command
		want     string
	}{
		{"an empty name", one(""), `the command "": a name cannot be empty`},
		{"a path", one("a/b"), `the command "a/b": a name has no slash`},
		{"a blank", one("a b"), `the command "a b": a name has no blanks and control characters`},
		{"a newline", one("a\n"), `the command "a\n": a name has no blanks and control characters`},
		{"NUL", one("a\x00"), `the command "a\x00": a name has no blanks and control characters`},
		{"no UTF-8", one("a\xff"), `the command "a\xff": a name is UTF-8`},
		{"an option", one("-a"), `the command "-a": a name does not begin with a dash`},
		{"a quote", one("a'b"), `the command "a'b": a name has no characters that mean something to the shell`},
		{"an assignment", one("a=b"), `the command "a=b": a name has no characters that mean something to the shell`},
		{"the directory above", one(".."), `the command "..": a name is not that of a directory`},
		{"too long", one(strings.Repeat("a", 256)), `a name has at most 255 bytes`},
		{"a bad alias", one("a", "b c"), `the alias "b c" of the command "a": a name has no blanks and control characters`},
		{"a keyword", one("while"), `the command "while": while is a word of the shell's language`},
		{"nothing to run", []shell.Command{{Name: "a"}}, `the command "a" has no Run function`},
		{"a builtin", one("echo"), `the command "echo" (the new one): the name belongs to a builtin of the shell; only a command with Replace may take it`},
		{"a builtin as an alias", one("a", "cd"), `the alias "cd" of the command "a" (the new one): the name belongs to a builtin of the shell; only a command with Replace may take it`},
		{"a program", one("first"), `the command "first" (the new one): the name belongs to the command "first" (the old one); only a command with Replace may take it`},
		{"another's alias", one("other"), `the command "other" (the new one): the name belongs to the command "first" (the old one); only a command with Replace may take it`},
		{"two at once", append(one("a"), one("b", "a")...), `the alias "a" of the command "b" (the new one): the name already belongs to the command "a" (the new one)`},
		{"its own alias", one("a", "a"), `the command "a" (the new one): the name already belongs to the command "a" (the new one)`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, shell.Options{})
			s.register(shell.Command{Name: "first", Aliases: []string{"other"}, Summary: "the old one", Run: run})
			good := shell.Command{Name: "good", Run: run}
			err := s.Register(append([]shell.Command{good}, row.commands...)...)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("error %v\n  want %s", err, row.want)
			}
			s.wants("good", "", "bash: line 1: good: command not found\n", 127)
		})
	}
}

func Test_A_Replacement_Stands_In_The_Place_Of_A_Builtin_However_It_Is_Called(t *testing.T) {
	t.Parallel()
	s := newSession(t, shell.Options{Commands: coreutils.Commands(), Env: []string{"PATH=/usr/bin:/bin"}})
	s.wants("f() { echo f \"$@\"; }; f", "f\n", "", 0) // Compiled before the replacement.
	s.register(wraps("echo"), wraps("cd"), wraps("test"), wraps("declare"), wraps("exit"), wraps("exec"), wraps("["), wraps("read"))
	for _, row := range []struct {
		script, out string
		status      int
	}{
		{"f x", "<echo f x>f x\n", 0},
		{"echo -n hi", "<echo -n hi>hi", 0},
		{"builtin echo hi", "<echo hi>hi\n", 0},
		{"command echo hi", "<echo hi>hi\n", 0},
		{"e=echo; $e hi", "<echo hi>hi\n", 0},
		{"/bin/echo hi", "</bin/echo hi>hi\n", 0},
		{"enable -n echo; echo hi; enable echo", "<echo hi>hi\n", 0},
		{"x=$(echo hi); printf %s \"$x\"", "<echo hi>hi", 0},
		{"echo hi > /tmp/f; cat /tmp/f", "<echo hi>hi\n", 0},
		{"cd /tmp; printf %s $PWD; cd - > /tmp/out", "<cd /tmp>/tmp", 0},
		{"(cd /tmp; printf %s $PWD); printf %s $PWD", "<cd /tmp>/tmp/", 0},
		{"test a = b", "<test a = b>", 1},
		{"[ a = a ]", "<[ a = a ]>", 0},
		{"declare -a x=(1 2 3); printf %s \"${#x[@]}\"", "<declare -a x=(>3", 0},
		{"declare y='a b'; printf %s \"$y\"", "<declare y=a b>a b", 0},
		{"(exit 3); printf %s $?", "<exit 3>3", 0},
		{"(exec cat <<< done; printf no)", "<exec cat>done\n", 0},
		{"read x <<< line; printf %s $x", "<read x>line", 0},
		{"type -t echo", "builtin\n", 0},
		{"eval 'echo hi'", "<echo hi>hi\n", 0},
		{"bash -c 'echo hi'", "<echo hi>hi\n", 0},
	} {
		if out, msg, status := s.run(row.script); out != row.out || msg != "" || status != row.status {
			t.Errorf("%s\nstdout %q\n  want %q\nstderr %q, status %d, want %d", row.script, out, row.out, msg, status, row.status)
		}
	}
}

func Test_Commands_Of_The_Options_Replace_Builtins_When_They_Say_So(t *testing.T) {
	t.Parallel()
	commands := append(coreutils.Commands(), wraps("echo"), shell.Command{Name: "printf", Run: func(*shell.Proc) int { return 9 }})
	for name, o := range map[string]shell.Options{
		"alone":       {Commands: commands},
		"behind some": {Programs: shell.NewPrograms(coreutils.Commands()), Commands: commands},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Env = []string{"PATH=/usr/bin:/bin"}
			s := newSession(t, o)
			s.wants("echo hi; /bin/echo ho; printf x; /bin/printf x", "<echo hi>hi\n</bin/echo ho>ho\nx", "", 9)
		})
	}
}

func Test_A_Replacement_Of_A_Program_Reaches_The_Program(t *testing.T) {
	t.Parallel()
	s := newSession(t, shell.Options{Commands: coreutils.Commands(), Env: []string{"PATH=/usr/bin:/bin"}})
	s.register(wraps("wc"), shell.Command{Name: "pick", Aliases: []string{"head", "tail"}, Replace: true, Run: func(p *shell.Proc) int {
		return p.Original(append([]string{"-n1"}, p.Args[1:]...)...)
	}})
	s.wants("printf 'a\nb\n' | wc -l", "<wc -l>2\n", "", 0)
	s.wants("printf 'a\nb\n' | /usr/bin/wc -c", "</usr/bin/wc -c>4\n", "", 0)
	s.wants("printf 'a\nb\n' | head; printf 'a\nb\n' | tail", "a\nb\n", "", 0)
	s.wants("pick", "", "pick: this command has not replaced another one\n", 127)
	s.wants("wc --lines=x 2> /tmp/err", "<wc --lines=x>", "", 1)
}

func Test_Replacements_Of_Replacements_Are_A_Chain(t *testing.T) {
	t.Parallel()
	s := newSession(t, shell.Options{Commands: coreutils.Commands(), Env: []string{"PATH=/usr/bin:/bin"}})
	s.register(wraps("echo"), wraps("cat"))
	s.register(wraps("echo"), wraps("cat"))
	s.wants("echo hi", "<echo hi><echo hi>hi\n", "", 0)
	s.wants("/bin/echo hi", "</bin/echo hi></bin/echo hi>hi\n", "", 0)
	s.wants("printf x | cat -E", "<cat -E><cat -E>x", "", 0)
}

func Test_The_Original_Writes_Where_Its_Caller_Says(t *testing.T) {
	t.Parallel()
	s := newSession(t, shell.Options{Commands: coreutils.Commands(), Env: []string{"PATH=/usr/bin:/bin"}})
	upper := func(name string) shell.Command {
		return shell.Command{Name: name, Replace: true, Run: func(p *shell.Proc) int {
			out := p.Stdout
			var b bytes.Buffer
			p.Stdout, p.Stdin = &b, strings.NewReader("given\n")
			status := p.Original(p.Args[1:]...)
			_, _ = out.Write(bytes.ToUpper(b.Bytes()))
			return status
		}}
	}
	s.register(upper("echo"), upper("cat"), upper("read"))
	s.wants("echo hi; echo there > /tmp/f; cat; read x; printf '%s\n' $x; printf '%s\n' \"$(</tmp/f)\"", "HI\nGIVEN\ngiven\nTHERE\n", "", 0)
}

func Test_A_Panic_Ends_The_Command_Alone_And_Tells_Nothing_Of_The_Host(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var faults []string
	s := newSession(t, shell.Options{Fault: func(name string, v any) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, fmt.Sprint(name, ": ", v))
	}})
	secret := &os.PathError{Op: "open", Path: "/host/secret", Err: os.ErrNotExist}
	s.register(
		shell.Command{Name: "explode", Run: func(*shell.Proc) int { panic(secret) }},
		shell.Command{Name: "miss", Run: func(p *shell.Proc) int { return len(p.Args[len(p.Args)+6]) }},
		shell.Command{Name: "echo", Replace: true, Run: func(p *shell.Proc) int {
			p.Original(p.Args[1:]...)
			panic(errors.New("/host/secret"))
		}},
	)
	s.wants("explode; printf %s $?", "70", "explode: internal error: it panicked\n", 0)
	s.wants("miss; printf %s $?", "70", "miss: internal error: runtime error: index out of range [7] with length 1\n", 0)
	s.wants("x=$(explode) || printf %s $?", "70", "explode: internal error: it panicked\n", 0)
	s.wants("explode | printf %s a; printf %s ${PIPESTATUS[0]}", "a70", "explode: internal error: it panicked\n", 0)
	s.wants("explode & wait $!", "", "explode: internal error: it panicked\n", 70)
	s.wants("echo hi > /tmp/f; printf '%s ' $? \"$(</tmp/f)\"", "70 hi ", "echo: internal error: it panicked\n", 0)
	mu.Lock()
	defer mu.Unlock()
	if len(faults) != 6 || faults[0] != "explode: open /host/secret: file does not exist" {
		t.Errorf("told of %q", faults)
	}
}

func Test_Forks_Keep_Registered_Commands_And_Share_Nothing_Later(t *testing.T) {
	t.Parallel()
	s := newSession(t, shell.Options{})
	s.register(says("before"), wraps("echo"))
	f := session{s.Fork(), t}
	t.Cleanup(f.Close)
	s.register(says("parent"))
	f.register(says("child"), wraps("true"))
	f.wants("before; child; echo hi; true", "before: before\nchild: child\n<echo hi>hi\n<true>", "", 0)
	f.wants("parent", "", "bash: line 1: parent: command not found\n", 127)
	s.wants("before; parent; true", "before: before\nparent: parent\n", "", 0)
	s.wants("child", "", "bash: line 1: child: command not found\n", 127)
}

func Test_Registering_While_Jobs_Look_For_Programs_Is_Safe(t *testing.T) {
	t.Parallel()
	s := newSession(t, shell.Options{Limits: shell.Limits{Fuel: -1}})
	s.register(says("one"))
	s.run("for i in {1..2000}; do one; command -v one; done > /tmp/out &")
	for i := range 50 {
		s.register(says(fmt.Sprint("more", i)))
	}
	s.wants("wait; more49 x", "more49: more49 x\n", "", 1)
}

func Test_Memory_That_Suffices_For_A_Command_Meets_No_Limit(t *testing.T) {
	const all = 1 << 20
	for n, want := range map[int]error{all - 1<<15: nil, 2 * all: shell.ErrMemory} { // below the limit, but for the step that a process takes
		s := newSession(t, shell.Options{Limits: shell.Limits{Bytes: all}})
		s.register(shell.Command{Name: "reserve", Run: func(p *shell.Proc) int {
			if p.Reserve(n) != nil {
				return 1
			}
			return 0
		}})
		res, err := s.Run(t.Context(), "reserve", shell.Stdio{})
		if err != nil || !errors.Is(res.Limit, want) || (res.Status == 0) != (want == nil) {
			t.Errorf("%d bytes: %+v, %v; want the limit %v", n, res, err, want)
		}
	}
}
