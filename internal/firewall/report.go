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
	// IPv6 is false if all IPv6 addresses are closed.
	IPv6 bool `json:"ipv6"`
	// Frames is true if the filter also covers frames that bypass the kernel's IP (AF_PACKET);
	// kernels before 5.16 cannot filter them.
	Frames bool `json:"frames"`
	// Probes is the number of attempts from inside that the filter refused.
	Probes int `json:"probes"`
}

// Host is one name of the rules and its addresses.
type Host struct {
	Name  string       `json:"name"`
	Addrs []netip.Addr `json:"addrs,omitempty"`
	// Old are earlier addresses of the name. They stay open for existing connections until their
	// time.
	Old []Old `json:"old,omitempty"`
}

// Old is an address that a name had.
type Old struct {
	Addr  netip.Addr `json:"addr"`
	Until time.Time  `json:"until"`
}

// HostsFile returns lines for /etc/hosts of the container, which cannot resolve names; "" if the
// report has no names.
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
