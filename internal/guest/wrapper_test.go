package guest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckTellsInsideFromOutside(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), guestProgram(t), "check").CombinedOutput()
	if string(out) != "outside sandbox\n" || err == nil {
		t.Errorf("outside: %q, %v", out, err)
	}
	newBox(t).run(t, Program, "check").check(t, 0, "inside sandbox\n", "")
}

func TestUsageErrorsAreStatus2(t *testing.T) {
	for _, args := range [][]string{{}, {"no-such"}, {"multicall"}, {"multicall", "agent-sandbox"}, {"init"}, {"init", "true"}, {"init", "--"}, {"init", "--tty", "--", ""}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), guestProgram(t), args...)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 2 || !strings.HasPrefix(string(out), "usage: ") {
				t.Errorf("status %d, %q", cmd.ProcessState.ExitCode(), out)
			}
		})
	}
}

func TestDenyRefusesByAnyName(t *testing.T) {
	b := newBox(t)
	seq := resolved(t, "seq")
	b.add("--dir", DenyDir+"/seq")
	b.cover(t, seq)
	const message = "agent-sandbox: command 'seq' is blocked in this sandbox\nhint: "
	for name, argv := range map[string][]string{
		"by name":             {"seq", "3"},
		"by path":             {seq, "3"},
		"by multicall":        {Program, "multicall", "seq", "3"},
		"by another argv 0":   {"/bin/bash", "-c", "exec -a ls " + seq + " 3"},
		"by an empty argv 0":  {"/bin/bash", "-c", "exec -a '' " + seq + " 3"},
		"as a login shell":    {"/bin/bash", "-c", "exec -a -seq " + seq + " 3"},
		"by a link elsewhere": {"/bin/bash", "-c", "ln -s " + seq + " /tmp/other; exec /tmp/other 3"},
		"by dots":             {"/bin/bash", "-c", "exec -a .. " + seq + " 3"},
	} {
		t.Run(name, func(t *testing.T) {
			got := b.run(t, argv...)
			got.check(t, 1, "", message)
			if got.stdout != "" || strings.Count(got.stderr, "\n") != 2 {
				t.Errorf("more than the two lines: %q %q", got.stdout, got.stderr)
			}
		})
	}
	b.run(t, "/bin/bash", "-c", "cp "+seq+" /tmp/seq2; /tmp/seq2 3").check(t, 126, "", "no rule")
}

func resolved(t *testing.T, name string) string {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestScriptRunsInPlaceOfTheCommand(t *testing.T) {
	seq := resolved(t, "seq")
	const report = `echo "$AGENT_SANDBOX_CMD $AGENT_SANDBOX_REAL"; printf '<%s>' "$@"`
	for _, row := range []struct {
		name, text string
		real       bool
		code       int
		stdout     string
		stderr     string
	}{
		{"with an interpreter", "#!/bin/bash\n" + report, true, 0, "seq " + BinDir + "/seq\n<a b><><*>", ""},
		{"without one", report, true, 0, "seq " + BinDir + "/seq\n<a b><><*>", ""},
		{"without a real program", "#!/bin/sh\n" + report, false, 0, "seq \n<a b><><*>", ""},
		{"its status is kept", "#!/bin/sh\nexit 7\n", true, 7, "", ""},
		{"it can go on to the real program", "#!/bin/sh\nexec \"$AGENT_SANDBOX_REAL\" 2\n", true, 0, "1\n2\n", ""},
		{"calling itself ends", "#!/bin/sh\nexec seq \"$@\"\n", true, 126, "", "calls itself again and again"},
		{"a missing interpreter", "#!/no/such\n", true, 126, "", "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBox(t)
			b.script(t, "seq", row.text)
			if row.real {
				b.add("--ro-bind", seq, BinDir+"/seq")
			}
			b.cover(t, seq)
			b.run(t, "seq", "a b", "", "*").check(t, row.code, row.stdout, row.stderr)
		})
	}
}

func TestTheWrapperNeverRunsItself(t *testing.T) {
	b := newBox(t)
	b.add("--dir", PresetDir+"/git", "--ro-bind", guestProgram(t), BinDir+"/git")
	b.cover(t, "/usr/bin/git")
	b.run(t, "git", "status").check(t, 126, "", "is the wrapper itself")
}

func TestMissingProgramsAndPresetsAreNamed(t *testing.T) {
	b := newBox(t)
	b.add("--dir", PresetDir+"/git", "--dir", PresetDir+"/seq")
	b.cover(t, "/usr/bin/git")
	b.cover(t, resolved(t, "seq"))
	b.run(t, "git", "status").check(t, 127, "", "'git' has no program behind its wrapper")
	b.run(t, "seq", "3").check(t, 126, "", "no preset for 'seq'")
}

func TestSharedTargetsServeTheirOtherNames(t *testing.T) {
	busybox := resolved(t, "busybox")
	b := newBox(t)
	b.add("--dir", DenyDir+"/wget", "--ro-bind", busybox, TargetDir+busybox)
	b.cover(t, busybox)
	b.add("--symlink", busybox, "/run/wget", "--symlink", busybox, "/run/echo")
	b.run(t, "/run/wget", "-h").check(t, 1, "", "'wget' is blocked")
	b.run(t, "/run/echo", "hello").check(t, 0, "hello\n", "")
	b.run(t, busybox, "echo", "hello").check(t, 0, "hello\n", "")
	b.run(t, busybox, "wget", "-h").check(t, 1, "", "'wget' is blocked")
	b.run(t, busybox).check(t, 0, "BusyBox", "")
}

func TestAliasesCarryTheRuleToTheTargetsOwnName(t *testing.T) {
	seq := resolved(t, "seq")
	b := newBox(t)
	b.add("--dir", DenyDir+"/se", "--symlink", "se", AliasDir+"/seq", "--symlink", seq, "/run/se")
	b.cover(t, seq)
	b.run(t, "/run/se", "3").check(t, 1, "", "'se' is blocked")
	b.run(t, "seq", "3").check(t, 1, "", "'se' is blocked")
}

func TestSharedTargetsAreRecognized(t *testing.T) {
	for _, row := range []struct {
		command, target string
		shared          bool
	}{
		{"git", "/usr/bin/git", false},
		{"python3", "/usr/bin/python3.11", false},
		{"gcc", "/usr/bin/gcc-12", false},
		{"vi", "/usr/bin/vim.basic", false},
		{"bunx", "/usr/local/bin/bun", true},
		{"cat", "/bin/busybox", true},
		{"busybox", "/bin/busybox", true},
		{"cargo", "/root/.cargo/bin/rustup", true},
	} {
		if got := Shared(row.command, row.target); got != row.shared {
			t.Errorf("Shared(%q, %q) = %v", row.command, row.target, got)
		}
	}
}

func TestServesOnlyAsGuest(t *testing.T) {
	for _, row := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{"agent-sandbox"}, false},
		{[]string{"agent-sandbox", "exec", "init"}, false},
		{[]string{"agent-sandbox", "check"}, false},
		{[]string{"/x/agent-sandbox", "init", "--", "true"}, true},
		{[]string{"agent-sandbox", "files", "stat", "x"}, true},
		{[]string{"agent-sandbox", "multicall", "git"}, true},
		{[]string{"renamed", "files"}, false}, // outside nothing is wrapped
	} {
		if got := Serves(row.args); got != row.want {
			t.Errorf("Serves(%q) = %v", row.args, got)
		}
	}
}
