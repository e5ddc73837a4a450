// Package signal names the signals of Linux: the machine in memory is one, wherever it runs.
package signal

import (
	"fmt"
	"strconv"
	"strings"
)

// names are the names of signals by number.
var names = [...]string{
	"EXIT", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
	"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
}

// Numbers of signals.
const (
	HUP       = 1
	INT       = 2
	QUIT      = 3
	KILL      = 9
	PIPE      = 13
	TERM      = 15
	CHLD      = 17
	CONT      = 18
	STOP      = 19
	TSTP      = 20
	TTIN      = 21
	TTOU      = 22
	URG       = 23
	WINCH     = 28
	RTMIN     = 34
	RTMAX     = 64 // the highest of all
	lastKnown = 31
)

// Name returns "TERM" for 15, "" for a number without a signal.
func Name(n int) string {
	switch {
	case n >= 0 && n <= lastKnown:
		return names[n]
	case n == RTMIN:
		return "RTMIN"
	case n == RTMAX:
		return "RTMAX"
	case n > RTMIN && n <= RTMIN+15:
		return "RTMIN+" + strconv.Itoa(n-RTMIN)
	case n > RTMIN && n < RTMAX:
		return "RTMAX-" + strconv.Itoa(RTMAX-n)
	}
	return ""
}

// Number returns the number of "TERM", "SIGTERM", "term" and "15", -1 for others.
func Number(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		if n >= 0 && n <= RTMAX && Name(n) != "" {
			return n
		}
		return -1
	}
	s = strings.TrimPrefix(strings.ToUpper(s), "SIG")
	for n := 0; n <= RTMAX; n++ {
		if name := Name(n); name != "" && name == s {
			return n
		}
	}
	switch s {
	case "POLL":
		return 29
	case "IOT":
		return 6
	case "CLD":
		return CHLD
	}
	return -1
}

// Text returns bash's message about a process that a signal ended, "" for rare signals.
func Text(n int) string { return texts[n] }

var texts = map[int]string{
	HUP: "Hangup", INT: "Interrupt", QUIT: "Quit", 4: "Illegal instruction", 5: "Trace/breakpoint trap",
	6: "Aborted", 7: "Bus error", 8: "Floating point exception", KILL: "Killed", 10: "User defined signal 1",
	11: "Segmentation fault", 12: "User defined signal 2", PIPE: "Broken pipe", 14: "Alarm clock", TERM: "Terminated",
}

// Table returns the list that kill -l and trap -l print.
func Table() string {
	var b strings.Builder
	col := 0
	for n := 1; n <= RTMAX; n++ {
		name := Name(n)
		if name == "" {
			continue
		}
		cell := fmt.Sprintf("%2d) SIG%s", n, name)
		if col++; col == 5 {
			b.WriteString(cell + "\n")
			col = 0
			continue
		}
		b.WriteString(cell + "\t")
	}
	if col > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}
