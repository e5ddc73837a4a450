package sourcetree

import (
	"unicode"
)

// HasUpper reports whether a pattern has a letter in upper case that stands for itself.
func HasUpper(patterns []string) bool {
	for _, p := range patterns {
		for i, c := range p {
			if unicode.IsUpper(c) && (i == 0 || p[i-1] != '\\') {
				return true
			}
		}
	}
	return false
}
