//go:build race

package deadline

const raceFactor = 4
