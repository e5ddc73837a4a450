package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/tcpserver"
)

func echo(c *net.TCPConn) { _, _ = io.Copy(c, c) }

// freePort returns a port that is free at this moment.
func freePort(t *testing.T) uint16 {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

// publish serves one port on the host and uses dial to connect inside; end ends it.
func publish(t *testing.T, dial Dial) (addr string, end func() error) {
	t.Helper()
	port := freePort(t)
	p, err := Publish(t.Context(), &policy.Plan{Publish: []policy.Publish{{Host: port, Port: 80}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, dial) }()
	end = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(deadline.Scale(20 * time.Second)):
			return errors.New("it does not end")
		}
	})
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return fmt.Sprintf("127.0.0.1:%d", port), end
}

func dialTo(l net.Listener) Dial {
	return func(ctx context.Context, port uint16) (net.Conn, error) {
		if port != 80 {
			return nil, fmt.Errorf("port %d was asked for", port)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	}
}

func connect(t *testing.T, addr string) *net.TCPConn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c.(*net.TCPConn)
}

func Test_Published_Connections_Are_Half_Closed(t *testing.T) {
	// The server answers after the end of the input.
	addr, _ := publish(t, dialTo(tcpserver.Start(t, func(c *net.TCPConn) {
		data, _ := io.ReadAll(c)
		_, _ = c.Write(bytes.ToUpper(data))
	})))
	c := connect(t, addr)
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); string(got) != "HELLO" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func Test_A_Port_Without_A_Server_Refuses(t *testing.T) {
	addr, _ := publish(t, func(context.Context, uint16) (net.Conn, error) { return nil, syscall.ECONNREFUSED })
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err == nil { // the connection may be refused before the client knows that it was established
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
}

func Test_The_End_Closes_Published_Ports(t *testing.T) {
	var open atomic.Int64
	addr, end := publish(t, dialTo(tcpserver.Start(t, func(c *net.TCPConn) {
		open.Add(1)
		echo(c)
		open.Add(-1)
	})))
	var conns []*net.TCPConn
	for range 20 {
		c := connect(t, addr)
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	if n := open.Load(); n != 20 {
		t.Errorf("%d connections inside, want 20", n)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	for _, c := range conns {
		if n, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("%d bytes after the end", n)
		}
	}
	if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr); err == nil {
		_ = c.Close()
		t.Error("the port is still published")
	}
}

// watched is a connection that reports when it is closed.
type watched struct {
	*net.TCPConn

	closed func()
}

func (w watched) Close() error {
	w.closed()
	return w.TCPConn.Close()
}

func Test_A_Client_That_Broke_Off_Frees_Its_Connection(t *testing.T) {
	stay := make(chan struct{})
	server := tcpserver.Start(t, func(c *net.TCPConn) {
		_, _ = c.Write([]byte("x"))
		<-stay // a server that neither writes nor reads any more
	})
	defer close(stay)
	closed := make(chan struct{})
	addr, _ := publish(t, func(ctx context.Context, port uint16) (net.Conn, error) {
		c, err := dialTo(server)(ctx, port)
		if err != nil {
			return nil, err
		}
		return watched{c.(*net.TCPConn), sync.OnceFunc(func() { close(closed) })}, nil
	})
	c := connect(t, addr)
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_ = c.SetLinger(0) // a reset
	_ = c.Close()
	select {
	case <-closed:
	case <-time.After(breakTime + 10*time.Second):
		t.Error("the connection inside is still held")
	}
}

func Test_Several_Ports_Go_To_Several(t *testing.T) {
	plan := &policy.Plan{Publish: []policy.Publish{{Host: freePort(t), Port: 1}, {Host: freePort(t), Port: 2}}}
	p, err := Publish(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- p.Serve(ctx, func(_ context.Context, port uint16) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { fmt.Fprint(theirs, port); _ = theirs.Close() }()
			return ours, nil
		})
	}()
	for _, one := range plan.Publish {
		c := connect(t, fmt.Sprintf("127.0.0.1:%d", one.Host))
		_ = c.CloseWrite()
		if got, err := io.ReadAll(c); string(got) != fmt.Sprint(one.Port) || err != nil {
			t.Errorf("port %d: got %q, %v", one.Host, got, err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func Test_A_Taken_Port_Publishes_None(t *testing.T) {
	taken := tcpserver.Start(t, echo).Addr().(*net.TCPAddr).Port
	free := freePort(t)
	_, err := Publish(t.Context(), &policy.Plan{Publish: []policy.Publish{{Host: free, Port: 80}, {Host: uint16(taken), Port: 81}}})
	wantError(t, err, sandbox.Exists, fmt.Sprintf("port %d of 127.0.0.1 is taken", taken))
	if hint := sandbox.HintOf(err); hint != "publish it on another one: --publish PORT:81" {
		t.Errorf("the hint is %q", hint)
	}
	p, err := Publish(t.Context(), &policy.Plan{Publish: []policy.Publish{{Host: free, Port: 80}}})
	if err != nil {
		t.Fatalf("the other port was not given back: %v", err)
	}
	p.Close()
	p.Close()
}

func Test_Only_127_0_0_1_Is_Published(t *testing.T) {
	addr, _ := publish(t, dialTo(tcpserver.Start(t, echo)))
	_, port, _ := net.SplitHostPort(addr)
	for _, host := range append(others(t), "127.0.0.2", "::1") {
		c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			_ = c.Close()
			t.Errorf("%s is published, too", host)
		}
	}
}

// others returns this host's addresses other than loopback.
func others(t *testing.T) (out []string) {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			out = append(out, n.IP.String())
		}
	}
	return out
}

// faulty fails like accept(2) in a process with too many descriptors.
type faulty struct {
	net.Listener

	errs chan error
}

func (f faulty) Accept() (net.Conn, error) {
	select {
	case err := <-f.errs:
		return nil, err
	default:
		return f.Listener.Accept()
	}
}

func Test_Temporary_Faults_Do_Not_End_Published_Ports(t *testing.T) {
	for _, row := range []struct {
		name string
		errs []error
		ends bool
	}{
		{"too many descriptors", []error{syscall.EMFILE, syscall.ENFILE, syscall.EMFILE}, false},
		{"a client that was gone", []error{syscall.ECONNABORTED}, false},
		{"a listener that is broken", []error{syscall.EINVAL}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := tcpserver.Start(t, echo)
			real, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			l := faulty{real, make(chan error, 10)}
			for _, e := range row.errs {
				l.errs <- &net.OpError{Op: "accept", Err: e}
			}
			p := &Ports{listeners: []net.Listener{l}, ports: []uint16{80}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- p.Serve(ctx, dialTo(server)) }()
			if row.ends {
				if err := <-done; err == nil || !strings.Contains(err.Error(), "is published no more") {
					t.Errorf("got %v", err)
				}
				return
			}
			c := connect(t, real.Addr().String())
			if _, err := c.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Error(err)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func Test_More_Connections_Than_There_Are_Slots(t *testing.T) {
	addr, _ := publish(t, dialTo(tcpserver.Start(t, echo)))
	held := make([]*net.TCPConn, maxInward)
	for i := range held {
		held[i] = connect(t, addr)
		if _, err := held[i].Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range held {
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	late := connect(t, addr)
	if _, err := late.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	_ = late.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	if n, err := late.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes although all slots are taken", n)
	}
	_ = held[0].Close()
	_ = late.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadFull(late, make([]byte, 1)); err != nil {
		t.Errorf("it does not get the slot that is free: %v", err)
	}
}

func Test_Large_Transfers_Arrive_Whole_Both_Ways(t *testing.T) {
	addr, _ := publish(t, dialTo(tcpserver.Start(t, echo)))
	c := connect(t, addr)
	data := slices.Repeat([]byte("0123456789abcdef"), 1<<20)
	go func() { _, _ = c.Write(data); _ = c.CloseWrite() }()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d of %d bytes, %v", len(got), len(data), err)
	}
}
