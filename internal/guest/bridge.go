package guest

import (
	"io"
	"net"
	"os"
	"strings"
)

// bridgeCommand is the argument of [Program] with which it carries its standard input and output to where somebody listens
// inside, such as a service of the host's (sandbox.Listener): for programs that speak over a child's standard streams.
const bridgeCommand = "bridge"

// Bridge is the command line that makes a child of a program inside the service that listens on address.
func Bridge(address string) []string { return []string{Program, bridgeCommand, address} }

// bridge ends when the other end does; the end of input is passed on.
func (p process) bridge(args []string) int {
	if len(args) != 1 {
		return p.usage()
	}
	network, address := "tcp", args[0]
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	conn, err := net.Dial(network, address) //nolint:noctx // the process ends with it
	if err != nil {
		return p.fail(exitRefused, "bridge: "+err.Error(), "the service ends with the program that listens for it")
	}
	defer conn.Close()
	go func() { // ends with the process: nothing stops a read of standard input
		_, _ = io.Copy(conn, os.Stdin)
		if w, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = w.CloseWrite()
		}
	}()
	if _, err := io.Copy(os.Stdout, conn); err != nil {
		return p.fail(exitRefused, "bridge: "+err.Error())
	}
	return 0
}
