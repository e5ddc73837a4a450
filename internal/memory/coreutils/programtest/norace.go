//go:build !race

package programtest

// raced reports whether this is the run under the race detector.
const raced = false
