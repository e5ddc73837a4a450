package shell

import (
	"fmt"
	"io/fs"
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
		if n, err := strconv.ParseInt(v, 10, 64); err != nil || n > math.MaxInt64/1024 {
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

// umaskBuiltin shows or sets the mask.
func (sh *interp) umaskBuiltin(args []string) int {
	list, rest, st := sh.flags2(args, "pS")
	if st >= 0 {
		return st
	}
	symbolic, reusable := false, false
	for _, f := range list {
		symbolic = symbolic || f.c == 'S'
		reusable = reusable || f.c == 'p'
	}
	if len(rest) > 0 {
		if st := sh.setUmask(rest[0]); st != 0 || !symbolic {
			return st
		}
	}
	text := fmt.Sprintf("%04o", uint32(sh.umask))
	if symbolic {
		text = symbolicMask(sh.umask)
	}
	if reusable {
		text = map[bool]string{false: "umask ", true: "umask -S "}[symbolic] + text
	}
	return sh.outString(text + "\n")
}

func symbolicMask(m fs.FileMode) string {
	var parts []string
	for i, who := range []string{"u", "g", "o"} {
		bits := ^m >> (6 - 3*i) & 7
		var s strings.Builder
		s.WriteString(who + "=")
		for j, c := range "rwx" {
			if bits&(4>>j) != 0 {
				s.WriteString(string(c))
			}
		}
		parts = append(parts, s.String())
	}
	return strings.Join(parts, ",")
}

func (sh *interp) setUmask(s string) int {
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		n, err := strconv.ParseUint(s, 8, 32)
		if err != nil || n > 0o777 {
			return sh.fail("%s: octal number out of range", s)
		}
		sh.umask = fs.FileMode(n)
		return 0
	}
	mode := ^sh.umask & 0o777
	for clause := range strings.SplitSeq(s, ",") {
		var ok bool
		if mode, ok = sh.maskClause(mode, clause); !ok {
			return 1
		}
	}
	sh.umask = ^mode & 0o777
	return 0
}

// maskClause applies a clause such as u+rw to the permissions that are left.
func (sh *interp) maskClause(mode fs.FileMode, s string) (fs.FileMode, bool) {
	i, who := 0, fs.FileMode(0)
	for ; i < len(s); i++ {
		switch s[i] {
		case 'u':
			who |= 0o700
		case 'g':
			who |= 0o070
		case 'o':
			who |= 0o007
		case 'a':
			who |= 0o777
		default:
			goto ops
		}
	}
ops:
	if who == 0 {
		who = 0o777
	}
	if i == len(s) {
		sh.fail("`%c': invalid symbolic mode operator", charAt(s, i))
		return 0, false
	}
	for i < len(s) {
		op := s[i]
		if op != '+' && op != '-' && op != '=' {
			sh.fail("`%c': invalid symbolic mode operator", op)
			return 0, false
		}
		i++
		perm := fs.FileMode(0)
	perms:
		for ; i < len(s); i++ {
			switch s[i] {
			case 'r':
				perm |= 0o444
			case 'w':
				perm |= 0o222
			case 'x':
				perm |= 0o111
			case 'X':
				if mode&0o111 != 0 {
					perm |= 0o111
				}
			case 's', 't':
			case 'u':
				perm |= spread(mode >> 6 & 7)
			case 'g':
				perm |= spread(mode >> 3 & 7)
			case 'o':
				perm |= spread(mode & 7)
			case '+', '-', '=':
				break perms
			default:
				sh.fail("`%c': invalid symbolic mode character", s[i])
				return 0, false
			}
		}
		switch op {
		case '+':
			mode |= perm & who
		case '-':
			mode &^= perm & who
		case '=':
			mode = mode&^who | perm&who
		}
	}
	return mode, true
}

// spread gives all three classes the bits of one.
func spread(bits fs.FileMode) fs.FileMode { return bits<<6 | bits<<3 | bits }

func charAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// times shows what the shell and its children took; there is one clock here, for the shell.
func (sh *interp) times([]string) int {
	took := sh.m.now().Unix() - sh.start
	return sh.outString(fmt.Sprintf("%dm%d.000s 0m0.000s\n0m0.000s 0m0.000s\n", took/60, took%60))
}
