package mcp

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	partTime  = 2 * time.Second // for a server to exit by itself after the end of its input
	outlive   = time.Second     // to wait for its stderr after its exit
	maxStderr = 4 << 10         // of its stderr, the end of which is retained
)

// process is a running server with all its children.
type process struct {
	stdin  *os.File // our end of the pipe
	stdout *os.File
	stderr *tail
	ended  chan struct{} // closed when the server and its children are gone
	status string        // how it ended; valid after ended
	kill   func()        // kills its group at once; call it before ended is closed
	below  func() strays // returns its descendants
}

// watch is the program that leads the group. It only waits: its input ends when this process exits,
// in any way, and then it kills the whole group. The group's number is not reused before the leader was waited for.
const watch = `trap "" TERM INT HUP QUIT; read x; kill -KILL 0`

// startProcess starts a server in its own process group.
func startProcess(s tool.Server, hostEnv []string) (*process, error) {
	env, err := environment(s, hostEnv)
	if err != nil {
		return nil, err
	}
	dir, own := s.Dir, ""
	if dir == "" {
		temp, _ := lookupVariable(hostEnv, "TMPDIR")
		if dir, err = os.MkdirTemp(temp, "mcp-"+s.ID+"-"); err != nil {
			return nil, err
		}
		own = dir
	}
	p, err := startIn(s, env, dir, own)
	if err != nil && own != "" {
		_ = os.RemoveAll(own) // no process uses it
	}
	return p, err
}

func startIn(s tool.Server, env []string, dir, own string) (*process, error) {
	path, err := findProgram(s.Command[0], dir, env)
	if err != nil {
		return nil, err
	}
	leader, life, err := startWatch()
	if err != nil {
		return nil, err
	}
	group := leader.Process.Pid
	p := &process{stderr: &tail{}, ended: make(chan struct{})}
	cmd := &exec.Cmd{
		Path: path, Args: s.Command, Env: env, Dir: dir, Stderr: p.stderr, WaitDelay: outlive,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pgid: group},
	}
	end := func() {
		_ = syscall.Kill(-group, syscall.SIGKILL)
		_ = life.Close()
		_ = leader.Wait() // it was killed
	}
	if err := p.startWith(cmd); err != nil {
		end()
		return nil, sandbox.Errorf(sandbox.Unavailable, "%w", err)
	}
	p.kill = func() { _ = syscall.Kill(-group, syscall.SIGKILL) }
	p.below = func() strays { return descendants(cmd.Process.Pid) }
	go func() {
		p.status = describe(cmd.Wait())
		end()
		if own != "" {
			_ = os.RemoveAll(own) // our own directory; its files are no longer needed
		}
		close(p.ended)
	}()
	return p, nil
}

// startWatch starts the leader of a group.
func startWatch() (*exec.Cmd, *os.File, error) {
	in, life, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	leader := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", watch}, Stdin: in, Dir: "/", Env: []string{}, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if err := leader.Start(); err != nil {
		_ = life.Close()
		return nil, nil, sandbox.Errorf(sandbox.Unavailable, "%w", err)
	}
	return leader, life, nil
}

// startWith connects the standard streams and starts the server.
func (p *process) startWith(cmd *exec.Cmd) error {
	in, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	theirs, out, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return err
	}
	defer out.Close()
	p.stdin, p.stdout = ours, theirs
	cmd.Stdin, cmd.Stdout = in, out
	if err = cmd.Start(); err != nil {
		_, _ = ours.Close(), theirs.Close()
	}
	return err
}

// close ends the server's input, kills what remains after a while, and waits until nothing remains.
func (p *process) close() {
	below := p.below() // descendants with their own group are found only while their parents live
	_ = p.stdin.Close()
	patience := time.NewTimer(partTime)
	defer patience.Stop()
	select {
	case <-p.ended:
	case <-patience.C:
		below = append(below, p.below()...)
		p.kill()
		<-p.ended
	}
	below.end()
	_ = p.stdout.Close()
}

// describe formats how a process ended.
func describe(err error) string {
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return "exit status 0"
	default:
		return err.Error()
	}
}

// tail retains the end of what is written to it. The zero value is empty. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-maxStderr):]...)
	if over := len(t.text) - maxStderr; over > 0 {
		t.text, t.cut = append([]byte(nil), t.text[over:]...), true
	}
	return len(p), nil
}

// String returns its last lines as one line, without terminal control sequences.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return oneLine(string(t.text), 500)
}
