package engine

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_An_Engine_That_Never_Answers_Is_Named(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Open(t.Context(), []string{"DOCKER_HOST=unix://" + socket})
	if sandbox.CodeOf(err) != sandbox.Unavailable || !strings.Contains(err.Error(), socket+" accepted the connection") || sandbox.HintOf(err) == "" {
		t.Errorf("%v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(gone, []string{"DOCKER_HOST=unix://" + socket}); sandbox.CodeOf(err) == sandbox.Unavailable {
		t.Errorf("when the caller gives up: %v", err)
	}
}
