//go:build linux

package escape_test

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
)

// escapeImage is an image with the programs of the attempts, some with the setuid bit. Attempts in containers have no
// control, so a missing program would look like a refusal.
const escapeImage = "agent-sandbox-escape:e2e"

//go:embed image
var imageFiles embed.FS

func dockerTarget(t *testing.T) *target {
	t.Helper()
	c, err := engine.Open(t.Context(), os.Environ())
	if err != nil {
		if isRequired("docker") {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
	host := c.Host
	if err := buildImage(t.Context(), c); err != nil {
		t.Fatalf("the image of the attempts: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	w := &target{
		always: []string{"A1.", "A3.", "A5.", "A10.", "C17.", "C18.", "D30.", "E21.29", "E21.30", "E23.", "F24.", "F25.", "G"},
		name:   "docker", engine: strings.TrimPrefix(host, "unix://"), env: []string{"DOCKER_HOST=" + host},
		flags:      []string{"--backend", "docker", "--image", escapeImage, "--ro", "{home}/tools"},
		processes:  128, // the engine's limit also counts the guest's threads
		unsuitable: unsuitableForDocker, refuses: refusedByDocker,
	}
	if info, err := os.Stat(w.engine); err == nil {
		w.groups = []uint32{info.Sys().(*syscall.Stat_t).Gid}
	}
	return w
}

func buildImage(ctx context.Context, c *engine.Client) error {
	files, err := fs.Sub(imageFiles, "image")
	if err != nil {
		return err
	}
	_, err = c.Build(ctx, job.Build{Context: files, Tags: []string{escapeImage}})
	return err
}
