package command_test

import (
	"strings"
	"testing"
)

// With an allow-list, the guest prepares the network inside, and with a published port it
// continues to run. Neither may separate the command from its terminal.
func Test_Terminal_With_A_Network_Keeps_Job_Control(t *testing.T) {
	for _, row := range []struct{ name, flags string }{
		{"an allow-list", "--allow example.com"},
		{"a published port", "--allow example.com --publish 47391:80"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := openShell(t)
			c.keys("agent-sandbox exec " + row.flags + " -- sh -c 'echo rea''dy; until test -e go; do sleep 0.05; done; read x; echo got-$x; exit 9'\n")
			c.expect(`ready`)
			c.keys(ctrlZ)
			c.expect(`Stopped`)
			c.expect(`prompt>`)
			c.keys("touch go; fg\n")
			c.expect(`exec ` + row.flags)
			c.keys("hello\n")
			c.expect(`got-hello`)
			c.expect(`prompt>`)
			c.keys("echo status-$?\n")
			c.expect(`status-9`)
			c.keys("exit\n")
		})
	}
}

func Test_Terminal_Ctrl_C_Ends_A_Command_With_A_Network(t *testing.T) {
	c := openSandbox(t, "exec", "--allow", "example.com", "--publish", "47392:80", "--", "sh", "-c", "echo ready; exec sleep 60") // dash may be waiting for a program that the key did not reach
	c.expect(`ready`)
	c.keys(ctrlC)
	if code, rest := c.wait(); code != 130 {
		t.Errorf("exit status %d, want 130: %q", code, rest)
	}
}

// askingPolicy has a secret whose program asks at the terminal.
const askingPolicy = `{"network": {"allow": ["example.com"]}, "secrets": {"A": {"hosts": ["example.com"],
	"from_command": ["sh", "-c", "printf 'passphrase? ' >/dev/tty; read x </dev/tty; test $x = sesame && echo value-of-it"]}}}`

func Test_Terminal_A_Secret_Is_Asked_For(t *testing.T) {
	for _, row := range []struct {
		name, keys, want string
		code             int
	}{
		{"the answer opens it", "sesame\n", "placeholder 24", 0},
		{"another one is an error", "no\n", "the secret A (", 125},
		{"ctrl-C ends it", ctrlC, "", 130},
	} {
		t.Run(row.name, func(t *testing.T) {
			requireBwrap(t)
			c := open(t, "sh", "-c", "echo '"+strings.ReplaceAll(askingPolicy, "'", `'\''`)+"' >../policy.json; exec agent-sandbox exec -c ../policy.json -- sh -c 'echo placeholder ${#A}'")
			c.expect(`passphrase\? `)
			c.keys(row.keys)
			if code, rest := c.wait(); code != row.code || !strings.Contains(rest, row.want) {
				t.Errorf("exit status %d, text %q, want %d, %q", code, rest, row.code, row.want)
			}
		})
	}
}
