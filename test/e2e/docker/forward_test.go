//go:build linux

package docker_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// forward starts "forward", waits until it reports its address, and returns that with a
// function that ends it.
func (u user) forward(name, port string) (address string, end func()) {
	u.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(u.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		u.t.Fatal(err)
	}
	_, free, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		u.t.Fatal(err)
	}
	cmd := exec.CommandContext(u.t.Context(), lab.command, "forward", name, free+":"+port)
	cmd.Env = append(os.Environ(), "HOME="+u.home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "NO_COLOR=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	said := bufio.NewReader(stderr)
	line, err := said.ReadString('\n')
	if err != nil || !strings.Contains(line, "is forwarded to port "+port) {
		rest, _ := io.ReadAll(said)
		u.t.Fatalf("forward said %q, %v\n%s", line, err, rest)
	}
	return "127.0.0.1:" + free, func() {
		u.t.Helper()
		_ = cmd.Process.Signal(unix.SIGTERM)
		rest, _ := io.ReadAll(said)
		if err := cmd.Wait(); err != nil {
			u.t.Errorf("forward ended with %v\n%s", err, rest)
		}
	}
}

func Test_A_Port_Of_A_Container_Is_Forwarded(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("forwarded")
	name := strings.TrimSpace(u.run(dir, "start"))
	const server = `mkfifo /tmp/ready; node -e 'require("http").createServer((q, r) => r.end("hello " + q.url))
.listen(8000, "127.0.0.1", () => console.log("ready"))' >/tmp/ready 2>/dev/null </dev/null &
read word </tmp/ready`
	if out := u.inside(name, server); out.code != 0 {
		t.Fatalf("the server inside: %+v", out)
	}
	address, end := u.forward(name, "8000")
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(time.Minute))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/page", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "hello /page" {
		t.Errorf("the answer is %q, %v", body, err)
	}
	end()
	// The proxy of the sandbox is not a server of its commands.
	address, end = u.forward(name, strconv.Itoa(3128))
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	n := 0
	if err == nil {
		defer c.Close()
		n, err = c.Read(make([]byte, 1))
	}
	// The connection may be reset before the dialer reports that there is one.
	if n != 0 || !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("the proxy answered %d bytes, %v", n, err)
	}
	end()
}
