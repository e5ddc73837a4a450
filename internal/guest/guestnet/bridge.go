package guestnet

import (
	"io"
	"net"
	"os"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// BridgeCommand is the guest's operation that connects its standard input and output with a listener inside the sandbox, such
// as a service of the host (sandbox.Listener), for programs that speak over a child's standard streams.
const BridgeCommand = "bridge"

// BridgeArgs returns the command line of a process inside whose standard streams are a connection to address.
func BridgeArgs(address string) []string { return []string{layout.Program, BridgeCommand, address} }

// Bridge copies between the standard streams and the address in args until the other end closes. It passes on the end of input.
func Bridge(p process.Process, args []string) int {
	if len(args) != 1 {
		return p.Usage()
	}
	network, address := "tcp", args[0]
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	conn, err := net.Dial(network, address) //nolint:noctx // the process ends with it
	if err != nil {
		return p.Fail(process.ExitRefused, "bridge: "+err.Error(), "the service ends with the program that listens for it")
	}
	defer conn.Close()
	go func() { // ends with the process: nothing stops a read of standard input
		_, _ = io.Copy(conn, os.Stdin)
		if w, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = w.CloseWrite()
		}
	}()
	if _, err := io.Copy(os.Stdout, conn); err != nil {
		return p.Fail(process.ExitRefused, "bridge: "+err.Error())
	}
	return 0
}
