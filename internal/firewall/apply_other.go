//go:build !linux

package firewall

import (
	"context"
	"os"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Apply is Unavailable: only Linux has network namespaces.
func Apply(context.Context, *os.File, Rules) (Report, error) { return Report{}, Check() }

// Update is Unavailable.
func Update(context.Context, *os.File, Rules, Report) (Report, error) { return Report{}, Check() }

// Close is Unavailable.
func Close(*os.File) error { return Check() }

// Check is Unavailable.
func Check() error {
	return sandbox.Errorf(sandbox.Unavailable, "firewall: this system has no network namespaces").
		WithHint("use the allow-list (--allow HOST)")
}
