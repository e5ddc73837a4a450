package host_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Denials_That_Programs_Expect_Are_Harmless(t *testing.T) {
	for _, row := range []struct {
		kind   sandbox.DenialKind
		target string
		want   bool
	}{
		{sandbox.DeniedFile, "/home/u/.bash_history", true},
		{sandbox.DeniedFile, "/home/u/.zsh_history.new", true},
		{sandbox.DeniedFile, "/home/u/.viminfo.tmp", true},
		{sandbox.DeniedFile, "/home/u/.bash_history_of_mine", false},
		{sandbox.DeniedFile, "/home/u/.bashrc", false},
		{sandbox.DeniedFile, "/home/u/.config/go/telemetry/local/x.count", true},
		{sandbox.DeniedFile, "/home/u/.config/go/telemetry", true},
		{sandbox.DeniedFile, "/home/u/.config/go/env", false},
		{sandbox.DeniedHost, "telemetry.go.dev:443", true},
		{sandbox.DeniedHost, "redirector.gvt1.com:443", true},
		{sandbox.DeniedHost, "gvt1.com.example:443", false},
		{sandbox.DeniedHost, "example.com:443", false},
		{sandbox.DeniedSocket, "/home/u/.bash_history", false},
	} {
		if got := host.IsHarmless(sandbox.Denial{Kind: row.kind, Target: row.target}); got != row.want {
			t.Errorf("%s %s: %v, want %v", row.kind, row.target, got, row.want)
		}
	}
}
