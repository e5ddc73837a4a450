//go:build linux

package persistent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// Y20: after a kill at any moment, the next operation finds and removes all remains.
func Test_Killed_At_Any_Moment_Docker_Leaves_Nothing(t *testing.T) {
	killing(t, newPlace(t, "docker", engine(t)), rounds(t, 21))
}

// engine is the address of the shared engine, which has the image.
func engine(t *testing.T) string {
	t.Helper()
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	out, err := dockerAt(host, "image", "inspect", "-f", "{{.Id}}", image).CombinedOutput()
	if err != nil {
		unavailable(t, "docker", fmt.Sprintf("%v: %.300s", err, out))
	}
	return host
}

func dockerAt(host string, args ...string) *exec.Cmd {
	return exec.Command("docker", append([]string{"-H", host}, args...)...) //nolint:noctx // ends by itself
}

// ownEngine is an engine that only this test uses, so that the test can kill it.
type ownEngine struct {
	dir, host string
	cmd       *exec.Cmd
	log       *os.File
}

func newEngine(t *testing.T, from string) *ownEngine {
	t.Helper()
	if os.Getuid() != 0 {
		unavailable(t, "docker", "an engine of its own needs root")
	}
	dir, err := os.MkdirTemp("", "engine-") //nolint:usetesting // removed when what is mounted there is gone
	if err != nil {
		t.Fatal(err)
	}
	e := &ownEngine{dir: dir, host: "unix://" + filepath.Join(dir, "sock")}
	if e.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.end(t) })
	if err := e.start(); err != nil {
		t.Fatal(err)
	}
	save, load := dockerAt(from, "save", image), dockerAt(e.host, "load")
	if load.Stdin, err = save.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(save.Start(), load.Run(), save.Wait()); err != nil {
		t.Fatal(err)
	}
	return e
}

// start starts the engine and waits until it answers.
func (e *ownEngine) start() error {
	in := func(name string) string { return filepath.Join(e.dir, name) }
	e.cmd = exec.Command("dockerd", "--data-root", in("data"), "--exec-root", in("exec"), "--pidfile", in("pid"), "-H", e.host, //nolint:noctx // ended by end
		"--bridge", "none", "--iptables=false", "--ip6tables=false")
	e.cmd.Stdout, e.cmd.Stderr = e.log, e.log
	// An engine without a bridge removes docker0, which may belong to another engine; and other processes on this machine
	// would see its mounts come and go.
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Unshareflags: unix.CLONE_NEWNS}
	if err := e.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline.Scale(time.Minute))
	defer cancel()
	for dockerAt(e.host, "version").Run() != nil {
		select {
		case <-time.After(100 * time.Millisecond): // an engine sends no event when it is ready
		case <-ctx.Done():
			said, _ := os.ReadFile(e.log.Name())
			return fmt.Errorf("the engine does not start: %s", said)
		}
	}
	return nil
}

// kill kills the engine at a random moment.
func (e *ownEngine) kill() {
	_ = e.cmd.Process.Kill()
	_ = e.cmd.Wait()
	// The IDs may belong to a zombie or to another process by now, and the next engine would trust them.
	_ = os.Remove(filepath.Join(e.dir, "pid"))
	_ = os.Remove(filepath.Join(e.dir, "exec/containerd/containerd.pid"))
}

func (e *ownEngine) end(t *testing.T) {
	t.Helper()
	_ = e.cmd.Process.Signal(unix.SIGTERM)
	late := time.AfterFunc(30*time.Second, func() { _ = e.cmd.Process.Kill() })
	_ = e.cmd.Wait()
	late.Stop()
	_ = e.log.Close()
	// Mounts of a killed engine remain; the next engine does not remove them either.
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	lines := strings.Split(string(mounts), "\n")
	slices.Reverse(lines)
	for _, line := range lines {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], e.dir) {
			_ = unix.Unmount(f[4], unix.MNT_DETACH)
		}
	}
	if err := os.RemoveAll(e.dir); err != nil {
		t.Error(err)
	}
}

// When an engine is killed, its connections end, so each guest and each sandbox ends. The next engine then finds
// containers that have ended.
func Test_A_Killed_Engine_Leaves_Nothing(t *testing.T) {
	from := engine(t)
	e := newEngine(t, from)
	p := newPlace(t, "docker", e.host)
	p.alone = true
	r := chance(t)
	p.create(t)
	if err := p.run("destroy", name); err != nil {
		t.Fatal(err)
	}
	before := p.residue(t)
	p.create(t)
	for i := range rounds(t, 12) / 4 {
		if err := p.engineRound(t, e, func() { moment(r, 50*time.Millisecond) }); err != nil {
			said, _ := os.ReadFile(e.log.Name())
			t.Fatalf("round %d: %v\nthe engine's last words: %.3000s", i, err, said[max(0, len(said)-3000):])
		}
	}
	if err := p.run("destroy", name); err != nil {
		t.Fatal(err)
	}
	p.compare(t, before)
}

func (p *place) engineRound(t *testing.T, e *ownEngine, pause func()) error {
	t.Helper()
	if err := p.works(); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	p.note(t)
	running, err := p.busy()
	if err != nil {
		return err
	}
	pause()
	e.kill()
	err = running.Wait()
	if err == nil {
		return errors.New("the command ended well although its engine was killed")
	}
	if left := p.commands(20 * time.Second); len(left) > 0 {
		return fmt.Errorf("the command's processes are left: %v", left)
	}
	if err := e.start(); err != nil {
		return err
	}
	if err := p.run("stop", name); err != nil {
		return err
	}
	return nil
}
