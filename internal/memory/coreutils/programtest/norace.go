//go:build !race

package programtest

// Raced reports whether this is the run under the race detector.
const Raced = false
