//go:build linux

package escape_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
)

// everyRequest sends each number of a message to the agent, alone and with one field.
const everyRequest = `python3 -c 'import os, socket, struct
for n in range(256):
    for rest in (b"", struct.pack(">I", 1) + b"x"):
        try:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(60)
            s.connect(os.environ["SSH_AUTH_SOCK"])
            m = bytes([n]) + rest
            s.sendall(struct.pack(">I", len(m)) + m)
            s.recv(100)
        except OSError:
            pass'
`

func sshAgents() []escape {
	return []escape{{
		ID: "F24.18", Name: "an SSH agent whose identities may be used is not changed",
		Setup: func(h *host) { h.beginSSHAgent() }, Env: []string{"SSH_AUTH_SOCK={scratch}.agent"}, Flags: []string{"--preset", "@ssh-agent"},
		Sh: `ssh-keygen -qt ed25519 -N '' -f k; ssh-add k; ssh-add -t 60 k; ssh-add -d {home}/agent.pub; ssh-add -D
			` + everyRequest + `true`,
		Hold: func(h *host, _ outcome) error { return h.checkSSHAgent() },
	}}
}

// beginSSHAgent starts the user's SSH agent, with the key whose public half is ~/agent.pub.
func (h *host) beginSSHAgent() {
	h.t.Helper()
	socket := h.path("{scratch}.agent")
	cmd := h.command("/", "ssh-agent", "-D", "-a", socket)
	cmd.Env = []string{"PATH=/usr/bin:/bin"} // the cleanup must not take it for a process of an attempt
	stdout, err := cmd.StdoutPipe()
	h.must(err)
	h.must(cmd.Start())
	h.closers = append(h.closers, func() {
		_, _ = cmd.Process.Kill(), cmd.Wait()
		h.remove(socket)
	})
	line, err := bufio.NewReader(stdout).ReadString('\n') // it prints the name of the socket when it listens
	h.must(err)
	if !strings.HasPrefix(line, "SSH_AUTH_SOCK=") {
		h.t.Fatalf("set-up: the SSH agent printed %q", line)
	}
	h.runScript("export SSH_AUTH_SOCK=" + socket + "; ssh-keygen -qt ed25519 -N '' -C key -f ~/agent && ssh-add -q ~/agent && rm ~/agent")
}

// checkSSHAgent returns an error unless the agent has its key and no other.
func (h *host) checkSSHAgent() error {
	cmd := h.command("/", "ssh-add", "-L")
	cmd.Env = append(cmd.Env, "SSH_AUTH_SOCK="+h.path("{scratch}.agent"))
	out, err := cmd.CombinedOutput()
	want, rerr := os.ReadFile(h.path("home/agent.pub"))
	if string(out) != string(want) {
		err = errors.Join(err, fmt.Errorf("the SSH agent has %q, want %q", strings.TrimSpace(string(out)), strings.TrimSpace(string(want))))
	}
	return errors.Join(err, rerr)
}
