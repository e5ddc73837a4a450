// Package protocol has what the host of hooks and a worker share: the frames between them, the calls that a script makes of
// the host, faults, limits and bounds. It links neither the JavaScript interpreter nor the compiler.
package protocol
