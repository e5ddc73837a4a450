package jsonc

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of the text of a file that a message repeats, in bytes.
const (
	maxClip = 60  // of a value
	maxKey  = 300 // of a key path; a file's name has at most 255
)

// clipKey cuts a key path that is too long for a message.
func clipKey(key string) string {
	if len(key) <= maxKey {
		return key
	}
	return cutRunes(key, maxKey) + "..."
}

// cutRunes returns at most n bytes of the longer string s, without a part of a character
// at the end.
func cutRunes(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Clip quotes text of a file for a message, and shortens it.
func Clip(s string) string {
	if len(s) <= maxClip {
		return strconv.Quote(s)
	}
	return strconv.Quote(cutRunes(s, maxClip)) + "..."
}

// OneLine returns s unchanged if it prints on one line, else quoted: a name with a
// newline or an escape sequence must not write another line.
func OneLine(s string) string {
	printable := func(r rune) bool { return unicode.IsPrint(r) && r != utf8.RuneError }
	if s != "" && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !printable(r) }) {
		return s
	}
	return strconv.Quote(s)
}

// Nearest returns the word with the spelling most similar to name, or "" if none is
// similar.
func Nearest(name string, words []string) string {
	best, limit := "", 1+len(name)/4
	for _, w := range words {
		if n := editDistance(strings.ToLower(name), strings.ToLower(w)); n <= limit {
			best, limit = w, n-1
		}
	}
	return best
}

// editDistance returns the number of insertions, deletions, replacements and swaps of
// neighbors that turn a into b. It does not compare long words.
func editDistance(a, b string) int {
	if len(a) > maxClip || len(b) > maxClip {
		return maxClip
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			differs := 1
			if a[i-1] == b[j-1] {
				differs = 0
			}
			n := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, rows[i-2][j-2]+1)
			}
			rows[i][j] = n
		}
	}
	return rows[len(a)][len(b)]
}

// JoinKey appends a name to a key path; one of them may be empty.
func JoinKey(key, name string) string {
	if key == "" || name == "" {
		return key + name
	}
	return key + "." + name
}

// IndexKey appends an index to a key path.
func IndexKey(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// joinPath puts two key paths together; the second may begin with an index.
func joinPath(key, path string) string {
	if strings.HasPrefix(path, "[") {
		return key + path
	}
	return JoinKey(key, path)
}
