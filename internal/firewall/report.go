package firewall

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Report lists the addresses that a firewall opens. It can be stored as JSON and passed to [Update].
type Report struct {
	Hosts    []Host         `json:"hosts,omitempty"`
	Ranges   []netip.Prefix `json:"ranges,omitempty"`   // GitHub's, merged
	Warnings []string       `json:"warnings,omitempty"` // one line each, for people
	// IPv6 is false when all of it is closed.
	IPv6 bool `json:"ipv6"`
	// Frames says that frames which do not come through the kernel's IP (AF_PACKET) are
	// filtered too; kernels before 5.16 cannot.
	Frames bool `json:"frames"`
	// Probes are the attempts that were made from inside and refused.
	Probes int `json:"probes"`
}

// Host is one name of the rules and where it leads.
type Host struct {
	Name  string       `json:"name"`
	Addrs []netip.Addr `json:"addrs,omitempty"`
	// Old are addresses that the name had before, still open for connections that use
	// them, until the time.
	Old []Old `json:"old,omitempty"`
}

// Old is an address that a name had.
type Old struct {
	Addr  netip.Addr `json:"addr"`
	Until time.Time  `json:"until"`
}

// HostsFile returns lines for the /etc/hosts of the container, in which no name can be
// asked for; "" when there is none.
func (r *Report) HostsFile() string {
	var b strings.Builder
	for _, h := range r.Hosts {
		for _, a := range h.Addrs {
			if a.Is4() || r.IPv6 {
				fmt.Fprintf(&b, "%s\t%s\n", a, h.Name)
			}
		}
	}
	return b.String()
}

func (r *Report) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// host returns the entry of a name, or the zero Host.
func (r *Report) host(name string) Host {
	for _, h := range r.Hosts {
		if h.Name == name {
			return h
		}
	}
	return Host{Name: name}
}
