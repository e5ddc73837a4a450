//go:build linux

package docker_test

import (
	"strings"
	"testing"
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
	// Another reason for the same status.
	if out := u.inside("small", "kill -9 $$"); out.code != 137 || strings.Contains(out.stderr, "memory limit") {
		t.Errorf("a command that kills itself: %+v", out)
	}
}
