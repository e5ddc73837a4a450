// Package protocol holds what the host of hooks and a worker share: the frames between them, the script's calls of
// the host, faults and limits. It links neither the JavaScript interpreter nor the compiler.
package protocol
