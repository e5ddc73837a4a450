//go:build linux

package persistent_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// soak is how much a run does. The variable AGENT_SANDBOX_SOAK=long, which `make soak` sets, chooses the long form.
type soak struct {
	commands  int // one after the other, in one sandbox
	together  int // at the same time, in that sandbox
	sandboxes int // each created, used and destroyed
}

func soakOf(t *testing.T) soak {
	t.Helper()
	switch form := os.Getenv("AGENT_SANDBOX_SOAK"); form {
	case "":
		return soak{commands: 30, together: 12, sandboxes: 2}
	case "long":
		return soak{commands: 2000, together: 200, sandboxes: 500}
	default:
		t.Fatalf("AGENT_SANDBOX_SOAK=%s; expected long", form)
		return soak{}
	}
}

func Test_Many_Commands_And_Sandboxes_Leave_Nothing_With_Bubblewrap(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		unavailable(t, "bwrap", fmt.Sprintf("%v: %s", err, out))
	}
	newPlace(t, "bwrap", "").endure(t, soakOf(t))
}

func Test_Many_Commands_And_Sandboxes_Leave_Nothing_In_Memory(t *testing.T) {
	newPlace(t, "virtual", "").endure(t, soakOf(t))
}

func Test_Many_Commands_And_Sandboxes_Leave_Nothing_With_Docker(t *testing.T) {
	newPlace(t, "docker", engine(t)).endure(t, soakOf(t), "--image", image)
}

// endure runs commands one after the other and together, and checks the output of each. Afterwards there must be as many processes,
// files, mounts, sockets and containers as before, and the process that holds the sandbox must have as many open files.
func (p *place) endure(t *testing.T, n soak, flags ...string) {
	t.Helper()
	create := func(name string) error {
		return p.run(append(append([]string{"create", "--backend", p.backend}, flags...), name)...)
	}
	// The first sandbox creates files for all sandboxes.
	if err := create(name); err != nil {
		t.Fatal(err)
	}
	if err := p.run("destroy", name); err != nil {
		t.Fatal(err)
	}
	before := p.residue(t)

	if err := create(name); err != nil {
		t.Fatal(err)
	}
	if err := p.echo(name, 0); err != nil {
		t.Fatal(err)
	}
	files := p.openFiles(t)
	for i := range n.commands {
		if err := p.echo(name, i); err != nil {
			t.Fatalf("command %d: %v", i, err)
		}
	}
	var all sync.WaitGroup
	failed := make(chan error, n.together)
	for i := range n.together {
		all.Go(func() {
			if err := p.echo(name, i); err != nil {
				failed <- fmt.Errorf("command %d of %d at once: %w", i, n.together, err)
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	if err := p.echo(name, 1); err != nil { // the holder has closed the connections of the others
		t.Fatal(err)
	}
	if now := p.openFiles(t); now > files+fewFiles {
		t.Errorf("the process that holds the sandbox has %d open files, and had %d after its first command", now, files)
	}
	for i := range n.sandboxes {
		box := fmt.Sprintf("box%d", i)
		if err := create(box); err != nil {
			t.Fatalf("sandbox %d: %v", i, err)
		}
		if err := p.echo(box, i); err != nil {
			t.Fatalf("sandbox %d: %v", i, err)
		}
		p.note(t)
		if err := p.run("destroy", box); err != nil {
			t.Fatalf("sandbox %d: %v", i, err)
		}
	}
	p.note(t)
	if err := p.run("destroy", name); err != nil {
		t.Fatal(err)
	}
	p.compare(t, before)
	t.Logf("%d commands, %d at once, %d sandboxes", n.commands, n.together, n.sandboxes)
}

// fewFiles are runners that wait for the next command, and connections whose end the holder has not read yet.
const fewFiles = 10

// echo runs a command in a sandbox and checks its output.
func (p *place) echo(box string, n int) error {
	cmd := p.prepare("exec", "--in", box, "--", "sh", "-c", fmt.Sprintf("echo line %d", n))
	out, err := cmd.Output()
	if want := fmt.Sprintf("line %d\n", n); err == nil && string(out) != want {
		err = fmt.Errorf("the output is %q, want %q", out, want)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return err
}

// openFiles returns the number of open files of the process that holds the sandbox.
func (p *place) openFiles(t *testing.T) int {
	t.Helper()
	holder := p.find("keep", name)
	if holder == 0 {
		t.Fatalf("no process holds the sandbox: %v", p.processes())
	}
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", holder))
	if err != nil || len(open) == 0 {
		t.Fatalf("open files of process %d: %v %v", holder, open, err)
	}
	return len(open)
}
