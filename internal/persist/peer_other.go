//go:build !linux

package persist

import "net"

// isSameUser rejects every connection: persistent sandboxes need Linux.
func isSameUser(*net.UnixConn) bool { return false }
