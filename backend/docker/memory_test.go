//go:build linux

package docker_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// File systems in memory count toward the limit, so that commands cannot fill the host's memory through /tmp.
func Test_A_Sandbox_Without_A_Limit_May_Take_Half_Of_The_Memory(t *testing.T) {
	driver, _ := driverOf(t)
	if err := sandboxtest.Available(t.Context(), driver); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "docker") {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
	all, err := strconv.ParseInt(strings.Join(dockerCommand(t, "info", "-f", "{{.MemTotal}}"), ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(dockerCommand(t, "info", "-f", "{{.MemoryLimit}}{{.SwapLimit}}"), ""); got != "truetrue" {
		t.Skipf("the engine cannot limit memory and swap: %s", got)
	}
	for _, c := range []struct {
		name        string
		limit, want int64
	}{
		{"without a limit", 0, all / 2},
		{"with one", 128 << 20, 128 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := t.TempDir()
			box, err := sandbox.Create(t.Context(), driver, sandbox.Spec{
				Workspace: work, Env: os.Environ(), Container: sandbox.Container{Image: testImage}, Policy: sandbox.Policy{Limits: sandbox.Limits{Memory: sandbox.Bytes(c.limit)}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = box.Close(t.Context()) }()
			ids := dockerCommand(t, "ps", "-q", "--filter", "label=agent-sandbox.workspace="+work)
			if len(ids) != 1 {
				t.Fatalf("containers %q", ids)
			}
			want := strconv.FormatInt(c.want, 10)
			if got := dockerCommand(t, "inspect", "-f", "{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}}", ids[0]); !slices.Equal(got, []string{want, want}) {
				t.Errorf("memory and swap: %q, want %s", got, want)
			}
		})
	}
}
