package shell

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

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
		return sh.outString(symbolicMask(sh.umask) + "\n")
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
		if err != nil || n > 0o7777 {
			return sh.fail("%s: octal number out of range", s)
		}
		sh.umask = fs.FileMode(n & 0o777)
		return 0
	}
	mode := ^sh.umask & 0o777
	for {
		clause, rest, more := strings.Cut(s, ",")
		bits, ok := sh.maskClause(mode, clause)
		if !ok {
			return 1
		}
		mode = bits
		if !more {
			break
		}
		s = rest
	}
	sh.umask = ^mode & 0o777
	return 0
}

// maskClause applies a clause such as u+rw to the permissions that are left.
func (sh *interp) maskClause(mode fs.FileMode, s string) (fs.FileMode, bool) {
	classes := map[byte]fs.FileMode{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}
	kinds := map[byte]fs.FileMode{'r': 0o444, 'w': 0o222, 'x': 0o111}
	i, who, perm := 0, fs.FileMode(0), fs.FileMode(0)
	for ; classes[charAt(s, i)] != 0; i++ {
		who |= classes[s[i]]
	}
	op := charAt(s, i)
	if op != '+' && op != '-' && op != '=' {
		sh.fail("`%c': invalid symbolic mode operator", op)
		return 0, false
	}
	for i++; kinds[charAt(s, i)] != 0; i++ {
		perm |= kinds[s[i]]
	}
	if i < len(s) {
		sh.fail("`%c': invalid symbolic mode character", s[i])
		return 0, false
	}
	if who == 0 {
		who = 0o777
	}
	perm &= who
	switch op {
	case '+':
		return mode | perm, true
	case '-':
		return mode &^ perm, true
	}
	return mode&^who | perm, true
}

// charAt returns the byte at i, 0 behind the end.
func charAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}
