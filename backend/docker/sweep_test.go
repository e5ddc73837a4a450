//go:build linux

package docker_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// dockerCommand calls the engine's own client, and returns the words of its answer.
func dockerCommand(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %q: %v: %s", args, err, out)
	}
	return strings.Fields(string(out))
}

// labelsOf makes a sandbox with a State, and returns the labels that its container had; the sandbox is gone then, and its State.
func labelsOf(t *testing.T) map[string]string {
	t.Helper()
	driver, base := driverOf(t)
	if err := sandboxtest.Available(t.Context(), driver); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "docker") {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
	work := t.TempDir()
	deep := filepath.Join(base, "several/directories")
	box, err := sandbox.Create(t.Context(), driver, sandbox.Spec{
		Workspace: work, Env: os.Environ(), Container: sandbox.Container{Image: testImage}, Resident: true, State: filepath.Join(deep, "of/this/sandbox/state"),
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := dockerCommand(t, "ps", "-aq", "--filter", "label=agent-sandbox.workspace="+work)
	if len(ids) != 1 {
		t.Fatalf("containers %q", ids)
	}
	var labels map[string]string
	if err := json.Unmarshal([]byte(strings.Join(dockerCommand(t, "inspect", "-f", "{{json .Config.Labels}}", ids[0]), " ")), &labels); err != nil {
		t.Fatal(err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(base, "several")); err != nil {
		t.Fatal(err)
	}
	if err := driver.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := dockerCommand(t, "ps", "-aq", "--filter", "label=agent-sandbox.workspace="+work); len(left) > 0 {
		t.Errorf("its State is gone with all directories around it, and the container is left: %q", left)
	}
	return labels
}

// Y20: objects that a crash has left have an owner in their labels, and the next sweep removes them.
func Test_A_Sweep_Removes_Only_Orphaned_Containers_Of_This_User(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	labels := labelsOf(t)
	boot, above, _ := strings.Cut(labels["agent-sandbox.place"], " ")
	self, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || boot != strings.TrimSpace(string(self)) || !strings.Contains(above, ",") {
		t.Fatalf("place %q, %v", labels["agent-sandbox.place"], err)
	}
	machine, _, _ := strings.Cut(labels["agent-sandbox.host"], " ")
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	dead := func(boot, namespace string) map[string]string {
		return map[string]string{"agent-sandbox.state": "", "agent-sandbox.place": "", "agent-sandbox.owner": boot + " 4194305 1 " + namespace}
	}
	driver, base := driverOf(t)
	for what, row := range map[string]struct {
		with  map[string]string
		stays bool
	}{
		"this user's":                            {nil, false},
		"of before the machine booted":           {map[string]string{"agent-sandbox.place": "another " + strings.ReplaceAll(above, ":", "9:")}, false},
		"another machine's":                      {map[string]string{"agent-sandbox.host": "another 0"}, true},
		"another user's":                         {map[string]string{"agent-sandbox.host": machine + " 4711"}, true},
		"nobody's":                               {map[string]string{"agent-sandbox.host": ""}, true},
		"of files that are not to be seen":       {map[string]string{"agent-sandbox.place": boot + " " + strings.ReplaceAll(above, ":", "9:")}, true},
		"of other files, before a boot":          {map[string]string{"agent-sandbox.place": "another " + strings.ReplaceAll(above, ":", ":9")}, true},
		"of files of which nothing is known":     {map[string]string{"agent-sandbox.place": ""}, true},
		"whose State is there":                   {map[string]string{"agent-sandbox.state": base}, true},
		"of a process that has ended":            {dead(boot, namespace), false},
		"of a process of before a boot":          {dead("another", "pid:[1]"), false},
		"of a process that is not to be seen":    {dead(boot, "pid:[1]"), true},
		"of another machine's process":           {join(dead("another", namespace), map[string]string{"agent-sandbox.host": "another 0"}), true},
		"of a process of which nothing is known": {map[string]string{"agent-sandbox.state": "", "agent-sandbox.owner": "x"}, true},
	} {
		t.Run(what, func(t *testing.T) {
			args := []string{"create"}
			for k, v := range join(labels, row.with) {
				args = append(args, "--label", k+"="+v)
			}
			id := dockerCommand(t, append(args, testImage, "true")...)[0]
			defer exec.Command("docker", "rm", "-f", id).Run() //nolint:errcheck,noctx // it may be gone
			if err := driver.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if there := len(dockerCommand(t, "ps", "-aq", "--filter", "id="+id)) == 1; there != row.stays {
				t.Errorf("is there: %v, want %v", there, row.stays)
			}
		})
	}
}

// A canceled fork: the engine created its image after the claim had been removed.
func Test_A_Sweep_Removes_Unclaimed_Images_Of_Forks(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	labels := labelsOf(t)
	driver, base := driverOf(t)
	boot, _, _ := strings.Cut(labels["agent-sandbox.place"], " ")
	roots := filepath.Join(base, "data/docker/roots")
	if err := os.MkdirAll(roots, 0o700); err != nil {
		t.Fatal(err)
	}
	var above []string // device and inode of each directory down to that of the claims
	for dir := roots; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		above = append([]string{fmt.Sprintf("%d:%d", st.Dev, st.Ino)}, above...)
		if dir == "/" {
			break
		}
	}
	place := boot + " " + strings.Join(above, ",")
	held := filepath.Join(base, "held")
	if err := os.WriteFile(held, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(held, filepath.Join(roots, "00000000000000c2")); err != nil {
		t.Fatal(err)
	}
	container := dockerCommand(t, "create", testImage, "true")[0]
	defer exec.Command("docker", "rm", "-f", container).Run() //nolint:errcheck,noctx // it is the test's own
	for id, row := range map[string]struct {
		place string
		stays bool
	}{
		"00000000000000c1": {place, false},
		"00000000000000c2": {place, true},       // claimed
		"00000000000000c3": {place + "9", true}, // another user's claims
	} {
		image := "agent-sandbox-next:" + id
		args := []string{"commit"}
		for k, v := range map[string]string{
			"agent-sandbox": "1", "agent-sandbox.host": labels["agent-sandbox.host"],
			"agent-sandbox.state": filepath.Join(roots, id), "agent-sandbox.place": row.place,
		} {
			args = append(args, "--change", fmt.Sprintf("LABEL %s=%q", k, v))
		}
		dockerCommand(t, append(args, container, image)...)
		defer exec.Command("docker", "rmi", "-f", image).Run() //nolint:errcheck,noctx // it may be gone
		if err := driver.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if there := len(dockerCommand(t, "images", "-q", image)) == 1; there != row.stays {
			t.Errorf("%s is there: %v, want %v", image, there, row.stays)
		}
	}
}

func join(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
