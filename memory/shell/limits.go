package shell

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
)

// rlimits are the limits of ulimit. Only that of descriptors is held; the others are what the
// machine has anyway, and are remembered.
type rlimits struct {
	files      int // soft limit of -n; -1: that of the machine
	soft, hard map[byte]string
}

// ulimitTable lists the resources in bash's order.
var ulimitTable = []struct {
	c     byte
	text  string
	unit  string
	value string
}{
	{'R', "real-time non-blocking time", "microseconds, -R", "unlimited"},
	{'c', "core file size", "blocks, -c", "0"},
	{'d', "data seg size", "kbytes, -d", "unlimited"},
	{'e', "scheduling priority", "-e", "0"},
	{'f', "file size", "blocks, -f", "unlimited"},
	{'i', "pending signals", "-i", "1024"},
	{'l', "max locked memory", "kbytes, -l", "64"},
	{'m', "max memory size", "kbytes, -m", "unlimited"},
	{'n', "open files", "-n", "1024"},
	{'p', "pipe size", "512 bytes, -p", "8"},
	{'q', "POSIX message queues", "bytes, -q", "819200"},
	{'r', "real-time priority", "-r", "0"},
	{'s', "stack size", "kbytes, -s", "8192"},
	{'t', "cpu time", "seconds, -t", "unlimited"},
	{'u', "max user processes", "-u", "256"},
	{'v', "virtual memory", "kbytes, -v", "unlimited"},
	{'x', "file locks", "-x", "unlimited"},
}

func (sh *interp) ulimitValue(c byte, hard bool) string {
	if sh.rlimit != nil {
		values := sh.rlimit.soft
		if hard {
			values = sh.rlimit.hard
		}
		if v, ok := values[c]; ok {
			return v
		}
	}
	switch c {
	case 'n':
		return strconv.Itoa(sh.m.limits.Files)
	case 'u':
		return strconv.Itoa(sh.m.limits.Processes)
	}
	for _, r := range ulimitTable {
		if r.c == c {
			return r.value
		}
	}
	return ""
}

func (sh *interp) ulimit(args []string) int {
	list, rest, st := sh.flags2(args, "SHacdefiklmnpqrstuvxRTPb")
	if st >= 0 {
		return st
	}
	which := byte('f')
	soft, hard := false, false
	for _, f := range list {
		switch f.c {
		case 'S':
			soft = true
		case 'H':
			hard = true
		case 'a':
			return sh.ulimitAll(hard)
		default:
			which = f.c
		}
	}
	if sh.ulimitValue(which, false) == "" {
		return sh.fail("-%c: limit not supported here", which)
	}
	if len(rest) == 0 {
		return sh.outString(sh.ulimitValue(which, hard && !soft) + "\n")
	}
	if len(rest) > 1 {
		return sh.fail("too many arguments")
	}
	if !soft && !hard {
		soft, hard = true, true
	}
	return sh.setLimit(which, rest[0], soft, hard)
}

// setLimit sets a limit; only lowering the hard one is allowed, and the soft one stays below it.
func (sh *interp) setLimit(which byte, v string, soft, hard bool) int {
	name := ""
	for _, r := range ulimitTable {
		if r.c == which {
			name = r.text
		}
	}
	switch v {
	case "hard":
		v = sh.ulimitValue(which, true)
	case "soft":
		v = sh.ulimitValue(which, false)
	case "unlimited":
	default:
		if !isDigits(v) {
			return sh.fail("%s: invalid number", v)
		}
		if n, err := strconv.ParseInt(v, 10, 64); err != nil || n > math.MaxInt64/unitOf(which) {
			return sh.fail("%s: limit out of range", v)
		}
	}
	r := &rlimits{files: -1, soft: map[byte]string{}, hard: map[byte]string{}}
	if sh.rlimit != nil {
		r.files = sh.rlimit.files
		maps.Copy(r.soft, sh.rlimit.soft)
		maps.Copy(r.hard, sh.rlimit.hard)
	}
	max := sh.ulimitValue(which, true)
	switch {
	case hard && above(v, max):
		return sh.fail("%s: cannot modify limit: Operation not permitted", name)
	case soft && !hard && above(v, max), hard && !soft && above(sh.ulimitValue(which, false), v):
		return sh.fail("%s: cannot modify limit: Invalid argument", name)
	}
	if soft {
		r.soft[which] = v
	}
	if hard {
		r.hard[which] = v
	}
	if n, err := strconv.Atoi(v); which == 'n' && soft && err == nil {
		r.files = n
	}
	sh.rlimit = r
	return 0
}

// unitOf returns how many bytes the numbers of a limit stand for.
func unitOf(which byte) int64 {
	switch which {
	case 'c', 'f', 'p':
		return 512
	case 'd', 'l', 'm', 's', 'v':
		return 1024
	}
	return 1
}

// limitIn is a limit in the units of proc(5).
func (sh *interp) limitIn(c byte, hard bool) string {
	v := sh.ulimitValue(c, hard)
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n <= math.MaxInt64/unitOf(c) {
		return strconv.FormatInt(n*unitOf(c), 10)
	}
	return v
}

// above tells whether limit a is higher than b.
func above(a, b string) bool {
	if b == "unlimited" || a == b {
		return false
	}
	m, err1 := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.ParseInt(b, 10, 64)
	return err1 != nil || err2 == nil && m > n
}

func (sh *interp) ulimitAll(hard bool) int {
	var b strings.Builder
	for _, r := range ulimitTable {
		fmt.Fprintf(&b, "%-20s %20s %s\n", r.text, "("+r.unit+")", sh.ulimitValue(r.c, hard))
	}
	return sh.outString(b.String())
}

// times shows what the shell and its children took; there is one clock here, for the shell.
func (sh *interp) times([]string) int {
	took := sh.m.now().Unix() - sh.start
	return sh.outString(fmt.Sprintf("%dm%d.000s 0m0.000s\n0m0.000s 0m0.000s\n", took/60, took%60))
}
