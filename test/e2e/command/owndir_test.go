package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a command could write into the directories of agent-sandbox would run on the host: trusted configurations name programs. The
// first sandbox of a fresh home finds none of these directories, and the host creates them afterwards.
func Test_The_First_Sandbox_Cannot_Write_The_Directories_Of_Agent_Sandbox(t *testing.T) {
	if err := unavailable(t); err != nil {
		t.Skipf("bubblewrap cannot run here: %v", err)
	}
	all := newDays(t)
	for name, row := range map[string]struct{ prepare, flags, dir string }{
		"data":                     {"mkdir -p ~/.local/share", "--rw ~/.local/share", ".local/share"},
		"the home":                 {"true", "--rw ~", ".local/share"},
		"state":                    {"mkdir -p ~/.local/state", "--rw ~/.local/state", ".local/state"},
		"configuration":            {"mkdir -p ~/.config", "--rw ~/.config", ".config"},
		"data in the workspace":    {"export XDG_DATA_HOME=$PWD/data; mkdir data", "", "shop/data"},
		"no directory of data yet": {"export XDG_DATA_HOME=$PWD/later", "", "shop/later"},
	} {
		t.Run(name, func(t *testing.T) {
			d := all.begin(t)
			dir := filepath.Join(d.home, row.dir)
			out, err := d.run(t, row.prepare+"; agent-sandbox exec -q "+row.flags+" -- sh -c 'mkdir -p "+dir+"; echo a >"+dir+"/beside; mkdir -p "+dir+
				"/agent-sandbox/trust; for f in trust/planted planted agents/claude; do echo a >"+dir+"/agent-sandbox/$f; done; true'")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "beside")); string(text) != "a\n" {
				t.Errorf("the control: %q, %v\n%s", text, err, out)
			}
			for _, name := range []string{"trust/planted", "planted", "agents/claude"} {
				if _, err := os.Lstat(filepath.Join(dir, "agent-sandbox", name)); err == nil {
					t.Errorf("a command has written %s\n%s", name, out)
				}
			}
		})
	}
}

// A sandbox that runs already sees nothing of a login that comes later.
func Test_A_Running_Sandbox_Does_Not_See_A_Later_Login(t *testing.T) {
	if err := unavailable(t); err != nil {
		t.Skipf("bubblewrap cannot run here: %v", err)
	}
	d := newDays(t).begin(t)
	out, err := d.run(t, `mkfifo go went
agent-sandbox exec -q -- sh -c 'echo begun >went; read x <go; ls ~/.local/share/agent-sandbox/*/* 2>/dev/null; cat ~/.local/share/agent-sandbox/agents/claude/login; true' >seen 2>&1 &
read x <went
mkdir -p ~/.local/share/agent-sandbox/agents/claude ~/.local/share/agent-sandbox/stages/x; echo canary >~/.local/share/agent-sandbox/agents/claude/login
echo >go; wait; cat seen`)
	if err != nil || strings.Contains(out, "canary") || strings.Contains(out, "claude/login\n") || strings.Contains(out, "stages/x") || !strings.Contains(out, "No such file") {
		t.Errorf("%v\n%s", err, out)
	}
}
