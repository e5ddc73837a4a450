package wrapper

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

func Test_Check_Distinguishes_Inside_From_Outside(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), guesttest.Program(t), "check").CombinedOutput()
	if string(out) != "outside sandbox\n" || err == nil {
		t.Errorf("outside: %q, %v", out, err)
	}
	guesttest.NewBox(t).Run(t, layout.Program, "check").Check(t, 0, "inside sandbox\n", "")
}

func Test_Usage_Errors_Are_Status2(t *testing.T) {
	for _, args := range [][]string{{}, {"no-such"}, {"multicall"}, {"multicall", "agent-sandbox"}, {"init"}, {"init", "true"}, {"init", "--"}, {"init", "--tty", "--", ""}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), guesttest.Program(t), args...)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 2 || !strings.HasPrefix(string(out), "usage: ") {
				t.Errorf("status %d, %q", cmd.ProcessState.ExitCode(), out)
			}
		})
	}
}

func Test_Deny_Refuses_By_Any_Name(t *testing.T) {
	b := guesttest.NewBox(t)
	seq := resolved(t, "seq")
	b.Add("--dir", layout.DenyDir+"/seq")
	b.Cover(t, seq)
	const message = "agent-sandbox: command 'seq' is blocked in this sandbox\nhint: "
	for name, argv := range map[string][]string{
		"by name":             {"seq", "3"},
		"by path":             {seq, "3"},
		"by multicall":        {layout.Program, "multicall", "seq", "3"},
		"by another argv 0":   {"/bin/bash", "-c", "exec -a ls " + seq + " 3"},
		"by an empty argv 0":  {"/bin/bash", "-c", "exec -a '' " + seq + " 3"},
		"as a login shell":    {"/bin/bash", "-c", "exec -a -seq " + seq + " 3"},
		"by a link elsewhere": {"/bin/bash", "-c", "ln -s " + seq + " /tmp/other; exec /tmp/other 3"},
		"by dots":             {"/bin/bash", "-c", "exec -a .. " + seq + " 3"},
	} {
		t.Run(name, func(t *testing.T) {
			got := b.Run(t, argv...)
			got.Check(t, 1, "", message)
			if got.Stdout != "" || strings.Count(got.Stderr, "\n") != 2 {
				t.Errorf("more than the two lines: %q %q", got.Stdout, got.Stderr)
			}
		})
	}
	b.Run(t, "/bin/bash", "-c", "cp "+seq+" /tmp/seq2; /tmp/seq2 3").Check(t, 126, "", "no rule")
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

func Test_Script_Runs_In_Place_Of_The_Command(t *testing.T) {
	seq := resolved(t, "seq")
	const report = `echo "$AGENT_SANDBOX_CMD $AGENT_SANDBOX_REAL"; printf '<%s>' "$@"`
	for _, row := range []struct {
		name, text string
		real       bool
		code       int
		stdout     string
		stderr     string
	}{
		{"with an interpreter", "#!/bin/bash\n" + report, true, 0, "seq " + layout.BinDir + "/seq\n<a b><><*>", ""},
		{"without one", report, true, 0, "seq " + layout.BinDir + "/seq\n<a b><><*>", ""},
		{"without a real program", "#!/bin/sh\n" + report, false, 0, "seq \n<a b><><*>", ""},
		{"its status is kept", "#!/bin/sh\nexit 7\n", true, 7, "", ""},
		{"it can go on to the real program", "#!/bin/sh\nexec \"$AGENT_SANDBOX_REAL\" 2\n", true, 0, "1\n2\n", ""},
		{"calling itself ends", "#!/bin/sh\nexec seq \"$@\"\n", true, 126, "", "calls itself again and again"},
		{"a missing interpreter", "#!/no/such\n", true, 126, "", "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := guesttest.NewBox(t)
			b.Script(t, "seq", row.text)
			if row.real {
				b.Add("--ro-bind", seq, layout.BinDir+"/seq")
			}
			b.Cover(t, seq)
			b.Run(t, "seq", "a b", "", "*").Check(t, row.code, row.stdout, row.stderr)
		})
	}
}

func Test_The_Wrapper_Never_Runs_Itself(t *testing.T) {
	b := guesttest.NewBox(t)
	b.Add("--dir", layout.PresetDir+"/git", "--ro-bind", guesttest.Program(t), layout.BinDir+"/git")
	b.Cover(t, "/usr/bin/git")
	b.Run(t, "git", "status").Check(t, 126, "", "is the wrapper itself")
}

func Test_Missing_Programs_And_Presets_Are_Named(t *testing.T) {
	b := guesttest.NewBox(t)
	b.Add("--dir", layout.PresetDir+"/git", "--dir", layout.PresetDir+"/seq")
	b.Cover(t, "/usr/bin/git")
	b.Cover(t, resolved(t, "seq"))
	b.Run(t, "git", "status").Check(t, 127, "", "'git' has no program behind its wrapper")
	b.Run(t, "seq", "3").Check(t, 126, "", "no preset for 'seq'")
}

func Test_Shared_Targets_Serve_Their_Other_Names(t *testing.T) {
	busybox := resolved(t, "busybox")
	b := guesttest.NewBox(t)
	b.Add("--dir", layout.DenyDir+"/wget", "--ro-bind", busybox, layout.TargetDir+busybox)
	b.Cover(t, busybox)
	b.Add("--symlink", busybox, "/run/wget", "--symlink", busybox, "/run/echo")
	b.Run(t, "/run/wget", "-h").Check(t, 1, "", "'wget' is blocked")
	b.Run(t, "/run/echo", "hello").Check(t, 0, "hello\n", "")
	b.Run(t, busybox, "echo", "hello").Check(t, 0, "hello\n", "")
	b.Run(t, busybox, "wget", "-h").Check(t, 1, "", "'wget' is blocked")
	b.Run(t, busybox).Check(t, 0, "BusyBox", "")
}

func Test_Aliases_Carry_The_Rule_To_The_Targets_Own_Name(t *testing.T) {
	seq := resolved(t, "seq")
	b := guesttest.NewBox(t)
	b.Add("--dir", layout.DenyDir+"/se", "--symlink", "se", layout.AliasDir+"/seq", "--symlink", seq, "/run/se")
	b.Cover(t, seq)
	b.Run(t, "/run/se", "3").Check(t, 1, "", "'se' is blocked")
	b.Run(t, "seq", "3").Check(t, 1, "", "'se' is blocked")
}

func Test_Shared_Targets_Are_Recognized(t *testing.T) {
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
		if got := layout.IsShared(row.command, row.target); got != row.shared {
			t.Errorf("Shared(%q, %q) = %v", row.command, row.target, got)
		}
	}
}
