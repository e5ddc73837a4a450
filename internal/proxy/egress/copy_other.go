//go:build !linux

package egress

import "net"

func moverOf(dst, src net.Conn) mover { return &bufferedMover{dst: dst, src: src} }
