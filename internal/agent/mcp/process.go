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
	partTime  = 2 * time.Second // a server may take to end by itself when its input has ended
	outlive   = time.Second     // its stderr is waited for when it has ended
	maxStderr = 4 << 10         // of which the end is retained
)

// process is a server that runs, with all that it started.
type process struct {
	stdin  *os.File // its ends that are ours
	stdout *os.File
	stderr *tail
	ended  chan struct{} // closed when none of it is left
	status string        // how it ended; known then
	kill   func()        // ends its group at once, before ended is closed
	below  func() strays // what it has started
}

// watch is the program of the group's leader, which has nothing to do but to be there: its input ends when this process does,
// however it does, and then the whole group is killed. The group's number is not reused before the leader was waited for.
const watch = `trap "" TERM INT HUP QUIT; read x; kill -KILL 0`

// start starts a server in a process group of its own.
func start(s tool.Server, hostEnv []string) (*process, error) {
	env, err := environment(s, hostEnv)
	if err != nil {
		return nil, err
	}
	dir, own := s.Dir, ""
	if dir == "" {
		temp, _ := variable(hostEnv, "TMPDIR")
		if dir, err = os.MkdirTemp(temp, "mcp-"+s.ID+"-"); err != nil {
			return nil, err
		}
		own = dir
	}
	p, err := startIn(s, env, dir, own)
	if err != nil && own != "" {
		_ = os.RemoveAll(own) // nothing was started in it
	}
	return p, err
}

func startIn(s tool.Server, env []string, dir, own string) (*process, error) {
	path, err := program(s.Command[0], dir, env)
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
			_ = os.RemoveAll(own) // our own directory; its files are not needed any more
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

// startWith connects its standard streams.
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

// close ends the server's input, and what is left of it after a while, and returns when nothing is.
func (p *process) close() {
	below := p.below() // those that have made a group of their own are found only as long as their parents live
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

// describe says how a process ended.
func describe(err error) string {
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return "exit status 0"
	default:
		return err.Error()
	}
}

// tail keeps the end of what is written to it. The zero value is empty. It is safe for concurrent use.
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

// String is its last lines as one, without what a terminal obeys.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return oneLine(string(t.text), 500)
}
