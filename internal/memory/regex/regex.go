package regex

import "sync/atomic"

// Flags says how an expression is written and how it matches. The zero value is a
// POSIX basic expression for regcomp(3).
type Flags uint32

// The syntax: at most one of the first four.
const (
	// Extended is the syntax of "grep -E" and of [[ =~ ]].
	Extended Flags = 1 << iota
	// Perl is that of "grep -P".
	Perl
	// Literal takes every character as itself.
	Literal
	// Emacs is that of "find -regex" without -regextype.
	Emacs

	// Grep allows what grep and egrep accept beyond POSIX: "a{1" and "*a" are not errors.
	Grep
	// Sed refuses an unmatched ")" in extended expressions.
	Sed
	// Expr allows what expr(1), csplit(1) and nl(1) allow: "**", and ranges that are empty.
	Expr

	// IgnoreCase takes letters of both cases as the same.
	IgnoreCase
	// Multiline lets ^ and $ match at newlines too.
	Multiline
	// NoNewline keeps everything but a newline itself from matching a newline.
	NoNewline
	// NulLines replaces the newline by NUL for Multiline and NoNewline.
	NulLines
	// Bytes is the C locale.
	Bytes
	// WholeWord matches only where there is no word character before or behind the match.
	WholeWord
	// WholeLine matches only from ^ to $.
	WholeLine
)

// Regexp is a compiled expression. It may be used by several goroutines at once.
type Regexp struct {
	flags  Flags
	groups int

	prog  *prog  // for the automata; more than the expression may match when !exact
	exact bool   // prog is the expression
	back  *prog  // for backtracking; nil when exact and not Perl
	perl  bool   // the first match counts, not the longest
	lit   []byte // the whole expression when it is nothing but this text
	isLit bool
	must  []byte // a text that is in every match; may be empty
	head  bool   // every match begins with must
	find  needle // for lit or must

	warnings []string

	spare atomic.Pointer[Matcher]
}

// Compile reads an expression. The error is an *Error with the text of regerror(3),
// for Perl's that of PCRE2.
func Compile(pattern string, flags Flags) (*Regexp, error) {
	return CompileAll([]string{pattern}, flags)
}

// CompileAll reads several expressions, any of which may match; groups are counted
// through, and a back-reference means a group of its own expression. No expressions match nothing.
func CompileAll(patterns []string, flags Flags) (*Regexp, error) {
	r := &Regexp{flags: flags, perl: flags&Perl != 0}
	tree, err := parseAll(patterns, flags)
	if err != nil {
		return nil, err
	}
	r.groups, r.warnings = tree.groups, tree.warnings
	if err := r.build(tree); err != nil {
		return nil, err
	}
	return r, nil
}

// Groups returns the number of groups, that for the whole match not counted.
func (r *Regexp) Groups() int { return r.groups }

// Size returns about how many bytes the expression holds. A match holds as much again, and a table with a fixed bound.
func (r *Regexp) Size() int { return 512 + r.prog.size() + r.back.size() }

// Warnings returns grep's warnings about a valid expression.
func (r *Regexp) Warnings() []string { return r.warnings }

// Match reports whether the expression matches anywhere in b. A match that would take too many
// steps counts as none; Matcher tells the two apart.
func (r *Regexp) Match(b []byte) bool { return r.Find(b, 0, nil) }

// MatchString is Match of a string.
func (r *Regexp) MatchString(s string) bool { return r.Find([]byte(s), 0, nil) }

// Find looks for the leftmost match that begins at from or behind it; ^ and \b take the text before from into account. On success
// it sets caps, as far as it is long, to the beginnings and ends of the match and of its groups, -1 for groups that took no part.
func (r *Regexp) Find(b []byte, from int, caps []int) bool {
	m := r.spare.Swap(nil)
	if m == nil {
		m = r.Matcher(nil)
	}
	ok := m.Find(b, from, caps)
	m.err = nil
	r.spare.Store(m)
	return ok
}

// Names returns the names of groups, indexed by their number; "" for those without.
// It is nil when no group has a name.
func (r *Regexp) Names() []string {
	if r.back == nil {
		return nil
	}
	return r.back.names
}
