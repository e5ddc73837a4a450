package coreutils

import (
	"strconv"
	"strings"
	"syscall"
)

// signalNames are the names of Linux's signals, from 1.
var signalNames = []string{
	"HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
	"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL",
	"PWR", "SYS",
}

// signalNumber returns the signal of a number or a name, with or without SIG, in any case.
func signalNumber(s string) (syscall.Signal, bool) {
	if n, err := strconv.ParseUint(s, 10, 8); err == nil {
		return syscall.Signal(n), n <= 64
	}
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	for i, known := range signalNames {
		if known == name {
			return syscall.Signal(i + 1), true
		}
	}
	switch name {
	case "EXIT":
		return 0, true
	case "IOT":
		return syscall.SIGABRT, true
	case "IO":
		return syscall.SIGIO, true
	case "CLD":
		return syscall.SIGCHLD, true
	}
	return 0, false
}
