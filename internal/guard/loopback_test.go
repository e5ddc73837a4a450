//go:build linux

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
)

// loopbackName is the name under which this test binary is the helper process: under the seccomp program it serves HTTP
// on each of the ports in its argument, runs the command that follows and prints its result.
const loopbackName = "under-loopback"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == loopbackName {
		underLoopback(os.Args[1], os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// came is the result of the command.
type came struct {
	Out, Errs string
	Status    int
}

func underLoopback(ports string, line []string) {
	l, err := NewLoopback(seccomp.DenyOptions{Offline: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for text := range strings.SplitSeq(ports, ",") {
		port, _ := strconv.ParseUint(text, 10, 16)
		at, err := l.Listen(uint16(port))
		if err == nil {
			_, err = l.Listen(uint16(port))
			if !errors.Is(err, unix.EADDRINUSE) {
				fmt.Fprintln(os.Stderr, "listened twice:", err)
				os.Exit(1)
			}
		}
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "port %d, %s", port, r.URL.Path)
		})}
		go func() { _ = server.Serve(at) }() // until the process ends
	}
	go pester()
	var out, errs strings.Builder
	cmd := exec.CommandContext(context.Background(), line[0], line[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, &out, &errs
	_ = cmd.Run()
	_ = json.NewEncoder(os.Stdout).Encode(came{Out: out.String(), Errs: errs.String(), Status: cmd.ProcessState.ExitCode()})
}

// pester sends all threads of this process the signal with which Go's runtime preempts them.
func pester() {
	for {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(task.Name())
			_ = unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
		}
	}
}

// under runs a command where ports 4141 and 80 are listened on.
func under(t *testing.T, stdin string, line ...string) came {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = append([]string{loopbackName, "4141,80"}, line...)
	cmd.Stdin = strings.NewReader(stdin)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	var c came
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// staticSource is a program that is linked statically, at low addresses, as most of Go's.
const staticSource = `package main

import ("fmt"; "io"; "net"; "net/http"; "os")

func main() {
	res, err := http.Get(os.Args[1])
	if err != nil { fmt.Println(err); os.Exit(1) }
	data, _ := io.ReadAll(res.Body)
	fmt.Print(string(data))
	_, err = net.Listen("tcp", "127.0.0.1:0")
	fmt.Print("; ", err != nil)
}
`

func staticProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(staticSource), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "plain"), filepath.Join(dir, "main.go"))
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "plain")
}

func Test_Programs_Reach_The_Emulated_Loopback(t *testing.T) {
	t.Parallel()
	static := staticProgram(t)
	for _, row := range []struct {
		name, want string
		line       []string
	}{
		{"curl", "port 4141, /a", []string{"curl", "-sS", "http://127.0.0.1:4141/a"}},
		{"curl over IPv6", "port 4141, /6", []string{"curl", "-sS", "http://[::1]:4141/6"}},
		{"curl, another port", "port 80, /b", []string{"curl", "-sS", "http://127.0.0.1/b"}},
		{"a static program", "port 4141, /c; true", []string{static, "http://127.0.0.1:4141/c"}},
		{"python", "port 4141, /d", []string{"python3", "-c", `import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:4141/d").read().decode(), end="")`}},
		{"python, without waiting", "port 4141, /e", []string{"python3", "-c", `import asyncio
async def main():
    r, w = await asyncio.open_connection("127.0.0.1", 4141)
    w.write(b"GET /e HTTP/1.0\r\n\r\n")
    print((await r.read()).decode().split("\r\n\r\n")[1], end="")
asyncio.run(main())`}},
		{"node", "port 4141, /f", []string{"node", "-e", `fetch("http://127.0.0.1:4141/f").then(r => r.text()).then(t => process.stdout.write(t))`}},
		{"bash", "HTTP/1.0 200 OK\r\n", []string{"bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/4141; printf 'GET / HTTP/1.0\r\n\r\n' >&3; head -n 1 <&3`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := under(t, "", row.line...); got.Out != row.want || got.Status != 0 {
				t.Errorf("%q, status %d, %s", got.Out, got.Status, got.Errs)
			}
		})
	}
}

// hostile tries operations that must fail; its argument is a port on which this machine listens.
const hostile = `
import ctypes, os, socket, sys, resource
def attempt(name, f):
    try: print(name, "ok", f() or "")
    except OSError as e: print(name, os.strerror(e.errno))
def to(host, port=int(sys.argv[1]), family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(5); s.connect((host, port)); return s
attempt("a port of the machine's", lambda: to("127.0.0.1") and None)
attempt("another machine", lambda: to("192.0.2.1", 80) and None)
attempt("another machine, IPv6", lambda: to("2001:db8::1", 80, socket.AF_INET6) and None)
attempt("the machine behind an IPv6 address", lambda: to("::ffff:192.0.2.1", 80, socket.AF_INET6) and None)
attempt("datagrams", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM) and None)
attempt("SCTP", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132) and None)
attempt("MPTCP", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) and None)
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and None)
attempt("netlink", lambda: socket.socket(16, socket.SOCK_RAW, 0) and None)
s = socket.socket()
attempt("family", lambda: str(s.getsockopt(socket.SOL_SOCKET, 39)))
attempt("bind", lambda: s.bind(("127.0.0.1", 0)))
libc = ctypes.CDLL(None, use_errno=True)
def bad(addr, length):
    if libc.connect(s.fileno(), addr, length) < 0: raise OSError(ctypes.get_errno(), "")
attempt("no address", lambda: bad(None, 16))
attempt("an address of the kernel's", lambda: bad(ctypes.c_void_p(2**64-4096), 16))
attempt("a long address", lambda: bad(ctypes.create_string_buffer(b"\x02\0\x10\x2d\x7f\0\0\x01"+bytes(500)), 500))
u = socket.socket(socket.AF_UNIX)
attempt("a path that is none", lambda: u.connect("/nowhere"))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
def hoard():
    held = []
    while True: held.append(socket.socket())
attempt("hoard", hoard)
for i in range(5000): socket.socket().close()
print("after all", to("127.0.0.1", 4141).getpeername() is not None)
`

func Test_The_Emulated_Loopback_Refuses_All_Other_Connections(t *testing.T) {
	t.Parallel()
	real, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	came := make(chan string, 1)
	go func() {
		if conn, err := real.Accept(); err == nil {
			came <- conn.RemoteAddr().String()
		}
	}()
	_, port, _ := net.SplitHostPort(real.Addr().String())
	got := under(t, hostile, "python3", "-", port)
	want := `a port of the machine's Connection refused
another machine Network is unreachable
another machine, IPv6 Network is unreachable
the machine behind an IPv6 address Network is unreachable
datagrams Address family not supported by protocol
SCTP Address family not supported by protocol
MPTCP Address family not supported by protocol
raw Address family not supported by protocol
netlink Address family not supported by protocol
family ok 1
bind Cannot assign requested address
no address Bad address
an address of the kernel's Bad address
a long address Invalid argument
a path that is none No such file or directory
hoard Too many open files
after all True
`
	if got.Out != want || got.Status != 0 {
		t.Errorf("%s\nwant:\n%s\n%s", got.Out, want, got.Errs)
	}
	select {
	case name := <-came:
		t.Errorf("%s was connected from inside", name)
	default:
	}
}
