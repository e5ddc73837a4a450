package program

import (
	"strconv"
	"strings"
	"syscall"
)

// SignalNames are the names of Linux's signals, from 1.
var SignalNames = []string{
	"HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
	"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL",
	"PWR", "SYS",
}

// SignalNumber returns the signal of a number or a name, with or without SIG, in any case.
func SignalNumber(s string) (syscall.Signal, bool) {
	if n, err := strconv.ParseUint(s, 10, 8); err == nil {
		return syscall.Signal(n), n <= 64
	}
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	for i, known := range SignalNames {
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
