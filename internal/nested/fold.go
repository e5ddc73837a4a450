package nested

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold returns the same string for all names that a case-insensitive file system may treat as equal. Such a file system
// treats a long s (U+017F) as an s.
func Fold(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return strings.Map(foldRune, name)
		}
	}
	return strings.ToLower(name)
}

func foldRune(r rune) rune {
	first := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		first = min(first, other)
	}
	return unicode.ToLower(first)
}
