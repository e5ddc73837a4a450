// Package versionorder compares names with version numbers as sort -V does.
package versionorder

import (
	"cmp"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// Compare compares names as ls -v and sort -V do: numbers within them count as
// numbers, and a suffix like ".tar.gz" counts last.
func Compare(a, b string) int {
	if a == b {
		return 0
	}
	// "", ".", "..", other names with a dot, and the rest, in this order.
	for _, special := range []string{"", ".", ".."} {
		switch special {
		case a:
			return -1
		case b:
			return 1
		}
	}
	if x, y := a[0] == '.', b[0] == '.'; x != y {
		if x {
			return -1
		}
		return 1
	} else if x {
		a, b = a[1:], b[1:]
	}
	x, y := a[:len(a)-versionSuffix(a)], b[:len(b)-versionSuffix(b)]
	if x == y {
		return compareRevisions(a, b)
	}
	if c := compareRevisions(x, y); c != 0 {
		return c
	}
	return compareRevisions(a, b)
}

// versionSuffix returns the length of what matches (\.[A-Za-z~][A-Za-z0-9~]*)*$.
func versionSuffix(s string) int {
	end := len(s)
	for { // bounded: each round shortens the name
		i := end
		for i > 0 && (isVersionLetter(s[i-1]) || s[i-1] >= '0' && s[i-1] <= '9') {
			i--
		}
		if i == 0 || i == end || s[i-1] != '.' || !isVersionLetter(s[i]) || i == 1 {
			return len(s) - end
		}
		end = i - 1
	}
}

func isVersionLetter(c byte) bool { return c == '~' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// compareRevisions compares like dpkg: parts without digits by letters first, parts with
// digits by value.
func compareRevisions(a, b string) int {
	for a != "" || b != "" {
		x, y := 0, 0
		for x < len(a) && !ascii.IsDigit(a[x]) || y < len(b) && !ascii.IsDigit(b[y]) {
			if c := cmp.Compare(revisionOrder(a, x), revisionOrder(b, y)); c != 0 {
				return c
			}
			x, y = min(x+1, len(a)), min(y+1, len(b))
		}
		a, b = strings.TrimLeft(a[x:], "0"), strings.TrimLeft(b[y:], "0")
		x, y = ascii.CountDigits(a), ascii.CountDigits(b)
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
		if c := strings.Compare(a[:x], b[:y]); c != 0 {
			return c
		}
		a, b = a[x:], b[y:]
	}
	return 0
}

// revisionOrder is the weight of a character: ~ before the end, digits, letters, the rest.
func revisionOrder(s string, i int) int {
	switch {
	case i >= len(s):
		return -1
	case ascii.IsDigit(s[i]):
		return 0
	case s[i] == '~':
		return -2
	case isVersionLetter(s[i]):
		return int(s[i])
	}
	return int(s[i]) + 256
}
