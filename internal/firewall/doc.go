// Package firewall gives a container routes and a packet filter that lets it reach the
// addresses of a list. The default is another mechanism: the allow-list of the proxy,
// which needs no route and sees names.
//
// [Apply] puts the filter into a container's network namespace from outside, so the
// container has no NET_ADMIN and cannot remove it. It closes everything, resolves the
// names, opens their addresses in one transaction, and then verifies from inside that all
// other addresses are closed. If the verification fails, Apply returns an error and
// everything stays closed. [Update] resolves the names again and replaces the addresses
// in one transaction, because the addresses of a name change.
//
// # What it enforces
//
// Only TCP to listed addresses and ports leaves, also on connections that were
// established before: no UDP, no ICMP, no IPv6 unless an IPv6 address is listed and the
// namespace has one. Only answers come in. DNS is closed, and so is the engine's own
// resolver (127.0.0.11), because queries can carry data: [Report.HostsFile] has the names
// of the list.
//
// # What it cannot see
//
// It compares addresses. Other hosts with the address of a listed name, as at a CDN, can
// be reached. A second table filters frames that a process makes itself (AF_PACKET),
// except ARP, if the kernel supports it ([Report.Frames]). So the container must not hold
// NET_RAW.
package firewall
