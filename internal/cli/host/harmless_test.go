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
		status int
	}{
		{sandbox.DeniedFile, "/home/u/.config", true, 0},
		{sandbox.DeniedFile, "/home/u/.config", false, 1},
		{sandbox.DeniedFile, "/home/u/.config/x", false, 0},
		{sandbox.DeniedFile, "/home/u/p/.git/config.lock", true, 0},
		{sandbox.DeniedFile, "/home/u/p/.git/config.lock", false, 4},
		{sandbox.DeniedFile, "/home/u/.bash_history", true, 1},
		{sandbox.DeniedFile, "/home/u/.zsh_history.new", true, 1},
		{sandbox.DeniedFile, "/home/u/.viminfo.tmp", true, 1},
		{sandbox.DeniedFile, "/home/u/.bash_history_of_mine", false, 1},
		{sandbox.DeniedFile, "/home/u/.bashrc", false, 1},
		{sandbox.DeniedFile, "/home/u/.config/go/telemetry/local/x.count", true, 1},
		{sandbox.DeniedFile, "/home/u/.config/go/telemetry", true, 1},
		{sandbox.DeniedFile, "/home/u/.config/go/env", false, 1},
		{sandbox.DeniedHost, "telemetry.go.dev:443", true, 1},
		{sandbox.DeniedHost, "redirector.gvt1.com:443", true, 1},
		{sandbox.DeniedHost, "gvt1.com.example:443", false, 1},
		{sandbox.DeniedHost, "example.com:443", false, 1},
		{sandbox.DeniedSocket, "/home/u/.bash_history", false, 1},
	} {
		if got := host.IsHarmless(sandbox.Denial{Kind: row.kind, Target: row.target}, row.status); got != row.want {
			t.Errorf("%s %s (%d): %v, want %v", row.kind, row.target, row.status, got, row.want)
		}
	}
}
