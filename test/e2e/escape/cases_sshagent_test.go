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
	}, {
		ID: "F24.19", Name: "a GnuPG agent that may sign gives no secret key, and is not changed",
		Setup: func(h *host) { h.beginGPGAgent() }, Env: []string{"GNUPGHOME={scratch}.gnupg"}, Flags: []string{"--preset", "@gpg-agent"},
		Sh: `grip=$(cat {home}/grip); : >{home}/project/stolen
			for request in "EXPORT_KEY $grip" "EXPORT_KEY --openpgp $grip" "KEYWRAP_KEY --export" "PUTVAL k v" "PASSWD $grip" "DELETE_KEY --force $grip" KILLAGENT; do
				gpg-connect-agent --no-autostart "$request" /bye
			done
			gpg --batch --pinentry-mode loopback --passphrase '' --export-secret-keys >{home}/project/stolen
			cp -r "$GNUPGHOME/private-keys-v1.d" {home}/project/keys; cp -r {scratch}.gnupg/private-keys-v1.d {home}/project/keys
			gpg --batch --yes --delete-secret-keys $(gpg -K --with-colons | sed -n '/^fpr/{s/fpr:*//;s/:.*//p;q}'); true`,
		Hold: func(h *host, _ outcome) error { return h.checkGPGAgent() },
	}}
}

// beginGPGAgent makes the user a secret key without a passphrase, with an agent; ~/grip names it.
func (h *host) beginGPGAgent() {
	h.t.Helper()
	dir := h.path("{scratch}.gnupg")
	// The agent lives on, so it has no variable by which the cleanup finds processes of an attempt.
	h.runScript("export GNUPGHOME=" + dir + `; mkdir -m 700 $GNUPGHOME && env -i GNUPGHOME=$GNUPGHOME PATH=/usr/bin:/bin gpg --batch --quiet --passphrase '' --quick-gen-key me@example.com ed25519 sign 0 &&
		gpg -K --with-colons --with-keygrip | sed -n '/^grp/{s/grp:*//;s/:.*//p}' >~/grip`)
	h.closers = append(h.closers, func() {
		h.runScript("gpgconf --homedir " + dir + " --kill gpg-agent; rm -rf " + dir)
	})
}

// checkGPGAgent returns an error unless the agent has its key, and the workspace has no copy of it.
func (h *host) checkGPGAgent() error {
	cmd := h.command("/", "sh", "-c", "gpg -K --with-colons | grep -c ^sec: ; gpg-connect-agent --no-autostart 'GETVAL k' /bye | grep -c '^D v'")
	cmd.Env = append(cmd.Env, "GNUPGHOME="+h.path("{scratch}.gnupg"))
	out, _ := cmd.Output() // grep -c ends with 1 when there is none
	var err error
	if string(out) != "1\n0\n" {
		err = fmt.Errorf("secret keys and changed values: %q, want one and none", out)
	}
	for _, name := range []string{"home/project/stolen", "home/project/keys"} {
		if info, stat := os.Stat(h.path(name)); stat == nil && (info.IsDir() || info.Size() > 0) {
			err = errors.Join(err, fmt.Errorf("%s has a secret key", name))
		}
	}
	return err
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
