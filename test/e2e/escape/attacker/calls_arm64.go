//go:build linux

package attacker

// CreatCall is a number that the kernel itself refuses: arm64 has no creat(2).
const CreatCall = 1 << 20
