package command_test

import (
	"os"
	"strings"
	"testing"
)

// A user without a home of its own, as in a container or where the user was changed and HOME was not, runs commands all the same.
func Test_Commands_Run_Without_A_Home_That_Can_Be_Written(t *testing.T) {
	if err := unavailable(t); err != nil {
		t.Skipf("bubblewrap cannot run here: %v", err)
	}
	all := newDays(t)
	locked := all.base + "/locked" // of root, where root runs the tests
	if err := os.MkdirAll(locked+"/home", 0o700); err != nil {
		t.Fatal(err)
	}
	homes := map[string]string{"a home that does not exist": "/no/such/home", "a home in proc": "/proc/home", "a home that cannot be written": "/usr"}
	if all.id != 0 {
		homes["another user's home"], homes["a home in another user's home"] = locked, locked+"/home"
	}
	for name, home := range homes {
		t.Run(name, func(t *testing.T) {
			d := all.begin(t)
			out, err := d.run(t, "export HOME="+home+"; agent-sandbox exec -- sh -c 'echo ran >made; echo x >.git/hooks/h' 2>&1; cat made; agent-sandbox exec --backend virtual -- cat notes.txt")
			if err != nil || !strings.HasSuffix(out, "ran\nhello\n") || !strings.Contains(out, "create "+d.home+"/shop/.git/hooks/h:") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A persistent sandbox needs a place for its record. The error says how to name one, and that works.
func Test_Create_Without_A_Home_That_Can_Be_Written_Says_What_To_Set(t *testing.T) {
	if err := unavailable(t); err != nil {
		t.Skipf("bubblewrap cannot run here: %v", err)
	}
	d := newDays(t).begin(t)
	out, err := d.run(t, "export HOME=/proc/home; agent-sandbox create work 2>&1; export XDG_DATA_HOME="+d.home+"/data; agent-sandbox create work && agent-sandbox destroy work")
	const hint = "hint: set XDG_DATA_HOME to the absolute path of a directory that you can write\n"
	if err != nil || !strings.HasPrefix(out, "agent-sandbox: bwrap: create: the records of persistent sandboxes cannot be written: mkdir /proc/home: ") || !strings.HasSuffix(out, hint+"work\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A configuration of its own that the user cannot read is not passed over: it may tighten the policy.
func Test_A_Configuration_That_Cannot_Be_Read_Is_Refused(t *testing.T) {
	all := newDays(t)
	for name, lock := range map[string]string{"the file": "chmod 0 ~/.config/agent-sandbox/config.json", "its directory": "chmod 0 ~/.config/agent-sandbox"} {
		t.Run(name, func(t *testing.T) {
			d := all.begin(t)
			out, err := d.run(t, "mkdir -p ~/.config/agent-sandbox; echo '{}' >~/.config/agent-sandbox/config.json; "+lock+"; agent-sandbox exec -- echo ran; s=$?; chmod 700 ~/.config/agent-sandbox; exit $s")
			if want := "agent-sandbox: " + d.home + "/.config/agent-sandbox/config.json: permission denied\n"; err == nil || !strings.Contains(out, want) || strings.Contains(out, "ran\n") {
				t.Errorf("%v\n%s\nexpected %s", err, out, want)
			}
		})
	}
}
