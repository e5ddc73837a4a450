//go:build !race

package coreutils

// Raced: see raced_test.go.
const Raced = false
