// Package proxy provides the gateway of one sandbox: a plan's network as a proxy on the
// host, its secrets as placeholders, and its published ports. A driver connects the
// two sides: it passes the listener through which the sandbox reaches the proxy, and a
// function that dials ports inside.
package proxy
