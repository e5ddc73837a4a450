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
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

const (
	sourceRole = "as-source"
	proxyRole  = "as-proxy"
	clientRole = "as-client"
)

// scene is a source, a proxy that connects to it, and a directory to run clients in.
type scene struct {
	source, proxy part
	dir           string
	self          string // this program, copied to dir, where a sandbox can read it
	command, srt  string // srt: its cli.js, or empty
}

func newScene(ctx context.Context, command, npm string) (s *scene, err error) {
	s = &scene{}
	if s.command, err = filepath.Abs(command); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "proxy-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s.self = filepath.Join(s.dir, "client")
	data, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(s.self, data, 0o755)
	}
	if err != nil {
		return nil, err
	}
	if npm != "" {
		s.srt = filepath.Join(npm, "@anthropic-ai", "sandbox-runtime", "dist", "cli.js")
		settings := `{"network":{"allowedDomains":["127.0.0.1"],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["."],"denyWrite":[]}}`
		// Its relay may not listen yet when the command starts.
		const wait = `until (exec 3<>/dev/tcp/127.0.0.1/3128) 2>/dev/null; do :; done; exec "$@"`
		if err := errors.Join(os.WriteFile(s.settings(), []byte(settings), 0o644), os.WriteFile(s.wait(), []byte(wait), 0o644)); err != nil {
			return nil, err
		}
	}
	if s.source, err = start(ctx, sourceRole); err != nil {
		return nil, err
	}
	s.proxy, err = start(ctx, proxyRole, s.source.addr)
	return s, err
}

func (s *scene) settings() string { return filepath.Join(s.dir, "srt.json") }

func (s *scene) wait() string { return filepath.Join(s.dir, "wait.sh") }

func (s *scene) close() error {
	return errors.Join(s.source.close(), s.proxy.close(), os.RemoveAll(s.dir))
}

// part is this program in another role. It ends when its input ends.
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

func (p part) close() error {
	if p.cmd == nil {
		return nil
	}
	return errors.Join(p.input.Close(), p.cmd.Wait())
}

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
	rules, err := hosts.Compile(hosts.Policy{Allow: []string{"tcp://" + to[0], "http://" + to[0]}})
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

// serveSource serves as many bytes as the path says over HTTP, and sends all other data
// back.
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
