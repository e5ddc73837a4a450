package curl

import (
	"context"
	"crypto/x509"
	"net"
)

// Way is the path on which requests leave the machine.
type Way struct {
	// Dial connects to a host and port; when Proxied, to the HTTP proxy; it ignores host and port. A
	// *net.DNSError means that the host does not exist. It must end when ctx does. Required.
	Dial func(ctx context.Context, host string, port uint16) (net.Conn, error)

	// Proxied says that connections lead to an HTTP proxy: plain requests are made there in
	// absolute form, and all others through CONNECT.
	Proxied bool

	// Roots returns the certificate authorities that TLS trusts, when it is first needed; nil: the system's authorities.
	Roots func() (*x509.CertPool, error)
}
