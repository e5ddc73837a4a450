//go:build linux

// Package persistent_test kills processes of persistent sandboxes at random moments, and checks what remains:
// processes, containers, mounts, sockets, files.
package persistent_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// command is the path of the program under test.
var command string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "agent-sandbox-persistent-")
		if err == nil {
			defer func() { _ = os.RemoveAll(dir) }()
			err = programs.Install(context.Background(), dir, programs.Command, programs.CommandInMemory, programs.CommandWithPods, programs.CommandWithAgent)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		command = filepath.Join(dir, programs.Command)
		return m.Run()
	}())
}

// rounds returns the number of kills: AGENT_SANDBOX_KILLS, or fewer for CI.
func rounds(t *testing.T, fewer int) int {
	t.Helper()
	text := os.Getenv("AGENT_SANDBOX_KILLS")
	if text == "" {
		return fewer
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("AGENT_SANDBOX_KILLS=%s is not a number of rounds", text)
	}
	return n
}

// chance returns the source of random numbers, and logs the seed; AGENT_SANDBOX_SEED repeats a run.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("AGENT_SANDBOX_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("AGENT_SANDBOX_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it is to be seen again
}

// moment waits for a random time up to most.
func moment(r *rand.Rand, most time.Duration) {
	<-time.After(time.Duration(r.Int64N(int64(most))))
}

// unavailable skips the test, or fails it if SANDBOX_REQUIRE names the backend.
func unavailable(t *testing.T, backend, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), backend) {
		t.Fatalf("%s is required: %s", backend, why)
	}
	t.Skipf("%s is not available: %s", backend, why)
}
