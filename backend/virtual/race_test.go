//go:build race

package virtual_test

// raced reports whether this is the run under the race detector, whose memory counts as the process's own.
const raced = true
