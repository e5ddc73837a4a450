// Package gateway is the way out of one sandbox: a plan's network as a proxy on the
// host, its secrets as placeholders, and its published ports. A driver connects the
// two sides: it hands the listener over that the sandbox reaches the proxy at, and a
// way to dial ports inside.
package proxy
