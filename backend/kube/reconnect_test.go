package kube_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// counting returns a command that prints lines, one each 20 ms, and exits with 7.
func counting(lines int) []string {
	return []string{"sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do echo line $i; i=$((i+1)); sleep 0.02; done; exit 7", lines)}
}

// counted returns what counting prints.
func counted(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// watched stores the output, and reports the arrival of each of the lines.
type watched struct {
	bytes.Buffer

	lines []string
	came  chan string
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	for len(w.lines) > 0 && strings.Contains(w.String(), w.lines[0]) {
		w.came <- w.lines[0]
		w.lines = w.lines[1:]
	}
	return n, err
}

// through runs counting in a new sandbox, calls disturb after each of the lines, and compares the output.
func through(t *testing.T, d *kube.Driver, count int, lines []string, disturb func(s *sandbox.Sandbox)) {
	t.Helper()
	s, err := sandbox.Create(t.Context(), d, sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	out := &watched{lines: lines, came: make(chan string, len(lines))}
	run, err := s.Start(t.Context(), sandbox.Cmd{Args: counting(count)}, sandbox.Stdio{Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	for range lines {
		<-out.came
		disturb(s)
	}
	exit, err := run.Wait()
	if err != nil || exit.Code != 7 {
		t.Errorf("it ended with %+v and %v, want 7", exit, err)
	}
	if got := out.String(); got != counted(count) {
		t.Errorf("%d bytes arrived, want %d", len(got), len(counted(count)))
	}
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"echo", "afterwards"}})
	if err != nil || string(res.Stdout) != "afterwards\n" {
		t.Errorf("afterwards: %+v, %v", res, err)
	}
}

func Test_A_Session_Continues_After_Its_Stream_Breaks(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	w := newWire(t, strings.TrimPrefix(b.server(t), "https://"))
	far := b.configured(t, func(s string) string { return strings.Replace(s, b.server(t), "https://"+w.Addr().String(), 1) })
	through(t, far.driver, 200, []string{"line 10\n", "line 60\n", "line 120\n"}, func(*sandbox.Sandbox) { w.interrupt() })
}

func Test_Killing_The_Stream_From_Inside_Ends_No_Command(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	through(t, b.driver, 100, []string{"line 10\n"}, func(s *sandbox.Sandbox) {
		kill := "for p in /proc/[0-9]*; do case $(tr '\\0' ' ' <$p/cmdline) in /run/agent-sandbox/agent-sandbox' join '*) kill -9 ${p#/proc/} && echo killed;; esac; done 2>/dev/null"
		res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", kill}})
		if err != nil || !strings.Contains(string(res.Stdout), "killed") {
			t.Errorf("nothing was killed: %+v, %v", res, err)
		}
	})
}

func Test_A_Large_Output_Is_Complete_After_Interruptions(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	w := newWire(t, strings.TrimPrefix(b.server(t), "https://"))
	far := b.configured(t, func(s string) string { return strings.Replace(s, b.server(t), "https://"+w.Addr().String(), 1) })
	s, err := sandbox.Create(t.Context(), far.driver, sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	const size = 15 << 20 // below the limit of an output
	out := &interrupting{wire: w, each: 2 << 20}
	run, err := s.Start(t.Context(), sandbox.Cmd{Args: []string{"cat"}}, sandbox.Stdio{Stdin: io.LimitReader(pattern{}, size), Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := run.Wait()
	want := make([]byte, size)
	_, _ = io.ReadFull(io.LimitReader(pattern{}, size), want)
	if err != nil || exit.Code != 0 || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%d of %d bytes came back, %+v and %v", out.Len(), size, exit, err)
	}
	if out.times < size/out.each {
		t.Errorf("%d interruptions", out.times)
	}
}

// interrupting stores the output, and cuts the connections each time that a number of bytes has arrived.
type interrupting struct {
	bytes.Buffer

	wire  *wire
	each  int
	times int
}

func (w *interrupting) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.Len() >= (w.times+1)*w.each {
		w.times++
		w.wire.interrupt()
	}
	return n, err
}

// server returns the address of the API server.
func (b bed) server(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(kubectl(t, "", "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"))
}

// apiServer is a second API server of the testbed's cluster, which the test may kill.
type apiServer struct {
	exe  string
	args []string
	dir  string
	addr string
	cmd  *exec.Cmd
}

// newAPIServer starts a server with the arguments of the running one, at another port.
func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	pid, err := os.ReadFile(filepath.Join(filepath.Dir(os.Getenv("KUBECONFIG")), "run", "apiserver.pid"))
	if err != nil {
		lacking(t, fmt.Errorf("the cluster is not the testbed's: %w", err))
	}
	proc := filepath.Join("/proc", strings.TrimSpace(string(pid)))
	exe, err := os.Readlink(filepath.Join(proc, "exe"))
	dir, derr := os.Readlink(filepath.Join(proc, "cwd"))
	line, lerr := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err := errors.Join(err, derr, lerr); err != nil {
		lacking(t, err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	a := &apiServer{exe: exe, dir: dir, addr: l.Addr().String(), args: strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")}
	i := slices.IndexFunc(a.args, func(s string) bool { return strings.HasPrefix(s, "--secure-port=") })
	if i < 0 {
		t.Fatalf("the API server names no port: %q", a.args)
	}
	a.args[i] = "--secure-port=" + strconv.Itoa(port)
	a.start(t)
	t.Cleanup(func() { a.kill() })
	return a
}

// start starts the server and waits until it is ready.
func (a *apiServer) start(t *testing.T) {
	t.Helper()
	a.cmd = &exec.Cmd{Path: a.exe, Args: a.args, Dir: a.dir}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for tick := time.Tick(200 * time.Millisecond); ; {
		ask := exec.CommandContext(ctx, "kubectl", "--server", "https://"+a.addr, "get", "--raw", "/readyz")
		if ask.Run() == nil {
			return
		}
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatal("the second API server is not ready")
		}
	}
}

func (a *apiServer) kill() {
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait() // it was killed
}

func Test_An_API_Server_Restart_Loses_No_Byte(t *testing.T) {
	b := newBed(t)
	a := newAPIServer(t)
	far := b.configured(t, func(s string) string { return strings.Replace(s, b.server(t), "https://"+a.addr, 1) })
	through(t, far.driver, 300, []string{"line 10\n"}, func(*sandbox.Sandbox) {
		a.kill()
		a.start(t)
	})
}

func Test_An_API_Server_That_Does_Not_Come_Back_Is_An_Error(t *testing.T) {
	b := newBed(t)
	a := newAPIServer(t)
	far := b.configured(t, func(s string) string { return strings.Replace(s, b.server(t), "https://"+a.addr, 1) })
	far.options.Linger = 2 * time.Second
	s, err := sandbox.Create(t.Context(), kube.New(far.options), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Start(t.Context(), sandbox.Cmd{Args: []string{"sleep", "1000"}}, sandbox.Stdio{})
	if err != nil {
		t.Fatal(err)
	}
	a.kill()
	if exit, err := run.Wait(); err == nil {
		t.Errorf("a command without a connection ended with %+v", exit)
	} else {
		wants(t, err, sandbox.Unavailable, "connect")
	}
	b.becomes(t, "pod/agent-sandbox-"+s.ID(), "Succeeded")
	_ = s.Close(t.Context()) // the server is gone
}
