package proxy

import (
	"net"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
)

// denialTarget returns the target of an event for a denial.
func denialTarget(e egress.Event) string {
	switch {
	case e.Host == "":
		return "a malformed request"
	case e.Port == 0:
		return e.Host
	}
	return net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
}
