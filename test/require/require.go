// Package require skips a test on a host that lacks a requirement of the test, with the reason and the command that installs it.
// If SANDBOX_REQUIRE names the requirement, the test fails instead.
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
func Driver(tb testing.TB, d sandbox.Driver) {
	tb.Helper()
	if err := sandboxtest.Available(tb.Context(), d); err != nil {
		stop(tb, d.Name(), err.Error())
	}
}

// Command skips the test if PATH has no command of that name, and returns its path otherwise. group is the word in
// SANDBOX_REQUIRE that makes its absence a failure; "": none.
func Command(tb testing.TB, name, group string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		stop(tb, group, name+" is not installed; fix: build/scripts/install.sh test")
	}
	return path
}

func stop(tb testing.TB, group, reason string) {
	tb.Helper()
	if group != "" && slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), group) {
		tb.Fatalf("required, and not available: %s", reason)
	}
	tb.Skipf("not available: %s", reason)
}
