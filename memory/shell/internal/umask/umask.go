// Package umask reads and prints masks of permissions as the umask builtin does.
package umask

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Symbolic returns the permissions that the mask leaves, such as "u=rwx,g=rx,o=rx".
func Symbolic(mask fs.FileMode) string {
	var parts []string
	for i, class := range []string{"u", "g", "o"} {
		bits := ^mask >> (6 - 3*i) & 7
		var s strings.Builder
		s.WriteString(class + "=")
		for j, c := range "rwx" {
			if bits&(4>>j) != 0 {
				s.WriteString(string(c))
			}
		}
		parts = append(parts, s.String())
	}
	return strings.Join(parts, ",")
}

// Parse returns the mask that s means: an octal number, or clauses such as "g-w" that change the permissions that old
// leaves. The errors have bash's texts.
func Parse(s string, old fs.FileMode) (fs.FileMode, error) {
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		n, err := strconv.ParseUint(s, 8, 32)
		if err != nil || n > 0o7777 {
			return 0, fmt.Errorf("%s: octal number out of range", s)
		}
		return fs.FileMode(n & 0o777), nil
	}
	mode := ^old & 0o777
	for clause := range strings.SplitSeq(s, ",") {
		var err error
		if mode, err = applyClause(mode, clause); err != nil {
			return 0, err
		}
	}
	return ^mode & 0o777, nil
}

// applyClause applies a clause such as u+rw to permissions.
func applyClause(mode fs.FileMode, s string) (fs.FileMode, error) {
	classes := map[byte]fs.FileMode{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}
	kinds := map[byte]fs.FileMode{'r': 0o444, 'w': 0o222, 'x': 0o111}
	i, class, perm := 0, fs.FileMode(0), fs.FileMode(0)
	for ; classes[byteAt(s, i)] != 0; i++ {
		class |= classes[s[i]]
	}
	op := byteAt(s, i)
	if op != '+' && op != '-' && op != '=' {
		return 0, fmt.Errorf("`%c': invalid symbolic mode operator", op)
	}
	for i++; kinds[byteAt(s, i)] != 0; i++ {
		perm |= kinds[s[i]]
	}
	if i < len(s) {
		return 0, fmt.Errorf("`%c': invalid symbolic mode character", s[i])
	}
	if class == 0 {
		class = 0o777
	}
	perm &= class
	switch op {
	case '+':
		return mode | perm, nil
	case '-':
		return mode &^ perm, nil
	}
	return mode&^class | perm, nil
}

// byteAt returns the byte at i, 0 behind the end.
func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}
