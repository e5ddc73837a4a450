//go:build !linux

package persist

import "net"

// sameUser rejects every connection: persistent sandboxes need Linux.
func sameUser(*net.UnixConn) bool { return false }
