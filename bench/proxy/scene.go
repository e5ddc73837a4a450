package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/seed434b0696/agent-sandbox/egress"
)

const (
	sourceRole = "as-source"
	proxyRole  = "as-proxy"
)

// scene is a source and a proxy that leads to it, each a process.
type scene struct {
	source, proxy part
}

func newScene(ctx context.Context) (*scene, error) {
	var s scene
	var err error
	if s.source, err = start(ctx, sourceRole); err != nil {
		return nil, err
	}
	if s.proxy, err = start(ctx, proxyRole, s.source.addr); err != nil {
		return nil, errors.Join(err, s.source.close())
	}
	return &s, nil
}

func (s *scene) close() error { return errors.Join(s.source.close(), s.proxy.close()) }

// part is this program in another role. It ends when its input does.
type part struct {
	addr  string
	cmd   *exec.Cmd
	input io.Closer
}

func start(ctx context.Context, args ...string) (part, error) {
	self, err := os.Executable()
	if err != nil {
		return part{}, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return part{}, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return part{}, err
	}
	if err := cmd.Start(); err != nil {
		return part{}, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return part{}, fmt.Errorf("%q did not start: %w", args, errors.Join(err, cmd.Wait()))
	}
	return part{addr: strings.TrimSpace(line), cmd: cmd, input: input}, nil
}

func (p part) close() error { return errors.Join(p.input.Close(), p.cmd.Wait()) }

// ready listens, prints the address and returns a context that ends with standard input.
func ready(ctx context.Context) (context.Context, net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	fmt.Println(l.Addr())
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx, l, nil
}

func serveProxy(ctx context.Context, to []string) error {
	rules, err := egress.Compile(egress.Policy{Allow: []string{"tcp://" + to[0], "http://" + to[0]}})
	if err != nil {
		return err
	}
	proxy, err := egress.New(egress.Options{Rules: rules, MaxConns: 4096})
	if err != nil {
		return err
	}
	ctx, l, err := ready(ctx)
	if err != nil {
		return err
	}
	return proxy.Serve(ctx, l)
}

// serveSource is a web server whose path is a number of bytes; all else it sends back.
func serveSource(ctx context.Context) error {
	ctx, l, err := ready(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			answer(c)
		}()
	}
}

// answer serves one connection until its end.
func answer(c net.Conn) {
	br := bufio.NewReader(c)
	first, err := br.Peek(1)
	if err != nil {
		return
	}
	if first[0] != 'G' {
		_, _ = io.Copy(c, br)
		return
	}
	var size int64
	if _, err := fmt.Fscanf(br, "GET /%d HTTP/1.1\r\n", &size); err != nil {
		return
	}
	for line := ""; line != "\r\n"; {
		if line, err = br.ReadString('\n'); err != nil {
			return
		}
	}
	_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
	for buf := make([]byte, 256<<10); size > 0; {
		n, err := c.Write(buf[:min(size, int64(len(buf)))])
		if err != nil {
			return
		}
		size -= int64(n)
	}
}
