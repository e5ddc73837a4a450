// Package tcpserver runs TCP servers for tests.
package tcpserver

import (
	"net"
	"sync"
	"testing"
)

// Start listens at a free port of 127.0.0.1 and calls serve for each connection, which it closes afterwards. At the end of
// the test it closes the listener and waits for all calls.
func Start(tb testing.TB, serve func(*net.TCPConn)) net.Listener {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				serve(c.(*net.TCPConn)) //nolint:forcetypeassert // the network is tcp
			})
		}
	})
	tb.Cleanup(func() { _ = l.Close(); all.Wait() })
	return l
}
