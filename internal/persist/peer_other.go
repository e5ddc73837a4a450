//go:build !linux

package persist

import "net"

// sameUser knows nobody: kept sandboxes need Linux.
func sameUser(*net.UnixConn) bool { return false }
