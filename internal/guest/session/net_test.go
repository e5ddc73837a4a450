//go:build linux

package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// free returns the number of a port without a listener.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// answering serves connections: it reads to the end and then answers with the same text in upper case.
func answering(t *testing.T, l net.Listener) {
	t.Helper()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				data, err := io.ReadAll(c)
				if err == nil {
					_, _ = c.Write(bytes.ToUpper(data))
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
}

// asks sends text, ends that direction, and reads the answer.
func asks(c net.Conn, text string) (string, error) {
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return "", err
	}
	data, err := io.ReadAll(c)
	return string(data), err
}

func dial(t *testing.T, network, addr string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout(network, addr, 10*time.Second) //nolint:noctx // has a time
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func Test_Relays_Connect_Programs_Inside_To_The_Host(t *testing.T) {
	c, _ := guest(t)
	port, socket := free(t), filepath.Join(t.TempDir(), "s")
	for _, name := range []string{"egress", "model"} {
		answering(t, c.Listener(name))
	}
	err := c.Setup(t.Context(), session.Setup{Relays: []session.Relay{
		{Name: "egress", Listen: "127.0.0.1:" + strconv.Itoa(port)}, {Name: "model", Listen: "unix:" + socket},
	}})
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("0123456789abcdef", 1<<17)
	for _, text := range []string{"", "x", big} {
		if got, err := asks(dial(t, "tcp", "127.0.0.1:"+strconv.Itoa(port)), text); err != nil || got != strings.ToUpper(text) {
			t.Errorf("%d bytes: %d, %v", len(text), len(got), err)
		}
		if got, err := asks(dial(t, "unix", socket), text); err != nil || got != strings.ToUpper(text) {
			t.Errorf("%d bytes: %d, %v", len(text), len(got), err)
		}
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			text := fmt.Sprint("many ", i)
			if got, err := asks(dial(t, "unix", socket), text); err != nil || got != strings.ToUpper(text) {
				t.Errorf("%q: %v", got, err)
			}
		})
	}
	all.Wait()
}

func Test_A_Relay_Without_A_Server_Is_Closed(t *testing.T) {
	c, _ := guest(t)
	socket := filepath.Join(t.TempDir(), "s")
	if err := c.Setup(t.Context(), session.Setup{Relays: []session.Relay{{Name: "nobody", Listen: "unix:" + socket}}}); err != nil {
		t.Fatal(err)
	}
	inside := dial(t, "unix", socket)
	defer inside.Close()
	if _, err := inside.Read(make([]byte, 1)); err == nil {
		t.Error("a listener exists")
	}
	l := c.Listener("nobody")
	first := l
	l = c.Listener("nobody")
	_ = first.Close() // not the process that serves
	answering(t, l)
	if got, err := asks(dial(t, "unix", socket), "later"); err != nil || got != "LATER" {
		t.Errorf("%q, %v", got, err)
	}
	_ = c.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func Test_Setup_Happens_Once_Before_The_First_Command(t *testing.T) {
	c, _ := guest(t)
	if err := c.Setup(t.Context(), session.Setup{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Setup(t.Context(), session.Setup{}); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Error(err)
	}
	if exit, out, _ := run(t, c, "echo fine", ""); exit.Code != 0 || out != "fine\n" {
		t.Errorf("%+v %q", exit, out)
	}
	c, _ = guest(t)
	run(t, c, "true", "")
	if err := c.Setup(t.Context(), session.Setup{}); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Error(err)
	}
}

func Test_Setup_Refuses_Invalid_Options(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // closed below
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, row := range []struct {
		name, relay, listen string
		code                sandbox.Code
	}{
		{"a relay without a name", "", "127.0.0.1:1", sandbox.Invalid},
		{"a name that is too long", strings.Repeat("n", 256), "127.0.0.1:1", sandbox.Invalid},
		{"every address", "n", ":80", sandbox.Invalid},
		{"an address of the outside", "n", "192.0.2.1:80", sandbox.Invalid},
		{"no port", "n", "127.0.0.1:0", sandbox.Invalid},
		{"a relative socket", "n", "unix:s", sandbox.Invalid},
		{"a port that is taken", "n", taken.Addr().String(), sandbox.Exists},
		{"a socket in no directory", "n", "unix:/no/such/s", sandbox.NotFound},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, _ := guest(t)
			err := c.Setup(t.Context(), session.Setup{Relays: []session.Relay{{Name: row.relay, Listen: row.listen}}})
			if sandbox.CodeOf(err) != row.code {
				t.Errorf("%s: %v", sandbox.CodeOf(err), err)
			}
		})
	}
}

func Test_Dial_Connects_To_Listeners_Inside(t *testing.T) {
	c, _ := guest(t)
	four, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // closed by answering
	if err != nil {
		t.Fatal(err)
	}
	six, err := net.Listen("tcp6", "[::1]:0") //nolint:noctx // closed by answering
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "s")) //nolint:noctx // closed by answering
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []net.Listener{four, six, socket} {
		answering(t, l)
	}
	port := func(l net.Listener) string { return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) }
	for _, row := range []struct{ network, addr string }{
		{"tcp", four.Addr().String()},
		{"tcp", six.Addr().String()},
		{"tcp", "localhost:" + port(four)},
		{"tcp", "localhost:" + port(six)},
		{"unix", socket.Addr().String()},
	} {
		for _, text := range []string{"", "x", strings.Repeat("y", 3<<20)} {
			conn, err := c.Dial(t.Context(), row.network, row.addr)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := asks(conn, text); err != nil || got != strings.ToUpper(text) {
				t.Errorf("%s: %d of %d bytes, %v", row.addr, len(got), len(text), err)
			}
		}
	}
}

func Test_Dial_Reports_Why_It_Failed(t *testing.T) {
	c, _ := guest(t)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name, network, addr string
		ctx                 context.Context //nolint:containedctx // of this row
		code                sandbox.Code
		text                string
	}{
		{"no listener", "tcp", "127.0.0.1:" + strconv.Itoa(free(t)), t.Context(), sandbox.Unavailable, "connection refused"},
		{"no listener on either", "tcp", "localhost:" + strconv.Itoa(free(t)), t.Context(), sandbox.Unavailable, "connection refused"},
		{"no socket", "unix", "/no/such/socket", t.Context(), sandbox.NotFound, "no such file"},
		{"the outside", "tcp", "192.0.2.1:80", t.Context(), sandbox.Invalid, "loopback"},
		{"a name", "tcp", "example.com:80", t.Context(), sandbox.Invalid, "loopback"},
		{"port 0", "tcp", "localhost:0", t.Context(), sandbox.Invalid, "loopback"},
		{"a relative socket", "unix", "s", t.Context(), sandbox.Invalid, "absolute"},
		{"another network", "udp", "127.0.0.1:53", t.Context(), sandbox.Invalid, "network"},
		{"a context that has ended", "tcp", "127.0.0.1:1", canceled, sandbox.Canceled, "canceled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := c.Dial(row.ctx, row.network, row.addr)
			if sandbox.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.text) {
				t.Errorf("%s: %v", sandbox.CodeOf(err), err)
			}
		})
	}
}

func Test_A_Connection_That_Breaks_Does_Not_End(t *testing.T) {
	c, _ := guest(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // closed below
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := c.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	inside, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(inside, "half")
	got := make([]byte, 4)
	if _, err := io.ReadFull(conn, got); err != nil {
		t.Fatal(err)
	}
	_ = inside.(*net.TCPConn).SetLinger(0)
	_ = inside.Close()
	if _, err := conn.Read(got); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a reset is %v", err)
	}
	_ = conn.Close()

	conn, err = c.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if inside, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	_ = conn.SetReadDeadline(time.Unix(1, 0))
	if _, err := conn.Read(got); !isTimeout(err) {
		t.Errorf("a deadline is %v", err)
	}
	_ = conn.SetReadDeadline(time.Time{})
	_, _ = io.WriteString(inside, "late")
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "late" {
		t.Errorf("%q, %v", got, err)
	}
	_ = conn.Close()
	if _, err := inside.Read(got); !errors.Is(err, io.EOF) {
		t.Errorf("what was closed ends with %v", err)
	}
	if _, err := conn.Read(got); err == nil {
		t.Error("a closed connection is read")
	}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

func Test_A_Shared_Sandbox_Is_Dialed_Through_Its_Holder(t *testing.T) {
	c, _ := guest(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // closed by answering
	if err != nil {
		t.Fatal(err)
	}
	answering(t, l)
	for _, row := range []struct {
		name string
		dial func(context.Context, int) (net.Conn, error)
		code sandbox.Code
	}{
		{"one that dials", c.DialPort, ""},
		{"one that does not", nil, sandbox.Unsupported},
	} {
		t.Run(row.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			done := make(chan error, 1)
			go func() {
				done <- session.Share(t.Context(), theirs, session.Shared{Busy: func(int) {}, Dial: row.dial})
			}()
			client, err := session.Connect(t.Context(), ours)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := client.DialPort(t.Context(), l.Addr().(*net.TCPAddr).Port)
			if sandbox.CodeOf(err) != row.code {
				t.Fatal(err)
			}
			if err == nil {
				if got, err := asks(conn, "through"); err != nil || got != "THROUGH" {
					t.Errorf("%q, %v", got, err)
				}
			}
			if _, err := client.Dial(t.Context(), "unix", "/s"); sandbox.CodeOf(err) != sandbox.Unsupported {
				t.Error(err)
			}
			if err := client.Setup(t.Context(), session.Setup{}); sandbox.CodeOf(err) != sandbox.Unsupported {
				t.Error(err)
			}
			_ = client.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func Test_Input_Is_Whole_Only_With_Its_End(t *testing.T) {
	c, _ := guest(t)
	name := filepath.Join(t.TempDir(), "got")
	r, w := io.Pipe()
	p, err := c.Start(t.Context(), session.Command{
		Args: []string{"sh", "-c", `cat >"$1"`, "sh", name}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/",
	}, sandbox.Stdio{Stdin: r})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, "half")
	_ = w.CloseWithError(errors.New("broken"))
	if exit, err := p.Wait(); err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "half" {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_A_Client_Listens_Inside_At_Any_Time(t *testing.T) {
	c, _ := guest(t)
	run(t, c, "true", "")
	port, socket := free(t), filepath.Join(t.TempDir(), "s")
	for _, row := range []struct{ network, addr, listen string }{
		{"tcp", "127.0.0.1:" + strconv.Itoa(port), "127.0.0.1:" + strconv.Itoa(port)},
		{"unix", socket, "unix:" + socket},
	} {
		for round := range 3 {
			l, err := c.Listen(t.Context(), row.listen)
			if err != nil {
				t.Fatal(row.listen, round, err)
			}
			if l.Addr().String() != row.listen {
				t.Error(l.Addr())
			}
			if row.network == "tcp" {
				if _, err := c.Listen(t.Context(), row.listen); sandbox.CodeOf(err) != sandbox.Exists {
					t.Errorf("a second one: %v", err)
				}
			}
			answering(t, l)
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					text := strings.Repeat(fmt.Sprint("many ", i), 1<<14)
					if got, err := asks(dial(t, row.network, row.addr), text); err != nil || got != strings.ToUpper(text) {
						t.Errorf("%d of %d bytes: %v", len(got), len(text), err)
					}
				})
			}
			all.Wait()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if conn, err := net.Dial(row.network, row.addr); err == nil { //nolint:noctx // refused at once
				_ = conn.Close()
				t.Error("a listener still exists")
			}
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		}
	}
}

func Test_Accepted_Connections_Outlive_Their_Listener(t *testing.T) {
	c, _ := guest(t)
	socket := filepath.Join(t.TempDir(), "s")
	l, err := c.Listen(t.Context(), "unix:"+socket)
	if err != nil {
		t.Fatal(err)
	}
	inside := dial(t, "unix", socket)
	outside, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	go func() {
		defer outside.Close()
		data, _ := io.ReadAll(outside)
		_, _ = outside.Write(bytes.ToUpper(data))
	}()
	if got, err := asks(inside, "late"); err != nil || got != "LATE" {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_Listening_Inside_Refuses_Invalid_Addresses(t *testing.T) {
	c, _ := guest(t)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name, listen string
		ctx          context.Context //nolint:containedctx // of this row
		code         sandbox.Code
	}{
		{"every address", ":80", t.Context(), sandbox.Invalid},
		{"an address of the outside", "192.0.2.1:80", t.Context(), sandbox.Invalid},
		{"a name", "localhost:80", t.Context(), sandbox.Invalid},
		{"no port", "127.0.0.1:0", t.Context(), sandbox.Invalid},
		{"a relative socket", "unix:s", t.Context(), sandbox.Invalid},
		{"a path that is too long", "unix:/" + strings.Repeat("p", 107), t.Context(), sandbox.Invalid},
		{"a socket in no directory", "unix:/no/such/s", t.Context(), sandbox.NotFound},
		{"a context that has ended", "unix:" + filepath.Join(t.TempDir(), "s"), canceled, sandbox.Canceled},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := c.Listen(row.ctx, row.listen); sandbox.CodeOf(err) != row.code {
				t.Errorf("%s: %v", sandbox.CodeOf(err), err)
			}
		})
	}
	_ = c.Close()
	if _, err := c.Listen(t.Context(), "unix:/tmp/s"); sandbox.CodeOf(err) != sandbox.Closed {
		t.Error(err)
	}
}

func Test_A_Client_Of_A_Shared_Sandbox_Listens_Inside(t *testing.T) {
	c, _ := guest(t)
	for _, row := range []struct {
		name   string
		listen func(context.Context, string) (net.Listener, error)
		code   sandbox.Code
	}{
		{"one that listens", c.Listen, ""},
		{"one that does not", nil, sandbox.Unsupported},
	} {
		t.Run(row.name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			ours, theirs := net.Pipe()
			done := make(chan error, 1)
			go func() {
				done <- session.Share(t.Context(), theirs, session.Shared{Busy: func(int) {}, Listen: row.listen})
			}()
			client, err := session.Connect(t.Context(), ours)
			if err != nil {
				t.Fatal(err)
			}
			l, err := client.Listen(t.Context(), "unix:"+socket)
			if sandbox.CodeOf(err) != row.code {
				t.Fatal(err)
			}
			if err == nil {
				answering(t, l)
				if got, err := asks(dial(t, "unix", socket), "through"); err != nil || got != "THROUGH" {
					t.Errorf("%q, %v", got, err)
				}
			}
			_ = client.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if conn, err := net.Dial("unix", socket); err == nil { //nolint:noctx // refused at once
				_ = conn.Close()
				t.Error("a listener still exists")
			}
		})
	}
}
