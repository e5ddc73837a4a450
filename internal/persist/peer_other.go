//go:build !linux

package persist

import (
	"net"
	"os"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// isSameUser rejects every connection: persistent sandboxes need Linux.
func isSameUser(*net.UnixConn) bool { return false }

func peerPID(net.Conn) int { return 0 }

func isSuspended(int) bool { return false }

func killHolders(*os.File) error {
	return sandbox.Errorf(sandbox.Unsupported, "persistent sandboxes need Linux")
}
