//go:build race

package programtest

// Raced reports whether this is the run under the race detector: rows run here alone, because what the real programs do is no
// different in it, and takes most of the time. They are compared in the run without.
const Raced = true
