package docker_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// testImage is an image with a shell and coreutils.
const testImage = "debian:bookworm-slim"

// harness also counts what the engine holds of ours.
type harness struct {
	sandboxtest.Local

	engine *engine.Client
}

func (h harness) Spec(dir string) sandbox.Spec {
	spec := h.Local.Spec(dir)
	spec.Image = testImage
	return spec
}

func (h harness) Residue(ctx context.Context) ([]string, error) {
	lines, err := h.Local.Residue(ctx)
	if err != nil || h.engine == nil {
		return lines, err
	}
	found, err := h.engine.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", "agent-sandbox=1")})
	for _, c := range found.Items {
		lines = append(lines, "container "+c.ID)
	}
	return lines, err
}

// driverOf makes a driver whose files lie in a directory of the test's.
func driverOf(t *testing.T) (*docker.Driver, string) {
	t.Helper()
	base := t.TempDir()
	return docker.New(docker.Options{Env: os.Environ(), DataDir: filepath.Join(base, "data"), Image: testImage}), base
}

func Test_Docker_Keeps_The_Contract(t *testing.T) {
	driver, base := driverOf(t)
	t.Setenv("TMPDIR", t.TempDir())                // files of other processes do not count as residue
	c, _ := engine.Open(t.Context(), os.Environ()) // without one the contract skips, or fails where it is required
	sandboxtest.Run(t, harness{
		Local:  sandboxtest.Local{Backend: driver, Base: base, Data: []string{filepath.Join(base, "data/docker/boxes")}, Resident: true},
		engine: c,
	}, os.Getenv("SANDBOX_REQUIRE"))
}
