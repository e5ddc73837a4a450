// Package ifs splits text at the characters of the variable IFS.
package ifs

import (
	"strings"
	"unicode/utf8"
)

// Default separates words when IFS is unset.
const Default = " \t\n"

// The classes of characters.
const (
	Space = 1 // white space: several in a row separate once
	Other = 2 // each separates
)

// Set holds the characters of IFS. Call Use before the other methods.
type Set struct {
	text    string
	classes [256]uint8
	known   bool
	wide    bool
}

// Use makes text the value of IFS and returns the class of each byte, 0 for those that separate nothing. The
// array belongs to s.
func (s *Set) Use(text string) *[256]uint8 {
	if text == s.text && s.known {
		return &s.classes
	}
	s.text, s.known, s.wide = text, true, false
	s.classes = [256]uint8{}
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n':
			s.classes[c] = Space
		case c >= utf8.RuneSelf && utf8.ValidString(text):
			s.wide = true
		default:
			s.classes[c] = Other
		}
	}
	return &s.classes
}

// IsWide reports whether IFS has characters beyond ASCII, which the classes of bytes do not cover.
func (s *Set) IsWide() bool { return s.wide }

// Class returns the class of the character at t[i] and its length in bytes.
func (s *Set) Class(t string, i int) (class uint8, size int) {
	if !s.wide || t[i] < utf8.RuneSelf {
		return s.classes[t[i]], 1
	}
	r, n := utf8.DecodeRuneInString(t[i:])
	switch {
	case n == 1:
		return s.classes[t[i]], 1
	case strings.ContainsRune(s.text, r):
		return Other, n
	}
	return 0, n
}

// Between returns the class that separates two elements of an unquoted $*: that of the first character, Other when
// it separates nothing. It is 0 when IFS is empty.
func (s *Set) Between() uint8 {
	if s.text == "" {
		return 0
	}
	if k := s.classes[s.text[0]]; k != 0 {
		return k
	}
	return Other
}

// Separator returns the first character of text, which joins the elements of "$*".
func Separator(text string) string {
	if text == "" {
		return ""
	}
	_, n := utf8.DecodeRuneInString(text)
	return text[:n]
}

// copyLimit is the length from which Cut copies.
const copyLimit = 128

// Cut returns s[from:to]. It copies the part of a long s, so that the part does not keep all of s in memory.
func Cut(s string, from, to int) string {
	if to-from < len(s) && len(s) > copyLimit {
		return strings.Clone(s[from:to])
	}
	return s[from:to]
}
