//go:build linux

package escape_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

// holdNoted returns an error if During has noted something.
func holdNoted(h *host, _ outcome) error {
	switch text := h.vars["during"]; {
	case strings.Contains(text, "BROKEN"):
		return fmt.Errorf("%w: %s", errNotTried, text)
	case text != "":
		return fmt.Errorf("while it ran: %s", text)
	}
	return nil
}

func (h *host) note(format string, args ...any) {
	h.vars["during"] += fmt.Sprintf(format+"; ", args...)
}

// greeting connects from the machine and returns the server's first message; "": it cannot be reached.
func (h *host) greeting(addr string) string {
	text, _ := h.readGreeting(addr)
	return text
}

func (h *host) readGreeting(addr string) (string, error) {
	c, err := h.network.Dial(addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	buf := make([]byte, 100)
	n, err := c.Read(buf)
	return string(buf[:n]), err
}

// requestThroughProxy returns the response of a proxy at an address of the machine.
func (h *host) requestThroughProxy(addr string) string {
	c, err := h.network.Dial(addr)
	if err != nil {
		return ""
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n")
	data, _ := io.ReadAll(c)
	return string(data)
}

// ownAddresses are the addresses of the machine.
var ownAddresses = []string{"127.0.0.1", "127.0.0.2", testnet.OwnIPv4, "::1", testnet.OwnIPv6}

// holdNoSockets returns an error that lists the sockets left in the machine's network.
func holdNoSockets(h *host, _ outcome) error {
	left, err := h.network.Sockets(h.target.isOwnSocket)
	if len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("sockets are left: %q", left))
	}
	return err
}

// exchangeLines writes a line into one pipe of the work tree, and waits for a line from another.
func (h *host) exchangeLines(to, from string) {
	err := func() error {
		// Open for reading and writing, so that open(2) does not wait for the other end.
		w, err := os.OpenFile(filepath.Join(h.work, to), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer w.Close()
		r, err := os.OpenFile(filepath.Join(h.work, from), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer r.Close()
		if _, err = w.WriteString("go\n"); err == nil {
			err = r.SetReadDeadline(time.Now().Add(patience / 2))
		}
		if err == nil {
			_, err = r.Read(make([]byte, 100))
		}
		return err
	}()
	if err != nil {
		h.note("BROKEN: %v", err)
	}
}

// killCommand kills agent-sandbox: the process of the attempt, and the keeper of its sandbox.
func (h *host) killCommand(p *attempt) {
	h.killed = true
	if p.inside && h.target.persistent {
		for _, pid := range h.commandPIDs() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = p.cmd.Process.Kill()
}

// proxies returns attempts to reach, replace and stop the proxy.
func proxies() []escape {
	good := &testnet.Limits{Good: []string{"allowed.test"}}
	naive := &testnet.Limits{Good: []string{"allowed.test"}, Naive: true}
	fetch := attacker.Probe{Good: true, Via: "plain", To: "http://allowed.test/"}
	list := rules("allowed.test")
	fetched := "{attacker} " + strings.Join(attacker.ProbeArgs(fetch), " ")
	wait := fetched + "; echo ready; read go; "
	return []escape{
		{
			ID: "E21.26", Name: "the host's users do not reach the proxy", Matrix: rowProxy, Flags: list, Net: naive, Sh: wait,
			During: func(h *host, _ *attempt) {
				for _, a := range ownAddresses {
					if got := h.requestThroughProxy(net.JoinHostPort(a, "3128")); got != "" {
						h.note("the proxy answers at %s: %.100q", a, got)
					}
				}
				if left, err := h.network.Sockets(h.target.isOwnSocket); err != nil || len(left) > 0 {
					h.note("sockets in the host's network: %v %q", err, left)
				}
			},
			Hold: holdNoted,
		},
		{
			ID: "E21.27", Name: "no other sandbox reaches it, with any network of its own", Matrix: rowProxy, Flags: list, Net: naive, Sh: wait,
			During: func(h *host, p *attempt) {
				full := append([]string{h.vars["attacker"]}, attacker.ProbeArgs(attacker.Probe{Name: "other", Via: "plain", To: "http://allowed.test/", Expect: testnet.Permitted})...)
				for _, flags := range [][]string{{"--network=none"}, {"--deny", "allowed.test"}, {"--network=host"}} {
					args := full
					if p.inside {
						args = h.exec(slices.Concat(append([]string{"-q"}, flags...), []string{"--"}, full)...)
					}
					h.runSecond(flags, args)
				}
			},
			Hold: holdNoted,
		},
		{
			ID: "E21.28", Name: "the proxy's port cannot be taken over, nor its listener", Matrix: rowProxy, Flags: list, Net: good,
			Sh: processesScript + "[ $inside ] && " + fetched + "; {attacker} takeover; [ $inside ] && " + fetched,
		},
		{
			ID: "E21.29", Name: "when the proxy does not answer there is no other way out", Matrix: rowProxy, Flags: list, Net: naive,
			Setup: func(h *host) { h.runScript("mkfifo go done") },
			Sh:    fetched + "; {attacker} patience go done",
			During: func(h *host, p *attempt) {
				// The streams may go through a stopped process, so the two sides use pipes in the work tree.
				stopped := h.stopCommands()
				if p.inside && len(stopped) == 0 {
					h.note("BROKEN: no process to stop")
				}
				h.exchangeLines("go", "done")
				for _, pid := range stopped {
					_ = syscall.Kill(pid, syscall.SIGCONT)
				}
			},
			Hold: holdNoted,
		},
		{
			ID: "E21.30", Name: "when agent-sandbox is killed, connections end and nothing is left of it", Matrix: rowProxy, Ends: true,
			Flags: append(rules("allowed.test"), "--publish", "8700"), Net: naive, Go: []string{"hold", "allowed.test:443", "8700"},
			During: func(h *host, p *attempt) {
				if err := h.network.Settle(); err != nil || len(h.network.Web.Connections()) == 0 {
					h.note("BROKEN: no connection is held (%v)", err)
				}
				if got, err := h.readGreeting("127.0.0.1:8700"); p.inside && got != "inside 8700\n" {
					h.note("BROKEN: the published port answers %q, %v", got, err)
				}
				h.killCommand(p)
			},
			Hold: func(h *host, o outcome) error {
				return errors.Join(holdNoted(h, o), h.network.Web.WaitReleased(), holdNoSockets(h, o))
			},
		},
	}
}

// runSecond runs a second command beside the first, and records its success.
func (h *host) runSecond(flags, args []string) {
	cmd := h.command(h.work, args...)
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &buf
	err := h.network.Machine.Do(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	out := buf.String()
	if err != nil || !strings.Contains(out, "tried") {
		h.note("BROKEN %q: %v %s", flags, err, out)
	}
	if strings.Contains(out, "OPEN") {
		h.note("%q: %s", flags, out)
	}
}
