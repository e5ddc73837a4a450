package cli

import (
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/guest"
	"github.com/seed434b0696/agent-sandbox/internal/guest/program"
)

// actAsGuest runs the guest when this binary was mounted as one: a build without
// the small helper serves as its own. Outside of a sandbox it only mounts
// staged views, since the guest starts its programs without this step.
func actAsGuest(args, env []string) (code int, ok bool) {
	program.ActAsGuest()
	if !guest.IsStageCall(args) && (!host.IsInside() || !guest.IsGuestCall(args)) {
		return 0, false
	}
	return guest.Main(args, env), true
}
