package main

import "os"

import "golang.org/x/sys/unix"

// int80 makes system call nr by i386's trap.
func int80(nr int32) int32

// foreign asks for the process ID as an i386 program does (number 20), which a filter
// without an architecture check takes for x86-64's writev.
func foreign() {
	if int(int80(20)) != os.Getpid() {
		os.Exit(3)
	}
}

func archAttempts() []attempt {
	return []attempt{
		{"x32 getpid", raw(0x40000000 + unix.SYS_GETPID)},
		{"x32 ptrace", raw(0x40000000 + 521)},
		{"x32 ptrace without its bit", raw(521)},
	}
}
