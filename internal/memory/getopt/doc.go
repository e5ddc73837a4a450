// Package getopt reads a command's arguments as GNU's getopt_long(3) does: bundled
// short options, "--long=value", unambiguous abbreviations, operands between
// options, and "--". Its errors have the C library's words, so that a script that
// reads them finds what it expects.
package getopt
