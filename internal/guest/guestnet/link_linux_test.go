package guestnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// linked is a running box with connections to the host.
type linked struct {
	cmd    *exec.Cmd
	proxy  *ProxyLink // descriptor 3 inside
	ports  *PortLink  // descriptor 4 inside
	stdout io.Reader  // the command's
	stderr bytes.Buffer
}

// start runs argv inside with descriptors 3 and 4, and no input.
func start(t *testing.T, b *guesttest.Box, argv ...string) *linked {
	t.Helper()
	return startWith(t, b, nil, argv...)
}

func startWith(t *testing.T, b *guesttest.Box, stdin *os.File, argv ...string) *linked {
	t.Helper()
	l := &linked{}
	proxy, inProxy, err := NewProxyLink()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	ports, inPorts, err := NewPortLink()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ports.Close() })
	l.proxy, l.ports = proxy, ports
	l.cmd = exec.CommandContext(t.Context(), require.Command(t, "bwrap", "bwrap"), append(append(b.Args, "--"), argv...)...)
	if stdin != nil {
		l.cmd.Stdin = stdin
	}
	l.cmd.Env, l.cmd.ExtraFiles, l.cmd.Stderr = b.Env, []*os.File{inProxy, inPorts}, &l.stderr
	if l.stdout, err = l.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = inProxy.Close(), inPorts.Close()
	return l
}

// finish returns what the command printed and its exit status.
func (l *linked) finish(t *testing.T) (string, int) {
	t.Helper()
	out, err := io.ReadAll(l.stdout)
	if err != nil {
		t.Fatal(err)
	}
	err = l.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), l.cmd.ProcessState.ExitCode()
}

// listener takes the listener and confirms it.
func (l *linked) listener(t *testing.T) net.Listener {
	t.Helper()
	got, err := l.proxy.Listener(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, l.stderr.String())
	}
	t.Cleanup(func() { _ = got.Close() })
	return got
}

// greet says hello to each connection of l and closes it.
func greet(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "hello\n")
		_ = c.Close()
	}
}

const fetch = `exec 9<>/dev/tcp/127.0.0.1/3128; cat <&9`

func Test_Init_Net_Gives_The_Host_The_Listener(t *testing.T) {
	l := start(t, guesttest.NewBox(t), layout.Program, "init", "--net", "3", "--ports", "4", "--", "/bin/bash", "-c", fetch)
	listener := l.listener(t)
	if got := listener.Addr().String(); got != ProxyAddr {
		t.Errorf("the listener is at %s", got)
	}
	go greet(listener)
	if err := l.proxy.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, code := l.finish(t); out != "hello\n" || code != 0 {
		t.Errorf("status %d, %q\n%s", code, out, l.stderr.String())
	}
}

func Test_Init_Net_Starts_Nothing_That_Was_Not_Confirmed(t *testing.T) {
	l := start(t, guesttest.NewBox(t), layout.Program, "init", "--net", "3", "--", "/bin/echo", "started")
	l.listener(t)
	if err := l.proxy.Close(); err != nil {
		t.Fatal(err)
	}
	out, code := l.finish(t)
	if out != "" || code != sandbox.ExitFailed || !strings.Contains(l.stderr.String(), "the host ended the network before it began") {
		t.Errorf("status %d, %q\n%s", code, out, l.stderr.String())
	}
}

func Test_The_Network_Closes_When_The_Host_Closes_Its_End(t *testing.T) {
	l := start(t, guesttest.NewBox(t), layout.Program, "init", "--net", "3", "--", "/bin/bash", "-c", fetch)
	// This has the effect of the death of our process: no other process has the socket.
	if err := l.listener(t).Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.proxy.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, code := l.finish(t); code == 0 || !strings.Contains(l.stderr.String(), "Connection refused") {
		t.Errorf("status %d, %q\n%s", code, out, l.stderr.String())
	}
}

func Test_Init_Leaves_The_Command_No_Descriptors_Or_Children(t *testing.T) {
	const look = `ls -l /proc/self/fd; echo children: $(cat /proc/$$/task/$$/children); cat /proc/$$/cmdline | tr '\0' ' '`
	l := start(t, guesttest.NewBox(t), layout.Program, "init", "--net", "3", "--ports", "4", "--", "/bin/bash", "-c", look+"; true")
	l.listener(t)
	if err := l.proxy.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, code := l.finish(t)
	if code != 0 || strings.Contains(out, "socket:") || !strings.Contains(out, "/bin/bash -c") {
		t.Errorf("status %d, %q\n%s", code, out, l.stderr.String())
	}
	// The subshell that runs cat is the only child; a command that waits for all of its
	// children must not wait for ours.
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "children:"); ok && len(strings.Fields(rest)) != 1 {
			t.Errorf("the command has children that it did not start: %q", out)
		}
	}
}

func Test_Init_Refuses_Descriptors_Other_Than_Connections(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		code int
	}{
		{"one that is not open", []string{"--net", "77"}, sandbox.ExitFailed},
		{"a standard stream", []string{"--net", "1"}, process.ExitUsage},
		{"no number", []string{"--ports", "x"}, process.ExitUsage},
		{"none", []string{"--ports"}, process.ExitUsage},
		{"another option", []string{"--nets", "3"}, process.ExitUsage},
	} {
		t.Run(row.name, func(t *testing.T) {
			args := append(append([]string{layout.Program, "init"}, row.args...), "--", "/bin/echo", "started")
			if got := guesttest.NewBox(t).Run(t, args...); got.Code != row.code || got.Stdout != "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// server is a script that listens inside on the given addresses, reports that it is ready,
// answers every connection with its own address, and ends with its standard input.
const server = `
import socket, sys, threading
def serve(s):
    while True:
        c, _ = s.accept()
        c.sendall(("from %s\n" % (s.getsockname()[0],)).encode()); c.shutdown(socket.SHUT_WR); c.recv(1); c.close()
for a in sys.argv[1:]:
    s = socket.socket(socket.AF_INET6 if ":" in a else socket.AF_INET)
    s.bind((a, 8000 if ":" not in a else 8001)); s.listen(500)
    threading.Thread(target=serve, args=(s,), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
`

// serving starts the server and waits until it is ready; stop ends it.
func serving(t *testing.T, addresses ...string) (l *linked, stop func()) {
	t.Helper()
	b := guesttest.NewBox(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{layout.Program, "init", "--ports", "4", "--", "/usr/bin/python3", "-c", server}, addresses...)
	l = startWith(t, b, r, args...)
	_ = r.Close()
	if _, err := io.ReadFull(l.stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatalf("%v\n%s", err, l.stderr.String())
	}
	return l, sync.OnceFunc(func() { _ = w.Close() })
}

func Test_Ports_Reach_Servers_On_Loopback(t *testing.T) {
	l, stop := serving(t, "127.0.0.1", "::1")
	defer stop()
	for _, row := range []struct {
		port uint16
		want string
	}{{8000, "from 127.0.0.1\n"}, {8001, "from ::1\n"}} {
		c, err := l.ports.Dial(t.Context(), row.port)
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(c)
		if err != nil || string(out) != row.want {
			t.Errorf("port %d: %q, %v", row.port, out, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := l.ports.Dial(t.Context(), 8002); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a port without a listener: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.ports.Dial(ctx, 8000); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended: %v", err)
	}
}

func Test_Ports_Serve_Many_At_Once(t *testing.T) {
	l, stop := serving(t, "127.0.0.1")
	defer stop()
	before := openFiles(t)
	var all sync.WaitGroup
	errs := make(chan error, 300)
	for range cap(errs) {
		all.Go(func() {
			c, err := l.ports.Dial(t.Context(), 8000)
			if err != nil {
				errs <- err
				return
			}
			out, err := io.ReadAll(c)
			if string(out) != "from 127.0.0.1\n" {
				errs <- fmt.Errorf("%q, %w", out, err)
			}
			_ = c.Close()
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors were open before, %d are now", before, after)
	}
}

func Test_The_Sandbox_Ends_With_The_Command_And_Not_With_Its_Ports(t *testing.T) {
	l, stop := serving(t, "127.0.0.1")
	stop()
	if out, code := l.finish(t); code != 0 {
		t.Errorf("status %d, %q\n%s", code, out, l.stderr.String())
	}
	_, err := l.ports.Dial(t.Context(), 8000)
	if err == nil {
		t.Error("a port of a sandbox that has ended was reached")
	}
}

// Signals to the job, or to all processes that a command may signal except the first one, do not
// end the ports.
func Test_Ports_Outlive_Signals_To_The_Job(t *testing.T) {
	b := guesttest.NewBox(t)
	const script = `trap '' HUP INT QUIT TERM USR1; for s in HUP INT QUIT TERM TSTP TTIN TTOU USR1 ALRM; do kill -$s -1; done
exec /usr/bin/python3 -c "$0" 127.0.0.1`
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	// The process for the ports must ignore signals before the first request.
	l := startWith(t, b, r, layout.Program, "init", "--ports", "4", "--", "/bin/bash", "-c", `read; `+script, server)
	_ = r.Close()
	if _, err := l.ports.Dial(t.Context(), 8000); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("before anybody listens: %v\n%s", err, l.stderr.String())
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(l.stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatalf("%v\n%s", err, l.stderr.String())
	}
	c, err := l.ports.Dial(t.Context(), 8000)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// The kernel must deny access to the process that connects to ports before the command starts,
// because a command could be quick.
func Test_Ports_Are_Out_Of_Reach_When_The_Command_Starts(t *testing.T) {
	// Opening environ requires the rights of a debugger (proc(5)). The first process is
	// bubblewrap.
	const reach = `for p in /proc/[0-9]*; do case $p in /proc/1|/proc/$$) ;; *) { :; } <$p/environ && echo reached $p;; esac; done; echo tried`
	for range 20 {
		b := guesttest.NewBox(t)
		b.Add("--cap-drop", "ALL") // root's are enough
		l := start(t, b, layout.Program, "init", "--ports", "4", "--", "/bin/sh", "-c", reach)
		if out, code := l.finish(t); code != 0 || out != "tried\n" || !strings.Contains(l.stderr.String(), "ermission denied") {
			t.Fatalf("status %d, %q\n%s", code, out, l.stderr.String())
		}
	}
}

// The process that connects to ports has only the descriptor of its connection to the host,
// whatever descriptors the sandbox was started with.
func Test_The_Process_For_Ports_Holds_No_Other_Descriptors(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may look at a process that nobody may take over")
	}
	link, child, err := NewPortLink()
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	secret, err := os.Open("/etc/hostname")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	cmd := exec.CommandContext(t.Context(), guesttest.Program(t), "ports")
	cmd.Stdin, cmd.ExtraFiles, cmd.Env = child, []*os.File{secret, secret}, portsEnv()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = child.Close()
	// It answers only after it has closed the others.
	_, _ = link.Dial(t.Context(), 1)
	dir := "/proc/" + strconv.Itoa(cmd.Process.Pid) + "/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		target, err := os.Readlink(dir + "/" + e.Name())
		// The socket of its answer may still be open.
		if err == nil && strings.HasPrefix(target, "/") && target != os.DevNull {
			t.Errorf("descriptor %s is %s", e.Name(), target)
		}
	}
	info, err := os.Stat("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 { //nolint:forcetypeassert // documented for Linux
		t.Errorf("its files in /proc belong to %d", owner)
	}
	_ = link.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("after the host's end was closed: %v", err)
	}
}

// openFiles counts descriptors.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// hostilePython is the beginning of the scripts that send other messages than the listener.
const hostilePython = `
import socket, sys, os, array, struct
kept = []
host = socket.socket(fileno=3)
ports = socket.socket(fileno=4)
def tcp(port=3128, addr="127.0.0.1", family=socket.AF_INET, proto=0, listen=True):
    s = socket.socket(family, socket.SOCK_STREAM, proto); s.bind((addr, port))
    if listen: s.listen()
    kept.append(s)
    return s
def request():
    port, fds, _, _ = socket.recv_fds(ports, 16, 4)
    return socket.socket(fileno=fds[0])
good = (0).to_bytes(2, "big")
`

func Test_Unexpected_Listeners_Are_Refused(t *testing.T) {
	for _, row := range []struct{ name, script, want string }{
		{"the control: it would be taken", `socket.send_fds(host, [b"l"], [tcp().fileno()])`, ""},
		{"nothing", ``, "it ended"},
		{"no descriptor", `host.send(b"l")`, "the message is another one"},
		{"an empty message", `socket.send_fds(host, [b""], [tcp().fileno()])`, "it ended"},
		{"another message", `socket.send_fds(host, [b"x"], [tcp().fileno()])`, "the message is another one"},
		{"a long message", `socket.send_fds(host, [b"l"*60000], [tcp().fileno()])`, "longer than it may be"},
		{"two descriptors", `socket.send_fds(host, [b"l"], [tcp().fileno(), 0])`, "more than one descriptor"},
		{"two hundred descriptors", `socket.send_fds(host, [b"l"], [tcp().fileno()] + [0]*199)`, "longer than it may be"},
		{"a file", `socket.send_fds(host, [b"l"], [os.open("/etc/passwd", os.O_RDONLY)])`, "operation on non-socket"},
		{"a path", `socket.send_fds(host, [b"l"], [os.open("/", os.O_PATH)])`, "bad file descriptor"},
		{"our own connection", `socket.send_fds(host, [b"l"], [3])`, "another kind"},
		{"a datagram socket", `s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 3128)); socket.send_fds(host, [b"l"], [s.fileno()])`, "another kind"},
		{"a Unix listener", `s = socket.socket(socket.AF_UNIX); s.bind("/tmp/s"); s.listen(); socket.send_fds(host, [b"l"], [s.fileno()])`, "another kind"},
		{"a socket that does not listen", `socket.send_fds(host, [b"l"], [tcp(listen=False).fileno()])`, "another kind"},
		{"another port", `socket.send_fds(host, [b"l"], [tcp(port=3129).fileno()])`, "another address"},
		{"every address", `socket.send_fds(host, [b"l"], [tcp(addr="0.0.0.0").fileno()])`, "another address"},
		{"IPv6", `socket.send_fds(host, [b"l"], [tcp(addr="::1", family=socket.AF_INET6).fileno()])`, "another kind"},
		{"multipath TCP", `socket.send_fds(host, [b"l"], [tcp(proto=262).fileno()])`, "another kind"},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := openFiles(t)
			l := start(t, guesttest.NewBox(t), "/usr/bin/python3", "-c", hostilePython+row.script)
			got, err := l.proxy.Listener(t.Context())
			out, code := l.finish(t)
			if code != 0 {
				t.Fatalf("the attempt failed: %s%s", out, l.stderr.String())
			}
			if row.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := got.Close(); err != nil {
					t.Fatal(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
			_, _ = l.proxy.Close(), l.ports.Close()
			if after := openFiles(t); after > before {
				t.Errorf("%d descriptors were open before, %d are now", before, after)
			}
		})
	}
}

func Test_A_Listener_Of_The_Hosts_Network_Is_Refused(t *testing.T) {
	l, child, err := NewProxyLink()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	defer child.Close()
	fd, err := listenProxy()
	if err != nil {
		t.Skipf("%s is taken: %v", ProxyAddr, err)
	}
	defer unix.Close(fd)
	if err := sendDescriptor(int(child.Fd()), []byte{handOver}, fd); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Listener(t.Context()); err == nil || !strings.Contains(err.Error(), "a socket of the host's network") {
		t.Error(err)
	}
}

func Test_Unexpected_Connections_Are_Refused(t *testing.T) {
	const pair = `s = tcp(port=8000); c = socket.create_connection(("127.0.0.1", 8000)); `
	for _, row := range []struct{ name, script, want string }{
		{"the control: it would be taken", pair + `socket.send_fds(request(), [good], [c.fileno()])`, ""},
		{"nothing", `request()`, "it ended"},
		{"the end of the process", `request(); sys.exit(0)`, "it ended"},
		{"no descriptor", `request().send(good)`, "another message"},
		{"a descriptor with an error", pair + `socket.send_fds(request(), [b"\0\1"], [c.fileno()])`, "another message"},
		{"half a message", pair + `socket.send_fds(request(), [b"\0"], [c.fileno()])`, "another message"},
		{"an error that is none", `request().send(b"\xff\xff")`, "errno 65535"},
		{"two descriptors", pair + `socket.send_fds(request(), [good], [c.fileno(), 0])`, "more than one descriptor"},
		{"its own end of the answer", `r = request(); socket.send_fds(r, [good], [r.fileno()])`, "another kind"},
		{"a file", `socket.send_fds(request(), [good], [os.open("/etc/passwd", os.O_RDONLY)])`, "operation on non-socket"},
		{"a listener", pair + `socket.send_fds(request(), [good], [s.fileno()])`, "another kind"},
		{"the server's end", pair + `a, _ = s.accept(); socket.send_fds(request(), [good], [a.fileno()])`, "another address"},
		{"one to another port", `s = tcp(port=8001); c = socket.create_connection(("127.0.0.1", 8001)); socket.send_fds(request(), [good], [c.fileno()])`, "another address"},
		{"one to nowhere", `socket.send_fds(request(), [good], [kept.append(socket.socket()) or kept[0].fileno()])`, "not connected"},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := openFiles(t)
			l := start(t, guesttest.NewBox(t), "/usr/bin/python3", "-c", hostilePython+row.script+"\nhost.recv(1)")
			c, err := l.ports.Dial(t.Context(), 8000)
			_ = l.proxy.Close() // for which it waits, so that its sockets are there until now
			out, code := l.finish(t)
			if code != 0 {
				t.Fatalf("the attempt failed: %s%s", out, l.stderr.String())
			}
			if row.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				_ = c.Close() // the other end may have reset it
			} else if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
			_, _ = l.proxy.Close(), l.ports.Close()
			if after := openFiles(t); after > before {
				t.Errorf("%d descriptors were open before, %d are now", before, after)
			}
		})
	}
}

// A process with a copy of a socket can make it blocking, and the process that made it can set
// SO_LINGER: neither must block the host.
func Test_Commands_Inside_Cannot_Hold_Up_The_Host(t *testing.T) {
	const script = `
s = tcp()
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
socket.send_fds(host, [b"l"], [s.fileno()])
host.recv(1); s.setblocking(True)
c = socket.create_connection(("127.0.0.1", 3128))
sys.stdin.read()
`
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	l := startWith(t, guesttest.NewBox(t), r, "/usr/bin/python3", "-c", hostilePython+script)
	_ = r.Close()
	listener := l.listener(t)
	if err := l.proxy.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.(*net.TCPConn).SyscallConn() //nolint:forcetypeassert // what a TCP listener accepts
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		if linger, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_LINGER); err != nil || linger != 0 {
			t.Errorf("SO_LINGER is %d, %v", linger, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan struct{})
	go func() { _, _ = listener.Accept(); close(waiting) }()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-waiting:
	case <-time.After(deadline.Scale(20 * time.Second)):
		t.Error("Accept still waits after Close")
	}
	_ = c.Close()
}

func Test_The_Host_Does_Not_Wait_Forever(t *testing.T) {
	l, child, err := NewProxyLink()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	defer child.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Listener(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Listener: %v", err)
	}
	p, child, err := NewPortLink()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	defer child.Close()
	if _, err := p.Dial(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Dial: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	// More requests than fit into the socket's queue.
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if _, err := p.Dial(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Dial: %v", err)
			}
		})
	}
	all.Wait()
}
