// Package guestnet connects a sandbox's loopback with the host: the socket of the proxy, published ports, and the operations
// connect and bridge. [ProxyLink] and [PortLink] are the host's ends; the host checks every descriptor that they receive.
package guestnet

import "github.com/seed434b0696/agent-sandbox/sandbox"

// ProxyPort is the TCP port, and ProxyAddr the address, of the sandbox's proxy inside. The proxy variables of commands
// contain it.
const (
	ProxyPort = 3128
	ProxyAddr = "127.0.0.1:3128"
)

// ExitNetwork is the exit status if the guest cannot prepare the network. It means that the sandbox failed.
const ExitNetwork = sandbox.ExitFailed

// The protocol of the connections that "init" inherits. Their sockets have the type SOCK_SEQPACKET, so that one
// receive returns one message.
//
//	--net    the guest sends handOver with the listening socket; the host answers confirmed
//	         once it serves the proxy there; then the guest executes the command.
//	--ports  the host sends a port, two bytes in network order, with a socket to answer on;
//	         the guest answers there with an errno, two bytes in network order, and when
//	         that is 0 with a socket that is connected to the port.
const (
	handOver  = 'l'
	confirmed = 's'
)
