// Package proxy provides the gateway of one sandbox. It enforces a plan's network rules
// in a proxy on the host, replaces secrets by placeholders, and serves published ports. A
// driver provides the listener on which the sandbox reaches the proxy, and a function
// that dials ports inside.
package proxy
