// Package firewall gives a container routes and a packet filter that lets it reach the
// addresses of a list. The default instead is the allow-list of the proxy, which needs
// no route and sees names.
//
// [Apply] puts the filter into a container's network namespace from outside, so the
// container has no NET_ADMIN and cannot remove it. It closes everything, asks for
// the addresses, opens those in one transaction, and then proves from inside that what
// is closed is closed; a filter that is not proven is an error, and everything stays
// closed. [Update] asks again and exchanges the addresses in one transaction, because
// names move.
//
// # What it enforces
//
// Outgoing TCP to listed addresses and ports; nothing else leaves, established before
// or not: no UDP, no ICMP, no IPv6 unless an IPv6 address is listed and the namespace
// has one. Nothing comes in but answers. DNS is closed, the engine's own resolver
// (127.0.0.11) too, because names are a channel: the names of the list stand in
// [Report.HostsFile].
//
// # What it cannot see
//
// It knows addresses. Other hosts with the address of a listed name, as at a CDN, can
// be reached. Frames that a process makes itself (AF_PACKET) are filtered by a second
// table where the kernel can ([Report.Frames]), ARP apart; so the container must not
// hold NET_RAW either.
package firewall
