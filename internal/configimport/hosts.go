package configimport

import (
	"net/netip"
	"strconv"
	"strings"
)

const anyPort = "there an entry without a port means every port and also names with private addresses; here it means ports 80 and 443 and public addresses"

const nearestDeny = "network.deny"

// domains adds the entries of the lists of domains. any is true if "*" and "*.com" allow
// every host in the tool; the other tools refuse them.
func (d *draft) domains(allow, deny []item, any bool) {
	narrowed := false
	for _, it := range allow {
		rule, why := translateHost(it.value)
		switch {
		case why != "":
			d.say(it.lack(Grant, why, "network.allow"))
			continue
		case isLocal(rule):
			d.say(it.lack(Grant, "a name cannot stand for the host's loopback", `network.allow with an address and port, such as "127.0.0.1:3000"`))
			continue
		case isWide(rule) && !any:
			d.say(it.lack(Grant, "it matches any host; "+string(d.tool)+" refuses it, too", `network.allow with "any": true`))
			continue
		}
		d.any = d.any || isWide(rule)
		if _, port := splitHostPort(rule); port == "" && !narrowed {
			narrowed = true
			d.say(it.lack(Stricter, anyPort, "network.allow with HOST:PORT; network.private_hosts"))
		}
		d.allow = append(d.allow, item{rule, it.from})
	}
	for _, it := range deny {
		rule, why := translateHost(it.value)
		if why != "" {
			d.denied(it, why)
			continue
		}
		d.deny = append(d.deny, item{rule, it.from})
	}
}

// denied reports a restriction of the network that cannot be expressed. Import drops it
// if no host is allowed.
func (d *draft) denied(it item, why string) {
	d.say(it.lack(Restriction, why, nearestDeny))
}

// translateHost translates "example.com", "*.example.com", "[::1]:443" and the like into a rule
// of package egress, or returns why it cannot.
func translateHost(written string) (rule, why string) {
	if len(written) > 300 {
		return "", "it is too long for a host"
	}
	host, port := splitHostPort(strings.ToLower(written))
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '0' {
			return "", "the port is not a number from 1 to 65535"
		}
		port = ":" + port
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || !strings.HasSuffix(host, "]") {
			return "", "it is not an IPv6 address"
		}
		if addr.Is4In6() {
			return addr.Unmap().String() + port, ""
		}
		return "[" + addr.String() + "]" + port, ""
	}
	name := strings.TrimPrefix(host, "*.")
	if host == "*" {
		return host + port, ""
	}
	if why := checkName(name); why != "" {
		return "", why
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last[0] >= '0' && last[0] <= '9' {
		addr, err := netip.ParseAddr(name)
		if err != nil || name != host {
			return "", "it is neither a name nor an address in its usual form"
		}
		return addr.String() + port, ""
	}
	return host + port, ""
}

// checkName returns why s is not a host name in ASCII, or "".
func checkName(s string) string {
	if len(s) > 253 {
		return "it is too long for a host"
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "it is not a host name"
		}
		if strings.HasPrefix(label, "xn--") && len(label) == len("xn--") {
			return "it is not a host name"
		}
	}
	for _, r := range s {
		switch {
		case r > 0x7f:
			return "an international name has to be written in its xn-- form"
		case r == '*':
			return "* may only stand for all subdomains, at the start"
		case (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_':
			return "it is not a host name"
		}
	}
	return ""
}

// splitHostPort splits "host:port" and "[addr]:port"; the port is empty when there is none.
func splitHostPort(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") || (strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[")) {
		return s, ""
	}
	return s[:i], s[i+1:]
}

// isWide reports whether a rule needs "any": true.
func isWide(rule string) bool {
	host, _ := splitHostPort(rule)
	name, wild := strings.CutPrefix(host, "*.")
	return host == "*" || wild && !strings.Contains(name, ".")
}

func isLocal(rule string) bool {
	host, _ := splitHostPort(rule)
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// proxy sets the upstream proxy. It reports an unsupported URL as a restriction, because
// that proxy may filter.
func (d *draft) proxy(it *item, url string) {
	if it == nil {
		return
	}
	if !canDecode("network", map[string]any{"upstream": url}) {
		d.say(it.lack(Restriction, "only an upstream proxy of the form http://HOST:PORT is supported", "network.upstream"))
		return
	}
	d.upstream = &item{url, it.from}
}
