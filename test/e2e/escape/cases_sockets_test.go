//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

// listener is a socket of a host service. Connections wait in its queue.
type listener struct {
	fd         int
	kind, name string
}

// listen makes a socket of a host service, to which every user may connect; a name
// that begins with @ is abstract.
func (h *host) listen(kind, name string) *listener {
	h.t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, attacker.SocketTypes[kind]|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	h.must(err)
	h.must(unix.Bind(fd, &unix.SockaddrUnix{Name: name}))
	if name[0] != '@' {
		h.must(os.Chmod(name, 0o777))
	}
	if kind != "dgram" {
		h.must(unix.Listen(fd, 100))
	}
	h.closers = append(h.closers, func() {
		_ = unix.Close(fd)
		if name[0] != '@' {
			_ = os.Remove(name)
		}
	})
	return &listener{fd, kind, name}
}

// reached returns an error if a client has connected.
func (l *listener) reached() error {
	var err error
	if l.kind == "dgram" {
		_, _, err = unix.Recvfrom(l.fd, make([]byte, 100), unix.MSG_DONTWAIT)
	} else {
		var fd int
		if fd, _, err = unix.Accept4(l.fd, unix.SOCK_CLOEXEC); err == nil {
			_ = unix.Close(fd)
		}
	}
	if errors.Is(err, unix.EAGAIN) {
		return nil
	}
	return fmt.Errorf("a client reached the host's %s socket %s (%s)", l.kind, l.name, fmt.Sprint(err))
}

func (h *host) listenTCP() (port string) {
	h.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(h.t.Context(), "tcp", "127.0.0.1:0")
	h.must(err)
	h.closers = append(h.closers, func() { _ = l.Close() })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// unreached holds when no client has connected to the host's services.
func unreached(h *host, _ outcome) error {
	var errs []error
	for _, l := range h.services {
		errs = append(errs, l.reached())
	}
	return errors.Join(errs...)
}

// reach returns a case whose host has sockets with these names, in all types. The attacker tries all
// types on all sockets. With late the sockets are created while the sandbox runs.
func reach(id, name, matrix string, flags []string, late bool, where ...string) escape {
	c := escape{ID: id, Name: name, Matrix: matrix, Flags: flags, Hold: unreached}
	c.Go = []string{"connect"}
	var types []string
	for i, w := range where {
		for _, kind := range []string{"stream", "seqpacket", "dgram"} {
			addr := fmt.Sprintf("%s.%s%d", w, kind, i)
			types = append(types, kind, addr)
			c.Go = append(c.Go, kind, addr)
			if kind == "dgram" {
				c.Go = append(c.Go, "sendto", addr, "sendmsg", addr, "sendmmsg", addr, "pair", addr)
			} else if w[0] != '@' && kind == "stream" {
				c.Go = append(c.Go, "nearby", addr)
			}
		}
	}
	open := func(h *host) {
		for i := 0; i < len(types); i += 2 {
			path := h.expand(types[i+1])
			if path[0] != '@' {
				h.must(os.MkdirAll(filepath.Dir(path), 0o755))
			}
			h.services = append(h.services, h.listen(types[i], path))
		}
	}
	if !late {
		c.Setup = open
	} else {
		c.Sh = "echo ready; read go; {attacker}"
		for _, a := range c.Go {
			c.Sh += " '" + a + "'"
		}
		c.Go = nil
		c.During = func(h *host, _ *attempt) {
			open(h)
			h.snapshot()
		}
	}
	return c
}

func sockets() []escape {
	hostNet := []string{"--network=host"}
	unique := func(dir string) string { return dir + "/agent-sandbox-escape-" + strconv.Itoa(os.Getpid()) }
	mine := "/tmp/own-" + strconv.Itoa(os.Getpid())
	out := []escape{
		reach("B11.1", "no engine's socket in /run is reached", "/run/user/1000/bus", nil, false, "{runtime}/docker.sock"),
		reach("B11.2", "no engine's socket in the home is reached", "pathname socket /var/tmp, $HOME", nil, false, "{home}/.docker.sock"),
		reach("B11.3", "no engine's socket is reached with the host's network", "/run/user/1000/bus", hostNet, false, "{runtime}/docker.sock", "{home}/d.sock"),
		reach("B12.1", "no message bus is reached", "/run/user/1000/bus", nil, false, "{runtime}/bus"),
		reach("B12.2", "no message bus is reached with the host's network", "/run/user/1000/bus", hostNet, false, "{runtime}/bus"),
		reach("B13.1", "no socket in /tmp is reached", "pathname socket /tmp", nil, false, unique("/tmp")),
		reach("B13.2", "no socket in /var/tmp is reached", "pathname socket /var/tmp, $HOME", nil, false, unique("/var/tmp")),
		reach("B13.3", "no socket in the work tree is reached", "pathname socket /var/tmp, $HOME", nil, false, "{work}/s"),
		reach("B13.4", "no abstract socket is reached", "abstract unix socket", nil, false, "@agent-sandbox-escape-"+strconv.Itoa(os.Getpid())),
		reach("B13.5", "no abstract socket is reached with the host's network", "abstract unix socket", hostNet, false, "@agent-sandbox-host-"+strconv.Itoa(os.Getpid())),
		reach("B13.6", "no pathname socket is reached with the host's network", "pathname socket /tmp", hostNet, false, "{work}/s", "{home}/s", unique("/tmp"), unique("/var/tmp")),
		reach("B13.7", "no socket that opens after the start is reached", "pathname socket /var/tmp, $HOME", nil, true, "{work}/s", "{home}/s", "{runtime}/s", unique("/tmp"), "@late-"+strconv.Itoa(os.Getpid())),
		reach("B13.8", "no socket that opens after the start is reached with the host's network", "abstract unix socket", hostNet, true, "{work}/s", "{home}/s", "{runtime}/s", "@late-host-"+strconv.Itoa(os.Getpid())),
	}
	one := func(h *host) { h.services = []*listener{h.listen("stream", filepath.Join(h.home, "target.sock"))} }
	return append(out,
		escape{
			ID: "B13.9", Name: "a socket is not reached by another name", Setup: one, Hold: unreached,
			Matrix: "pathname socket /var/tmp, $HOME",
			Sh: `ln -s {home}/target.sock l; ln {home}/target.sock hard; ln -s .. up; cp -l {home}/target.sock hard2; mv {home}/target.sock moved
				{attacker} connect stream l stream hard stream up/target.sock stream ../target.sock stream moved \
					stream /proc/self/root{home}/target.sock stream /proc/self/cwd/../target.sock nearby {home}/target.sock`,
			Control: control{},
		},
		escape{
			ID: "B13.10", Name: "threads that swap the address do not reach another socket than the listed one",
			Matrix: "pathname socket /var/tmp, $HOME",
			Setup: func(h *host) {
				h.listen("stream", filepath.Join(h.home, "listed.sock"))
				one(h)
			},
			Flags: []string{"--socket", "{home}/listed.sock"},
			Go:    []string{"flip", "{home}/listed.sock", "{home}/target.sock"}, Hold: unreached,
		},
		escape{
			ID: "B13.11", Name: "a link that is swapped does not lead from an own socket to one of the host",
			Matrix: "pathname socket /var/tmp, $HOME", Setup: one, Hold: unreached,
			Sh: `ln -s ` + mine + ` a; ln -s {home}/target.sock b
				( i=0; while [ $i -lt 3000 ]; do mv -T --exchange a b 2>/dev/null || { ln -sfn {home}/target.sock a; ln -sfn ` + mine + ` a; }; i=$((i+1)); done ) &
				i=0; while [ $i -lt 150 ]; do {attacker} connect stream a >/dev/null; i=$((i+1)); done; kill $! 2>/dev/null; wait`,
			Control: control{},
		},
		escape{
			ID: "B13.12", Name: "the Docker socket is not reached unless asked for", Matrix: "/run/user/1000/bus",
			Setup: func(h *host) { h.services = []*listener{h.listen("stream", h.runtime+"/docker.sock")} },
			Env:   []string{"DOCKER_HOST=unix://{runtime}/docker.sock"},
			Go:    []string{"connect", "stream", "{runtime}/docker.sock"}, Hold: unreached,
			Control: control{Flags: []string{"--docker"}},
		},
	)
}

func families() []escape {
	return []escape{
		{
			ID: "B14.1", Name: "no socket of a family that leads to the host or deep into the kernel",
			Go: []string{"families", "vsock", "alg", "packet", "raw", "xdp", "key", "bluetooth", "can", "tipc", "rds", "smc", "nfc"},
		},
		{
			ID: "B14.2", Name: "no such socket with the host's network either", Flags: []string{"--network=host"},
			Go: []string{"families", "vsock", "alg", "packet", "raw", "xdp", "key", "bluetooth", "can", "tipc", "rds", "smc", "nfc"},
		},
	}
}

func legacyPushDisabled() string {
	data, err := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti")
	if err == nil && len(data) > 0 && data[0] == '0' {
		return "this kernel has TIOCSTI switched off"
	}
	return ""
}

func terminals() []escape {
	const row = "TIOCSTI to host tty"
	return []escape{
		{ID: "B15.1", Name: "nothing is pushed into the terminal", Matrix: row, TTY: true, Go: []string{"terminal"}},
		{
			ID: "B15.2", Name: "nothing is pushed into the terminal through /dev/tty", Matrix: row, TTY: true,
			Go: []string{"terminal", "/dev/tty"}, Control: control{If: legacyPushDisabled},
		},
		{
			ID: "B15.3", Name: "without a terminal on its streams the command has none", Matrix: row, Ctty: true,
			Sh:      `{attacker} terminal /dev/tty; (echo OPEN written to the terminal >/dev/tty) 2>/dev/null && echo OPEN /dev/tty`,
			Control: control{If: legacyPushDisabled},
		},
		{
			ID: "B15.4", Name: "the host's terminals cannot be opened by name", Matrix: row, TTY: true,
			// Without a sandbox only the terminal of this test: the others belong to users of the machine.
			Sh: processesScript + `for p in {pts} /proc/self/fd/0; do {attacker} terminal $p; done
				[ $inside ] && for p in /proc/1/fd/0 /dev/console /dev/pts/[0-9]*; do {attacker} terminal $p; done; true`,
			Control: control{If: legacyPushDisabled},
		},
		{
			ID: "B15.5", Name: "no master side of a terminal is inherited", Matrix: row, TTY: true, Go: []string{"fds"},
			Files: func(h *host) []*os.File {
				m, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
				h.must(err)
				h.closers = append(h.closers, func() { _ = m.Close() })
				return []*os.File{m}
			},
		},
	}
}

func ipc() []escape {
	const row = "ptrace / keyctl / bpf / userfaultfd"
	key := 0x5a000000 + os.Getpid()
	return []escape{
		{
			ID: "B16.1", Name: "the host's System V objects are not to be found",
			Setup: func(h *host) {
				id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
				h.must(err)
				mem, err := unix.SysvShmAttach(id, 0, 0)
				h.must(err)
				copy(mem, canary)
				h.must(unix.SysvShmDetach(mem))
				h.closers = append(h.closers, func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
			},
			Go: []string{"shm", strconv.Itoa(key)},
		},
		{
			ID: "B16.2", Name: "the host's POSIX message queues are not to be found",
			Setup: func(h *host) {
				name := fmt.Sprintf("escape-%d", os.Getpid())
				h.vars["queue"] = name
				h.must(makeQueue(name, h.uid))
				h.closers = append(h.closers, func() { dropQueue(name) })
			},
			Go: []string{"queue", "{queue}"},
		},
		{
			ID: "B16.3", Name: "the user's keyring is out of reach", Matrix: row,
			Go: []string{"keyring", "escape"},
		},
		{
			ID: "B16.4", Name: "no process of the host can be signalled",
			Setup: func(h *host) {
				cmd := h.command(h.home, h.vars["attacker"], "sleep")
				h.must(cmd.Start())
				h.vars["pid"] = strconv.Itoa(cmd.Process.Pid)
				h.closers = append(h.closers, func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
			},
			// The target is a process of this host and continues to run; the sandbox has not failed.
			Sh:   `{attacker} kill {pid}; kill -KILL {pid} 2>/dev/null && echo OPEN killed {pid}`,
			Hold: func(h *host, _ outcome) error { return h.stopProcess() },
		},
		{
			ID: "B16.5", Name: "/dev/shm is not the host's",
			Setup: func(h *host) {
				name := fmt.Sprintf("/dev/shm/escape-%d", os.Getpid())
				h.vars["shm"] = name
				h.must(os.WriteFile(name, []byte(canary), 0o666))
				h.must(os.Chmod(name, 0o666))
				h.closers = append(h.closers, func() { _, _ = os.Remove(name), os.Remove(name+".new") })
			},
			Sh:   `cat {shm}; echo x >{shm}.new; rm -f {shm}`,
			Hold: func(h *host, _ outcome) error { return h.checkAbsent("{shm}.new") },
		},
	}
}

// stopProcess kills the process that Setup started, and returns an error if it had ended.
func (h *host) stopProcess() error {
	err := error(nil)
	pid, convErr := strconv.Atoi(h.vars["pid"])
	if convErr == nil && unix.Kill(pid, 0) != nil {
		err = errors.New("the host's process is gone")
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	return errors.Join(err, waitGone([]process{{pid: pid}}, endTime))
}

func hasOnlyLoopback() string {
	all, err := net.Interfaces()
	if err != nil {
		return err.Error()
	}
	for _, i := range all {
		if i.Name != "lo" {
			return ""
		}
	}
	return "this host has no other interface itself"
}
