//go:build linux

package escape_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// isRequired reports whether SANDBOX_REQUIRE contains a word.
func isRequired(word string) bool {
	return slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), word)
}

// requireBwrap skips the test if bubblewrap cannot start a sandbox, and fails it if that is required.
func requireBwrap(t *testing.T) {
	t.Helper()
	if err := sandboxtest.Available(t.Context(), bwrap.New(bwrap.Options{})); err != nil {
		if isRequired("bwrap") {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
}
