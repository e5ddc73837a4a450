package filetype

import (
	"slices"
	"strings"
)

// sign is a magic number, and the description of its format. Descriptions that end with "text" get
// the encoding in its place.
type sign struct{ start, text, mime string }

const (
	mimeShell  = "text/x-shellscript"
	mimePython = "text/x-script.python"
	mimeJS     = "application/javascript"
)

// interpreters are the known programs after "#!". A "*" at the end matches the rest.
var interpreters = []sign{
	{"/bin/sh", "POSIX shell script text executable", mimeShell},
	{"/bin/bash", "Bourne-Again shell script text executable", mimeShell},
	{"/usr/bin/bash", "Bourne-Again shell script text executable", mimeShell},
	{"/usr/local/bin/bash", "Bourne-Again shell script text executable", mimeShell},
	{"/usr/bin/env bash", "Bourne-Again shell script text executable", mimeShell},
	{"/bin/zsh", "Paul Falstad's zsh script text executable", mimeShell},
	{"/usr/bin/zsh", "Paul Falstad's zsh script text executable", mimeShell},
	{"/usr/local/bin/zsh", "Paul Falstad's zsh script text executable", mimeShell},
	{"/usr/bin/env zsh", "Paul Falstad's zsh script text executable", mimeShell},
	{"/usr/bin/fish", "fish shell script text executable", mimeShell},
	{"/usr/local/bin/fish", "fish shell script text executable", mimeShell},
	{"/usr/bin/env fish", "fish shell script text executable", mimeShell},
	{"/bin/csh", "C shell script text executable", mimeShell},
	{"/bin/tcsh", "Tenex C shell script text executable", mimeShell},
	{"/usr/bin/tcsh", "Tenex C shell script text executable", mimeShell},
	{"/bin/ksh", "Korn shell script text executable", mimeShell},
	{"/usr/bin/python*", "Python script text executable", mimePython},
	{"/usr/local/bin/python*", "Python script text executable", mimePython},
	{"/usr/bin/env python*", "Python script text executable", mimePython},
	{"/usr/bin/ruby", "Ruby script text executable", "text/x-ruby"},
	{"/usr/local/bin/ruby", "Ruby script text executable", "text/x-ruby"},
	{"/usr/bin/env ruby", "Ruby script text executable", "text/x-ruby"},
	{"/usr/bin/lua*", "Lua script text executable", "text/x-lua"},
	{"/usr/local/bin/lua*", "Lua script text executable", "text/x-lua"},
	{"/usr/bin/env lua*", "Lua script text executable", "text/x-lua"},
	{"/bin/node*", "Node.js script executable", mimeJS},
	{"/usr/bin/node*", "Node.js script executable", mimeJS},
	{"/usr/bin/env node*", "Node.js script executable", mimeJS},
	{"/usr/bin/php*", "PHP script text executable", "text/x-php"},
	{"/usr/local/bin/php*", "PHP script text executable", "text/x-php"},
	{"/bin/awk", "awk script text executable", "text/x-awk"},
	{"/usr/bin/awk", "awk script text executable", "text/x-awk"},
	{"/bin/gawk", "GNU awk script text executable", "text/x-gawk"},
	{"/usr/bin/gawk", "GNU awk script text executable", "text/x-gawk"},
	{"/bin/nawk", "new awk script text executable", "text/x-nawk"},
	{"/usr/bin/nawk", "new awk script text executable", "text/x-nawk"},
	{"/usr/bin/tclsh*", "Tcl/Tk script text executable", "text/x-tcl"},
	{"/usr/bin/wish*", "Tcl/Tk script text executable", "text/x-tcl"},
	{"/usr/bin/env tclsh*", "Tcl script text executable", "text/x-tcl"},
	{"/usr/bin/env runhaskell", "Haskell script executable", mimeText},
}

// perls are the interpreters whose scripts are printed without their encoding.
var perls = []string{"/bin/perl", "/usr/bin/perl", "/usr/local/bin/perl", "/usr/bin/env perl"}

// shebang returns the words behind "#!" with one blank between the first two, and the bytes after
// the last of them.
func shebang(text string) (line, rest string, ok bool) {
	line, ok = strings.CutPrefix(text, "#!")
	if !ok {
		return "", "", false
	}
	line, rest = line[:cutAt(line, '\n')], line[cutAt(line, '\n'):]
	line = strings.TrimLeft(line, " \t")
	if trimmed := strings.TrimRight(line, " \t\r"); trimmed != line {
		line, rest = trimmed, line[len(trimmed):]+rest
	}
	if env, program, found := strings.Cut(line, " "); found {
		line = env + " " + strings.TrimLeft(program, " ")
	}
	return line, rest, true
}

func cutAt(s string, c byte) int {
	if i := strings.IndexByte(s, c); i >= 0 {
		return i
	}
	return len(s)
}

// scriptKind knows scripts by their interpreter.
func scriptKind(text string) (what, mime string, ok bool) {
	line, rest, ok := shebang(text)
	if !ok {
		return "", "", false
	}
	for _, s := range interpreters {
		start, open := strings.CutSuffix(s.start, "*")
		after, found := strings.CutPrefix(line, start)
		if !found {
			continue
		}
		if after += rest; open || after != "" && strings.IndexByte(" \t\r\n", after[0]) >= 0 {
			return s.text, s.mime, true
		}
	}
	return "a " + strings.TrimPrefix(line, "/usr/bin/env ") + " script text executable", mimeText, true
}

// isPerl reports whether the interpreter is Perl.
func isPerl(text string) bool {
	line, _, _ := shebang(text)
	return slices.ContainsFunc(perls, func(p string) bool { return strings.HasPrefix(line, p) })
}
