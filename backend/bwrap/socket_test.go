//go:build linux

package bwrap_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// serving binds a socket in the work tree and connects to it, by its path, by a hard link, and once more when the test says so.
const serving = `
import os, socket, sys
def connect(path):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("connected", flush=True)
    except OSError as e:
        print(e.strerror, flush=True)
s = socket.socket(socket.AF_UNIX)
s.bind("own.sock")
s.listen()
connect("own.sock")
os.link("own.sock", "hard.sock")
connect("hard.sock")
sys.stdin.readline()
connect("own.sock")
connect("hard.sock")
`

func Test_A_Command_Connects_To_A_Socket_Of_The_Work_Tree_That_A_Command_Has_Bound(t *testing.T) {
	s, dir := open(t)
	in, input := io.Pipe()
	output, out := io.Pipe()
	p, err := s.Start(t.Context(), sandbox.Cmd{Args: []string{"python3", "-c", serving}}, sandbox.Stdio{Stdin: in, Stdout: out, Stderr: out})
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("got %q, want %q (%v)", lines.Text(), want, lines.Err())
		}
	}
	next("connected")
	next("connected")
	// A server of the host takes the name, and then nothing but the name is the command's.
	own := filepath.Join(dir, "own.sock")
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", own)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", own); err != nil { // the control
		t.Error(err)
	} else {
		_ = c.Close()
	}
	if _, err := io.WriteString(input, "\n"); err != nil {
		t.Fatal(err)
	}
	next("Permission denied")
	next("connected")
	if res, err := p.Wait(); err != nil || res.Code != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func Test_A_Pair_Of_Datagram_Sockets_Keeps_Messages_And_Reaches_No_Other_Socket(t *testing.T) {
	s, dir := open(t)
	path := filepath.Join(dir, "host.sock")
	l, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const script = `
import os, socket
for flags in (0, socket.SOCK_NONBLOCK):
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM | flags)
    a.send(b"one")
    a.send(b"two")
    print(b.recv(100), b.recv(100), a.get_inheritable(), a.getblocking())
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
try:
    a.sendto(b"to the host", "host.sock")
except OSError:
    pass
`
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"python3", "-c", script}})
	const want = "b'one' b'two' False True\nb'one' b'two' False False\n"
	if err != nil || string(res.Stdout) != want {
		t.Errorf("%+v, %v", res, err)
	}
	// What the host sends comes next, if nothing else has come.
	c, err := (&net.Dialer{}).DialContext(t.Context(), "unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("control")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	if n, _, err := l.ReadFrom(buf); err != nil || string(buf[:n]) != "control" {
		t.Errorf("the host's socket got %q, %v", buf[:n], err)
	}
}

func Test_Refused_Calls_Are_Reported_With_Their_Flag(t *testing.T) {
	var denials []sandbox.Denial
	driver := bwrap.New(bwrap.Options{DataDir: t.TempDir(), Denied: func(d sandbox.Denial) { denials = append(denials, d) }})
	require.Driver(t, driver)
	s, err := sandbox.Create(t.Context(), driver, sandbox.Spec{
		Workspace: t.TempDir(), Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	const script = `import ctypes; c = ctypes.CDLL(None); print(c.ptrace(0, 0, 0, 0), c.unshare(0x10000000), c.unshare(0x40000000), c.mount(b"a", b"/tmp", b"tmpfs", 0, 0))`
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"python3", "-c", script}})
	if err != nil || string(res.Stdout) != "-1 -1 -1 -1\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	var got []string
	for _, d := range denials {
		got = append(got, string(d.Kind)+" "+d.Target+" "+d.Fix)
	}
	want := []string{"call ptrace --debuggers", "call unshare --userns"}
	if os.Geteuid() == 0 { // the host refuses them to others
		want = append(want, "call unshare without CLONE_NEWUSER ", "call mount ")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
