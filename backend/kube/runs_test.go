package kube_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/internal/guest/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// run creates a sandbox, runs args in it, and returns the result.
func (b bed) run(t *testing.T, spec sandbox.Spec, args ...string) *sandbox.Result {
	t.Helper()
	s, err := sandbox.Create(t.Context(), b.driver, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: args})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func Test_A_Workspace_Is_Copied_Without_Hidden_Files(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"kept": "kept\n", "d/below": "below\n", "secret": "canary\n", "hide/f": "canary\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{
		RW: []string{dir}, Exclude: []string{filepath.Join(dir, "secret"), filepath.Join(dir, "hide")},
	}}}
	res := b.run(t, spec, "sh", "-c", "pwd; find . -type f | sort; cat kept d/below; echo changed >kept; grep -r canary . ; true")
	if want := "/workspace\n./d/below\n./kept\nkept\nbelow\n"; string(res.Stdout) != want {
		t.Errorf("%q, want %q; %s", res.Stdout, want, res.Stderr)
	}
	if out := b.run(t, spec, "sh", "-c", `echo "$GIT_CONFIG_COUNT $GIT_CONFIG_KEY_0 $GIT_CONFIG_VALUE_0"`).Stdout; string(out) != "1 safe.directory /workspace\n" {
		t.Errorf("the variables for git are %q", out)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "kept")); string(data) != "kept\n" {
		t.Errorf("the host has %q, %v", data, err)
	}
}

// internet is a Perl function that returns whether a socket of a family and a type can be made, and is one of that family:
// without a network, a program that asks for a TCP socket gets a Unix one (SO_DOMAIN in socket(7)).
const internet = `sub internet { my ($f, $k) = @_; my $s; socket($s, $f, $k, 0) && unpack("i", getsockopt($s, SOL_SOCKET, 39)) == $f } `

func Test_Only_A_Pod_With_A_Network_Has_Internet_Sockets(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	const open = internet + `for my $f (PF_INET, PF_INET6, 16) { for my $k (SOCK_STREAM, SOCK_DGRAM, SOCK_RAW) { print "$f " if internet($f, $k) } }`
	if out := b.run(t, sandbox.Spec{}, "perl", "-MSocket", "-e", open).Stdout; len(out) > 0 {
		t.Errorf("without a network these families have sockets: %s", out)
	}
	with := sandbox.Spec{Policy: sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkHost}}}
	if out := b.run(t, with, "perl", "-MSocket", "-e", open).Stdout; !strings.HasPrefix(string(out), "2 2 ") {
		t.Errorf("the control, with a network, has %q", out)
	}
}

func Test_A_Command_Cannot_Reach_The_Supervisor(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	// The first process and the supervisor have the same user as commands: commands must not reach their memory or their
	// descriptors.
	script := `n=0; for p in $(ls /proc | grep '^[0-9]*$'); do grep -qsa '^/run/agent-sandbox/' /proc/$p/cmdline || continue
		n=$((n+1)); (exec 3<>/proc/$p/mem) 2>/dev/null && echo "$p mem"; ls /proc/$p/fd 2>/dev/null | sed "s/^/$p fd /"; done
		test $n -ge 3 && echo looked; kill -TERM 1; kill -KILL 1; ls -A /tmp`
	if out := string(b.run(t, sandbox.Spec{}, "sh", "-c", script).Stdout); out != "looked\n" {
		t.Errorf("%q", out)
	}
	// Nor may they open a session with the supervisor as a client does.
	join := `/run/agent-sandbox/agent-sandbox join $(stat -c %s /run/agent-sandbox/agent-sandbox) $(sha256sum </run/agent-sandbox/agent-sandbox | cut -d' ' -f1) <<<x | cat -v; echo heard`
	if out := string(b.run(t, sandbox.Spec{}, "bash", "-c", join).Stdout); out != "heard\n" {
		t.Errorf("a command that joins the supervisor hears %q", out)
	}
	control := `sleep 100 & (exec 3<>/proc/$!/mem) && ls /proc/$!/fd; kill $!`
	if out := string(b.run(t, sandbox.Spec{}, "sh", "-c", control).Stdout); !strings.HasPrefix(out, "0\n1\n2\n") {
		t.Errorf("the control, another command, is %q", out)
	}
}

func Test_A_Binary_Of_100_MiB_Passes_Both_Ways(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	s, err := sandbox.Create(t.Context(), b.driver, sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.WithoutCancel(t.Context())) }()
	const size = 100 << 20
	sent, back := sha256.New(), sha256.New()
	data := io.TeeReader(io.LimitReader(pattern{}, size), sent)
	if err := s.Files().Create(t.Context(), "/tmp/big", 0o600, data); err != nil {
		t.Fatal(err)
	}
	r, err := s.Files().Open(t.Context(), "/tmp/big")
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(back, r)
	if cerr := r.Close(); err != nil || cerr != nil || n != size || !bytes.Equal(sent.Sum(nil), back.Sum(nil)) {
		t.Fatalf("%d bytes, %v, %v; the sums are equal: %v", n, err, cerr, bytes.Equal(sent.Sum(nil), back.Sum(nil)))
	}
}

// pattern has every byte, half of them NUL.
type pattern struct{}

func (pattern) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(max(0, i%512-256))
	}
	return len(p), nil
}

// A program's own client configuration is enough, and is not changed.
func Test_A_Client_Configuration_Locates_The_Cluster(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.UserAgent = "a program"
	o := b.options
	o.Env, o.Config, o.Context = []string{"HOME=" + t.TempDir()}, config, "no-such-context"
	b.driver = kube.New(o)
	if res := b.run(t, sandbox.Spec{}, "echo", "runs"); string(res.Stdout) != "runs\n" {
		t.Errorf("%+v", res)
	}
	if config.UserAgent != "a program" || config.WrapTransport != nil || config.APIPath != "" {
		t.Errorf("the configuration has changed: %+v", config)
	}
	o.Config = nil
	b.driver = kube.New(o)
	wants(t, b.fails(t, sandbox.Spec{}), sandbox.Invalid, "no-such-context")
}

func Test_A_Pod_That_Is_Deleted_Ends_Its_Commands_With_The_Reason(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	s, err := sandbox.Create(t.Context(), b.driver, sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Start(t.Context(), sandbox.Cmd{Args: []string{"sleep", "1000"}}, sandbox.Stdio{})
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, "", "delete", "pod", "agent-sandbox-"+s.ID(), "-n", b.namespace, "--wait=false")
	if exit, err := run.Wait(); err == nil {
		t.Errorf("it ended with %+v", exit)
	} else {
		wants(t, err, sandbox.Closed, "pod was deleted")
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("to delete what is gone: %v", err)
	}
}

// wire forwards connections to a cluster, and can be cut.
type wire struct {
	net.Listener

	mu    sync.Mutex
	conns []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l}
	t.Cleanup(w.cut)
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(context.WithoutCancel(t.Context()), "tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			w.mu.Lock()
			w.conns = append(w.conns, near, far)
			w.mu.Unlock()
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		}
	}()
	return w
}

// cut ends all connections, for good.
func (w *wire) cut() {
	_ = w.Close()
	w.interrupt()
}

// interrupt ends the current connections.
func (w *wire) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

// becomes waits until an object has a phase.
func (b bed) becomes(t *testing.T, object, phase string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "kubectl", "get", "-n", b.namespace, object, "--watch", "-o", `jsonpath={.status.phase}{"\n"}`)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(out); last != phase && lines.Scan(); {
		last = lines.Text()
	}
	cancel()
	_ = cmd.Wait() // we have ended it
	if last != phase {
		t.Fatalf("%s is %s, not %s", object, last, phase)
	}
}

func Test_A_Cut_Connection_Ends_All_Commands_In_The_Pod(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	w := newWire(t, serverAddress(t))
	port := w.Addr().(*net.TCPAddr).Port
	far := b.configured(t, func(s string) string { return strings.Replace(s, ":"+serverPort(t), fmt.Sprintf(":%d", port), 1) })
	far.options.Linger = 2 * time.Second
	s, err := sandbox.Create(t.Context(), kube.New(far.options), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Start(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "setsid sleep 1000 & sleep 1000"}}, sandbox.Stdio{})
	if err != nil {
		t.Fatal(err)
	}
	w.cut()
	if exit, err := run.Wait(); err == nil {
		t.Errorf("a command without a connection ended with %+v", exit)
	}
	b.becomes(t, "pod/agent-sandbox-"+s.ID(), "Succeeded")
	if err := s.Close(t.Context()); sandbox.CodeOf(err) != sandbox.Unavailable {
		t.Errorf("the pod is said to be deleted: %v", err)
	}
}

func Test_A_Canceled_Create_Leaves_No_Pod(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	s, err := sandbox.Create(ctx, b.driver, sandbox.Spec{Container: sandbox.Container{Volumes: []sandbox.Volume{{Name: "missing", Target: "/work"}}}})
	if err == nil {
		t.Fatal("it was made", s.Close(t.Context()))
	}
	wants(t, err, sandbox.Timeout)
	if left, err := b.pods(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

func Test_Without_WebSockets_The_Driver_Uses_SPDY(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	passed := make(chan string, 100)
	server := serverAddress(t)
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // the testbed's certificate is its own
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "https", server
			if up := r.In.Header.Get("Upgrade"); up != "" {
				passed <- up
			}
			if r.In.Header.Get("Upgrade") == "websocket" {
				r.Out.URL.Path = "/no-such-path"
			}
		},
	})
	t.Cleanup(proxy.Close)
	old := b.configured(t, func(s string) string { return strings.Replace(s, "https://"+server, proxy.URL, 1) })
	s, err := sandbox.Create(t.Context(), old.driver, sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	res, err := s.RunStdio(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "cat; exit 3"}}, sandbox.Stdio{Stdin: strings.NewReader("all\x00of it"), Stdout: &out})
	if err != nil || res.Code != 3 || out.String() != "all\x00of it" {
		t.Errorf("%+v, %q, %v", res, out.String(), err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if first, second := <-passed, <-passed; first != "websocket" || second != "SPDY/3.1" {
		t.Errorf("asked for %s and %s", first, second)
	}
}

func Test_Ten_Thousand_Files_Are_Copied(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	dir := t.TempDir()
	for n := range 10_000 {
		name := filepath.Join(dir, fmt.Sprintf("%02d/%04d", n%100, n))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := sandbox.Spec{Workspace: dir, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{dir}}}}
	res := b.run(t, spec, "sh", "-c", `find . -type f | wc -l; find . -type f | sort | xargs cat | sha256sum`)
	sum := sha256.New()
	names, err := filepath.Glob(filepath.Join(dir, "*/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names { // sorted by Glob
		sum.Write([]byte(name))
	}
	if want := "10000\n" + hex.EncodeToString(sum.Sum(nil)) + "  -\n"; string(res.Stdout) != want {
		t.Errorf("%q, want %q: %s", res.Stdout, want, res.Stderr)
	}
}

// guestImage builds an image with nothing but the guest, and copies it to the cluster's node.
func guestImage(t *testing.T) string {
	t.Helper()
	data, ok := program.Binary()
	if !ok {
		lacking(t, errors.New("this build carries no guest; 'make guest' makes it"))
	}
	sum := sha256.Sum256(data)
	name := "local/agent-sandbox-guest:" + hex.EncodeToString(sum[:8])
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sandbox-guest"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	load(t, name, "../../build/deploy/guest.Dockerfile", dir)
	return name
}

// loading is held by the test that builds an image: an engine that removes an image removes layers which another build may use.
var loading sync.Mutex

// load builds an image of dir, and copies it to the cluster's node.
func load(t *testing.T, name, dockerfile, dir string) {
	t.Helper()
	loading.Lock()
	defer loading.Unlock()
	for _, line := range [][]string{{"docker", "build", "-q", "-t", name, "-f", dockerfile, dir}, {"../../test/testbed/up.sh", "load", name}, {"docker", "rmi", name}} {
		if out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput(); err != nil {
			lacking(t, fmt.Errorf("the node's image needs the testbed: %w: %s", err, out))
		}
	}
}

func Test_An_Image_Without_A_Shell_Runs_With_A_Guest_Image(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	name := guestImage(t)
	o := b.options
	o.GuestImage = name
	b.driver = kube.New(o)
	if res := b.run(t, sandbox.Spec{Container: sandbox.Container{Image: name}}, kube.GuestPath, "check"); string(res.Stdout) != "inside sandbox\n" || res.Code != 0 {
		t.Errorf("%+v", res)
	}
	res := b.run(t, sandbox.Spec{}, "sh", "-c", "echo x >/run/agent-sandbox/agent-sandbox || echo x >/run/agent-sandbox/new || echo refused")
	if !slices.Contains(strings.Fields(string(res.Stdout)), "refused") {
		t.Errorf("commands can change the guest: %+v", res)
	}
}
