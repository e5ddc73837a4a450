//go:build race

package programtest

const raced = true
