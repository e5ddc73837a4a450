// Package require skips a test on a host that lacks what the test needs, with the reason and the command that provides it. Where
// SANDBOX_REQUIRE names what is missing, the test fails instead.
package require

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// Driver skips the test if the host cannot run sandboxes of d.
func Driver(t testing.TB, d sandbox.Driver) {
	t.Helper()
	if err := sandboxtest.Available(t.Context(), d); err != nil {
		stop(t, d.Name(), err.Error())
	}
}

// Command skips the test if PATH has no command of that name, and returns its path otherwise. group is the word of
// SANDBOX_REQUIRE with which its absence is a failure; empty: none.
func Command(t testing.TB, name, group string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		stop(t, group, name+" is not installed; fix: build/scripts/install.sh test")
	}
	return path
}

func stop(t testing.TB, group, reason string) {
	t.Helper()
	if group != "" && slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), group) {
		t.Fatalf("required, and not available: %s", reason)
	}
	t.Skipf("not available: %s", reason)
}
