//go:build linux

package escape_test

import "golang.org/x/sys/unix"

const creatCall = unix.SYS_CREAT
