//go:build linux

package bwrap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/plainuser"
)

// innerServer is a server inside. A client sends "echo", "give N" or "take"; then both sides transfer data until the end.
const innerServer = `
import socket, sys, threading
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(family)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((sys.argv[1], 8000))
s.listen(1000)
print("ready", flush=True)
def serve(c):
    f = c.makefile("rwb", 1 << 16)
    word = f.readline().split()
    if word[0] == b"echo":
        f.write(f.read())
    elif word[0] == b"give":
        piece = bytes(1 << 20)
        for i in range(int(word[1])): c.sendall(piece)
    else:
        n = 0
        while piece := f.read(1 << 20): n += len(piece)
        f.write(b"%d" % n)
    f.close(); c.close()
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()
`

// freeHostPort returns an unused port.
func freeHostPort(t *testing.T) uint16 {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return uint16(l.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // of a TCP listener
}

// serveInside runs the server at an address inside, and publishes its port. It returns the host's address, and a function that
// ends the server.
func serveInside(t *testing.T, p *scene, at string) (addr string, end func()) {
	t.Helper()
	port := freeHostPort(t)
	p.policy.Network.Publish = []string{fmt.Sprintf("%d:8000", port)}
	box := p.create(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, w := pipe(t)
	run, err := box.Start(ctx, sandbox.Cmd{Args: []string{"/usr/bin/python3", "-c", innerServer, at}}, sandbox.Stdio{Stdout: w, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if line, err := bufio.NewReader(r).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the server says %q, %v", line, err)
	}
	end = sync.OnceFunc(func() {
		cancel()
		if _, err := run.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return fmt.Sprintf("127.0.0.1:%d", port), end
}

// ask connects, sends word and more, and half-closes.
func ask(addr, word string, more io.Reader) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: 20 * time.Second}).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(c, io.MultiReader(strings.NewReader(word+"\n"), more)); err != nil {
		return c, err
	}
	return c, c.(*net.TCPConn).CloseWrite() //nolint:forcetypeassert // TCP was dialed
}

func Test_Published_Ports_Reach_Servers_Wherever_They_Listen(t *testing.T) {
	plainuser.Repeat(t)
	for _, at := range []string{"127.0.0.1", "0.0.0.0", "::1", "::"} {
		t.Run(at, func(t *testing.T) {
			addr, _ := serveInside(t, newScene(t), at)
			c, err := ask(addr, "echo", strings.NewReader("hello"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got, err := io.ReadAll(c); string(got) != "hello" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func Test_Published_Ports_Carry_Two_Hundred_Connections_At_Once(t *testing.T) {
	addr, _ := serveInside(t, newScene(t), "127.0.0.1")
	const n = 200
	open := make(chan struct{})
	var all, ready sync.WaitGroup
	ready.Add(n)
	for i := range n {
		all.Go(func() {
			r, w := io.Pipe()
			go func() {
				fmt.Fprintf(w, "hello %d ", i)
				ready.Done()
				<-open // until all are connected
				fmt.Fprint(w, "goodbye")
				_ = w.Close()
			}()
			c, err := ask(addr, "echo", r)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if got, err := io.ReadAll(c); string(got) != fmt.Sprintf("hello %d goodbye", i) || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	ready.Wait()
	close(open)
	all.Wait()
}

// zeros is an endless source that costs nothing.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func Test_Published_Ports_Carry_A_Gibibyte_Each_Way(t *testing.T) {
	addr, _ := serveInside(t, newScene(t), "127.0.0.1")
	for _, row := range []struct {
		name, word string
		send, want int64
	}{
		{"out", "give 1024", 0, 1 << 30},
		{"in", "take", 1 << 30, 10},
	} {
		t.Run(row.name, func(t *testing.T) {
			begin := time.Now()
			c, err := ask(addr, row.word, io.LimitReader(zeros{}, row.send))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var out bytes.Buffer
			n, err := io.Copy(io.MultiWriter(&limitedWriter{&out, 10}, io.Discard), c)
			if n != row.want || err != nil || row.send > 0 && out.String() != fmt.Sprint(row.send) {
				t.Errorf("%d bytes, %q, %v", n, out.String(), err)
			}
			t.Logf("%.0f MiB/s", 1024/time.Since(begin).Seconds())
		})
	}
}

type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	_, err := l.w.Write(keep)
	return len(p), err
}

func Test_The_End_Of_A_Command_Closes_Its_Ports(t *testing.T) {
	addr, end := serveInside(t, newScene(t), "127.0.0.1")
	c, err := ask(addr, "give 100000", strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.CopyN(io.Discard, c, 1<<20); err != nil {
		t.Fatal(err)
	}
	end() // in the middle of it
	if _, err := io.Copy(io.Discard, c); err == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := c.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes after the end, %v", n, err)
		}
	}
	if c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		if err == nil {
			_ = c.Close()
		}
		t.Errorf("got %v, want a refusal", err)
	}
}

func Test_A_Port_That_Is_Taken_Starts_Nothing(t *testing.T) {
	p := newScene(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p.policy.Network.Publish = []string{fmt.Sprintf("%d:80", l.Addr().(*net.TCPAddr).Port)} //nolint:forcetypeassert // of a TCP listener
	asked := filepath.Join(p.home, "asked")
	p.secret(sandbox.Secret{FromCommand: []string{"sh", "-c", "echo x > " + asked + "; echo value"}, Env: "TOKEN"})
	box := p.create(t)
	_, err = box.Run(t.Context(), sandbox.Cmd{Args: []string{"touch", "begun"}})
	if !errors.Is(err, sandbox.ErrExists) || !strings.Contains(err.Error(), "is taken") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	for _, file := range []string{asked, filepath.Join(p.workspace, "begun")} {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", file, err)
		}
	}
}

func Test_Files_Are_Reached_Beside_A_Published_Port_And_Without_Asking(t *testing.T) {
	p := newScene(t)
	asked := filepath.Join(p.home, "asked")
	p.secret(sandbox.Secret{FromCommand: []string{"sh", "-c", "echo x >> " + asked + "; echo value"}, Env: "TOKEN"})
	p.policy.Network.Publish = []string{fmt.Sprintf("%d:8000", freeHostPort(t))}
	box := p.create(t)
	r, w := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run, err := box.Start(ctx, sandbox.Cmd{Args: []string{"sh", "-c", "echo ready; exec sleep 1000"}}, sandbox.Stdio{Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	if err := box.Files().Create(t.Context(), "file", 0o600, strings.NewReader("text")); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(asked); string(got) != "x\n" {
		t.Errorf("asked: %q, %v", got, err)
	}
	cancel()
	if _, err := run.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func Test_Two_Commands_At_Once_Have_A_Network_Each(t *testing.T) {
	p := newScene(t)
	p.secret(sandbox.Secret{})
	box := p.create(t)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			// Each listens at the same port, and reaches its own server only.
			res := p.shell(t, box, `/usr/bin/python3 -m http.server -b 127.0.0.1 8000 >/dev/null 2>&1 & echo $$ > /tmp/me
				for i in $(seq 100); do curl -sf http://127.0.0.1:8000/ >/dev/null && break; sleep 0.1; done
				for i in $(seq 20); do curl -sS -H "X-Key: $TOKEN" https://$BOUND/ | grep -c hello; done | sort | uniq -c; kill %1`)
			if got := strings.Fields(string(res.Stdout)); len(got) != 2 || got[0] != "20" || got[1] != "1" {
				t.Error(text(res))
			}
		})
	}
	all.Wait()
	if got := p.bound.header("X-Key"); len(got) != 40 || strings.Join(got, "") != strings.Repeat(secretValue, 40) {
		t.Errorf("the server got %d values", len(got))
	}
}

// descriptors counts the open descriptors of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func Test_Fifty_Runs_Leave_Nothing(t *testing.T) {
	p := newScene(t)
	p.secret(sandbox.Secret{FromCommand: []string{"printenv", "TOKEN"}, Env: "TOKEN"})
	p.policy.Network.Publish = []string{fmt.Sprintf("%d:8000", freeHostPort(t))}
	box := p.create(t)
	once := func() {
		if res := p.shell(t, box, `curl -sS -H "X-Key: $TOKEN" https://$BOUND/; curl -sS http://$OTHER/; curl -sS http://127.0.0.9/`); !strings.Contains(text(res), "hello") {
			t.Fatal(text(res))
		}
	}
	for range 3 { // what is made once
		once()
	}
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range 50 {
		once()
	}
	// The test's own servers keep connections for a moment.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(deadline.Scale(10 * time.Second))
	for runtime.NumGoroutine() > goroutines || descriptors(t) > files {
		select {
		case <-tick.C:
		case <-late:
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines and %d descriptors, before %d and %d: %s",
				runtime.NumGoroutine(), descriptors(t), goroutines, files, buf[:runtime.Stack(buf, true)])
		}
	}
}
