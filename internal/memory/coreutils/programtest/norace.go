//go:build !race

package programtest

// Raced: see race.go.
const Raced = false
