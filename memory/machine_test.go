package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func machine(tb testing.TB, c memory.Options) *memory.Machine {
	tb.Helper()
	m, err := memory.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(m.Close)
	return m
}

func execute(tb testing.TB, m *memory.Machine, command string) *memory.Result {
	tb.Helper()
	r, err := m.Run(context.Background(), command)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// root is the user who makes files from outside.
var root = vfs.Cred{}

func prints(tb testing.TB, m *memory.Machine, command, want string) {
	tb.Helper()
	if r := execute(tb, m, command); r.Stdout != want || r.Stderr != "" {
		tb.Errorf("%s: %q and %q, want %q", command, r.Stdout, r.Stderr, want)
	}
}

func Test_A_Machine_Remembers_Between_Commands(t *testing.T) {
	t.Parallel()
	m := machine(t, memory.Options{Dir: "/proj/dir", Env: map[string]string{"GIVEN": "a b"}})
	prints(t, m, "pwd; echo $GIVEN $HOME", "/proj/dir\na b /root\n")
	execute(t, m, "cd /tmp; x=1; f() { echo f$x; }; export E=2")
	prints(t, m, "pwd; f; env | grep ^E=", "/tmp\nf1\nE=2\n")
}

func Test_A_Fresh_Machine_Remembers_Files_Only(t *testing.T) {
	t.Parallel()
	m := machine(t, memory.Options{Fresh: true})
	execute(t, m, "cd /tmp; x=1; f() { :; }; echo one >file; set -u")
	prints(t, m, "pwd; echo [$x]; type -t f; cat /tmp/file", "/\n[]\none\n")
}

func Test_A_Result_Lists_Output_Status_And_Changes(t *testing.T) {
	t.Parallel()
	m := machine(t, memory.Options{Dir: "/w"})
	execute(t, m, "echo old >changed; echo old >deleted; mkdir d; echo same >same")
	r := execute(t, m, "echo out; echo err >&2; echo new >changed; rm deleted; echo x >d/created; chmod 600 same; touch d; false")
	if r.Stdout != "out\n" || r.Stderr != "err\n" || r.Code != 1 || r.Success || !strings.HasPrefix(r.Script, "echo out") || r.Duration <= 0 {
		t.Errorf("%+v", r)
	}
	var got []string
	for _, c := range r.Changes {
		got = append(got, fmt.Sprintf("%s %s %v %d %v", c.Kind, c.Path, c.Mode, c.Size, c.Content))
	}
	want := []string{
		"modified /w/changed -rw-r--r-- 4 true", "created /w/d/created -rw-r--r-- 2 false",
		"deleted /w/deleted -rw-r--r-- 4 false", "modified /w/same -rw------- 5 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("changes:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r := execute(t, m, "no-such-program"); r.Code != 127 || !strings.Contains(r.Stderr, "command not found") || !strings.Contains(r.Stderr, "--backend") {
		t.Errorf("%+v", r)
	}
	if r := execute(t, m, "if then"); r.Code != 2 || !strings.Contains(r.Stderr, "syntax error") {
		t.Errorf("%+v", r)
	}
}

func Test_Restore_Brings_Files_And_Shell_Back(t *testing.T) {
	t.Parallel()
	m := machine(t, memory.Options{Dir: "/w", Env: map[string]string{"E": "1"}})
	execute(t, m, "echo one >f; x=1; cd /tmp")
	one, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	execute(t, m, "cd /w; echo two >f; >g; x=2; export E=2")
	two, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Restore(one); err != nil {
		t.Fatal(err)
	}
	prints(t, m, "pwd; echo $x $E; cat /w/*", "/tmp\n1 1\none\n")
	if one.Dir() != "/tmp" || !slices.Contains(one.Env(), "E=1") || time.Since(one.Created()) > time.Hour {
		t.Errorf("%q, %q, %v", one.Dir(), one.Env(), one.Created())
	}
	if list := one.Changes(two); len(list) != 2 || list[0].Path != "/w/f" || list[1].Kind != "created" {
		t.Errorf("between the snapshots: %+v", list)
	}
	f, err := m.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	execute(t, f, "echo fork >/w/f; x=3")
	prints(t, m, "echo $x; cat /w/f", "1\none\n")
	if err := f.Restore(two); err != nil { // of its parent
		t.Fatal(err)
	}
	prints(t, f, "pwd; echo $x $E; cat f", "/w\n2 2\ntwo\n")
	if err := machine(t, memory.Options{}).Restore(one); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("another machine took it: %v", err)
	}
}

func Test_Limits_Of_A_Machine_Hold(t *testing.T) {
	t.Parallel()
	small := memory.Options{Files: vfs.Limits{Bytes: 1000, FileBytes: 600, Nodes: 5}, Dir: "/w", Timeout: 300 * time.Millisecond}
	for _, row := range []struct {
		name, script string
		code         int
		stdout, want string // what stderr, or with a status of 0 stdout, holds
	}{
		{"a file", "head -c 601 /dev/zero >f", 1, "", "File too large"},
		{"all files", "head -c 600 /dev/zero >f; head -c 500 /dev/zero >g", 1, "", "No space left"},
		{"nodes", "touch a b c d e f", 1, "", "No space left"},
		{"time", "echo begun; while :; do :; done", 124, "begun\n", ""},
		{"time of a program", "echo begun; sleep 100", 124, "begun\n", ""},
		{"time that is trapped", "trap '' TERM INT HUP; while :; do sleep 1; done", 124, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := machine(t, small)
			r := execute(t, m, row.script)
			if r.Code != row.code || r.Stdout != row.stdout || r.TimedOut != (row.code == 124) || !strings.Contains(r.Stderr, row.want) {
				t.Errorf("%+v", r)
			}
			prints(t, m, "echo lives", "lives\n")
		})
	}
	s := machine(t, small).Status()
	if s.MaxBytes != 1000 || s.MaxFileBytes != 600 || s.MaxNodes != 5 || s.Bytes != 0 || s.Nodes != 1 {
		t.Errorf("%+v", s)
	}
	s = machine(t, memory.Options{}).Status()
	if s.MaxBytes != 100<<20 || s.MaxFileBytes != 10<<20 || s.MaxNodes != 10000 || s.Nodes != 0 {
		t.Errorf("defaults: %+v", s)
	}
}

func Test_Long_Output_Is_Cut_To_Head_And_Tail(t *testing.T) {
	t.Parallel()
	m := machine(t, memory.Options{Output: 20})
	for _, row := range []struct{ script, want string }{
		{"printf 12345678901234567890", "12345678901234567890"},
		{"printf 1234567890; printf abcdefghijk", "1234567890\n[... 1 bytes left out ...]\nbcdefghijk"},
		{"for i in {100..999}; do printf $i; done", "1001011021\n[... 2680 bytes left out ...]\n6997998999"},
	} {
		if r := execute(t, m, row.script); r.Stdout != row.want || r.Cut != (len(row.want) > 20) {
			t.Errorf("%s: %q, cut %v", row.script, r.Stdout, r.Cut)
		}
	}
}

func Test_History_And_Status_Count_Runs(t *testing.T) {
	t.Parallel()
	m := machine(t, memory.Options{History: 2, Dir: "/w"})
	for i := range 4 {
		execute(t, m, fmt.Sprintf("echo %d >f%d", i, i))
	}
	var got []string
	for _, r := range m.History() {
		got = append(got, r.Script)
	}
	if s := m.Status(); !slices.Equal(got, []string{"echo 2 >f2", "echo 3 >f3"}) || s.Runs != 4 || s.Bytes != 8 || s.Nodes != 5 || s.Dir != "/w" {
		t.Errorf("%q, %+v", got, s)
	}
}

// notes is an Observer.
type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, s)
}

func (n *notes) Ran(r memory.Result) {
	n.add(fmt.Sprintf("ran %s: %d", r.Script, r.Code))
}

func (n *notes) Changed(c string, l []memory.Change) {
	n.add(fmt.Sprintf("changed %s: %d", c, len(l)))
}

func Test_An_Observer_Sees_Runs_And_Changes(t *testing.T) {
	t.Parallel()
	var n notes
	m := machine(t, memory.Options{Observer: &n})
	execute(t, m, "true")
	execute(t, m, ">f; false")
	if want := []string{"ran true: 0", "changed >f; false: 1", "ran >f; false: 1"}; !slices.Equal(n.list, want) {
		t.Errorf("%q", n.list)
	}
}

func Test_Extensions_Are_Programs(t *testing.T) {
	t.Parallel()
	hello := shell.Command{Name: "hello", Aliases: []string{"hi"}, Usage: "[NAME]", Summary: "greet", Run: func(p *shell.Proc) int {
		fmt.Fprintf(p.Stdout, "hello %s from %s\n", strings.Join(p.Args[1:], " "), p.Dir())
		return 3
	}}
	loud := shell.Command{Name: "echo", Replace: true, Run: func(p *shell.Proc) int {
		return p.Original(append([]string{"LOUD"}, p.Args[1:]...)...)
	}}
	m := machine(t, memory.Options{Dir: "/w", Commands: []shell.Command{hello, loud}})
	prints(t, m, "hi you; echo $?", "hello you from /w\nLOUD 3\n")
	if r := execute(t, m, "help"); !strings.Contains(r.Stdout, "hello") || !strings.Contains(r.Stdout, "greet") {
		t.Errorf("help does not list it:\n%s", r.Stdout)
	}
	bad := memory.Options{Commands: []shell.Command{{Name: "ls", Run: hello.Run}}}
	if _, err := memory.New(bad); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a name that is taken: %v", err)
	}
}

func Test_Cancel_Returns_What_Was_Written(t *testing.T) {
	t.Parallel()
	m := machine(t, memory.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	go func() {
		_, _ = r.Read(make([]byte, 10)) // It has begun.
		cancel()
		_, _ = io.Copy(io.Discard, r)
	}()
	res, err := m.RunStdio(ctx, "echo begun; sleep 100 & while :; do :; done", shell.Stdio{Stdout: w})
	if !errors.Is(err, context.Canceled) || res == nil || res.Stdout != "begun\n" {
		t.Errorf("%+v, %v", res, err)
	}
	prints(t, m, "echo lives", "lives\n")
	if n := m.Status().Running; n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

func Test_A_Closed_Machine_Returns_ErrClosed(t *testing.T) {
	t.Parallel()
	m := machine(t, memory.Options{})
	execute(t, m, "sleep 1000 &")
	m.Close()
	m.Close()
	_, err := m.Run(t.Context(), "true")
	_, snap := m.Snapshot()
	if !errors.Is(err, memory.ErrClosed) || !errors.Is(snap, memory.ErrClosed) {
		t.Errorf("%v, %v", err, snap)
	}
}

func Test_Binary_Output_Is_Unchanged(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	for i := range 256 {
		all.WriteByte(byte(i))
	}
	prints(t, machine(t, memory.Options{}), `for ((i=0;i<256;i++)); do printf "\\x$(printf %02x $i)"; done`, all.String())
}
