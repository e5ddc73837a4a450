//go:build linux

package docker_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/moby/moby/client"
)

func Test_A_Limit_Of_Memory_That_Kills_Is_Named(t *testing.T) {
	u := newUser(t)
	u.buildBase()
	const greedy = `node -e 'const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))'`
	want := "the command was killed: memory limit of 128MiB"
	out := u.try(u.home, "", "exec", "--backend", "docker", "--image", "agent-sandbox-base:"+baseTag, "--limit", "memory=128MiB", "--", "sh", "-c", "exec "+greedy)
	if out.code != 137 || !strings.Contains(out.stderr, want) {
		t.Errorf("exec: %+v", out)
	}
	u.run(u.home, "create", "--backend", "docker", "--image", "agent-sandbox-base:"+baseTag, "--limit", "memory=128MiB", "small")
	t.Cleanup(func() { u.run(u.home, "destroy", "small") })
	if out := u.inside("small", "exec "+greedy); out.code != 137 || !strings.Contains(out.stderr, want) {
		t.Errorf("exec --in: %+v", out)
	}
	// The same exit status for another reason.
	if out := u.inside("small", "kill -9 $$"); out.code != 137 || strings.Contains(out.stderr, "memory limit") {
		t.Errorf("a command that kills itself: %+v", out)
	}
}

func Test_A_Command_Reports_That_Its_Container_Was_Removed(t *testing.T) {
	u := newUser(t)
	dir := u.prepared("removed")
	name := strings.TrimSpace(u.run(dir, "start"))
	cmd := exec.CommandContext(t.Context(), lab.command, "exec", "--in", name, "--", "sh", "-c", "echo runs; exec sleep 1000")
	cmd.Env = append(os.Environ(), "HOME="+u.home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "NO_COLOR=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "runs\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := lab.engine.ContainerRemove(t.Context(), name, client.ContainerRemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 125 || !strings.Contains(stderr.String(), "container was removed by another program") {
		t.Errorf("status %d\n%s", code, stderr.String())
	}
}
