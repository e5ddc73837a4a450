// Package option defines the options of the set builtin: their bits, names and letters.
package option

import "strings"

// Set is a set of options; the zero value has none.
type Set uint64

// The options of set, each a bit.
const (
	AllExport Set = 1 << iota
	BraceExpand
	Emacs
	ErrExit
	ErrTrace
	FuncTrace
	HashAll
	HistExpand
	History
	IgnoreEOF
	InteractiveComments
	Keyword
	Monitor
	NoClobber
	NoExec
	NoGlob
	NoLog
	Notify
	NoUnset
	OneCmd
	Physical
	PipeFail
	Posix
	Privileged
	Verbose
	Vi
	XTrace
	// Options without a name.
	Interactive
	Command    // -c
	Stdin      // -s
	Restricted // -r
)

// Setting describes one option that has a name.
type Setting struct {
	Name   string
	letter byte // 0: set has no letter for it
	Bit    Set
}

// Settings lists the options with a name, in the order of set -o. It must not be changed.
var Settings = []Setting{
	{"allexport", 'a', AllExport},
	{"braceexpand", 'B', BraceExpand},
	{"emacs", 0, Emacs},
	{"errexit", 'e', ErrExit},
	{"errtrace", 'E', ErrTrace},
	{"functrace", 'T', FuncTrace},
	{"hashall", 'h', HashAll},
	{"histexpand", 'H', HistExpand},
	{"history", 0, History},
	{"ignoreeof", 0, IgnoreEOF},
	{"interactive-comments", 0, InteractiveComments},
	{"keyword", 'k', Keyword},
	{"monitor", 'm', Monitor},
	{"noclobber", 'C', NoClobber},
	{"noexec", 'n', NoExec},
	{"noglob", 'f', NoGlob},
	{"nolog", 0, NoLog},
	{"notify", 'b', Notify},
	{"nounset", 'u', NoUnset},
	{"onecmd", 't', OneCmd},
	{"physical", 'P', Physical},
	{"pipefail", 0, PipeFail},
	{"posix", 0, Posix},
	{"privileged", 'p', Privileged},
	{"verbose", 'v', Verbose},
	{"vi", 0, Vi},
	{"xtrace", 'x', XTrace},
}

// flagOrder is the order of letters in $-.
const flagOrder = "abefhikmnprtuvxBCEHPTcs"

// Letters returns the value of $-.
func (o Set) Letters() string {
	b := make([]byte, 0, 8)
	for i := range len(flagOrder) {
		c := flagOrder[i]
		if o&unnamedBit(c) != 0 {
			b = append(b, c)
			continue
		}
		if bit := ByLetter(c); o&bit != 0 {
			b = append(b, c)
		}
	}
	return string(b)
}

// unnamedBit returns the bit of a letter whose option has no name, 0 for other letters.
func unnamedBit(c byte) Set {
	switch c {
	case 'i':
		return Interactive
	case 'c':
		return Command
	case 's':
		return Stdin
	case 'r':
		return Restricted
	}
	return 0
}

// Text returns the names of the options that are on, joined by colons: the value of SHELLOPTS.
func (o Set) Text() string {
	var list []string
	for _, s := range Settings {
		if o&s.Bit != 0 {
			list = append(list, s.Name)
		}
	}
	return strings.Join(list, ":")
}

// Default is on in a new shell.
const Default = BraceExpand | HashAll | InteractiveComments

// ByName returns the bit of an option's name, 0 for an unknown name.
func ByName(name string) Set {
	for _, o := range Settings {
		if o.Name == name {
			return o.Bit
		}
	}
	return 0
}

// ByLetter returns the bit of an option's letter, 0 for an unknown letter.
func ByLetter(c byte) Set {
	for _, o := range Settings {
		if o.letter == c && c != 0 {
			return o.Bit
		}
	}
	return 0
}
