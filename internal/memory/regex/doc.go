// Package regex matches the regular expressions of POSIX systems as the GNU C library
// does: basic and extended ones with GNU's additions, leftmost-longest, with the
// groups that regexec(3) reports, and back-references. It also knows the part of Perl's that
// "grep -P" is used for.
//
// Expressions without back-references and Perl's assertions run in time linear in the
// text, on automata that are built while they run. The others backtrack, with a limit on the steps.
//
// There are two locales. C.UTF-8 is the default: a character is a code point in
// UTF-8, classes are Unicode's, ranges go by code point, and a byte that is not part of
// a character is matched by nothing, not even by "." or "[^a]". With Bytes, the C locale,
// every byte is a character and only ASCII has classes.
package regex
