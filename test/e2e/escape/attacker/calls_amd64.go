//go:build linux

package attacker

import "golang.org/x/sys/unix"

// CreatCall is the number of creat(2).
const CreatCall = unix.SYS_CREAT
