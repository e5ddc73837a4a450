// Package getopts takes options from words as the getopts builtin does.
package getopts

import "strings"

// State is the place that getopts has reached. Call Begin before Next.
type State struct {
	index int // of the word, counted from 1
	pos   int // in the word; 0: at its beginning
}

// Begin continues at the word with the index, from its beginning when a script has changed OPTIND.
func (o *State) Begin(index int) {
	if index != o.index {
		*o = State{index: index}
	}
}

// Index returns the value of OPTIND: the index of the next word.
func (o *State) Index() int { return o.index }

// Result is one option.
type Result struct {
	Name    string // "?" for an unknown option and at the end, ":" for a missing argument in quiet mode
	Arg     string
	HasArg  bool
	Problem string // bash's text of the error
	Over    bool   // all options are read
}

// Next takes the next option from the words. The letters of spec are the options, those before a colon take an
// argument; quiet is for a script that reports problems itself.
func (o *State) Next(spec string, words []string, quiet bool) Result {
	if o.pos == 0 {
		if o.index > len(words) {
			o.index = len(words) + 1
			return Result{Name: "?", Over: true}
		}
		w := words[o.index-1]
		if len(w) < 2 || w[0] != '-' {
			return Result{Name: "?", Over: true}
		}
		if w == "--" {
			o.index++
			return Result{Name: "?", Over: true}
		}
		o.pos = 1
	}
	if o.index > len(words) || o.pos >= len(words[o.index-1]) {
		o.pos = 0
		return Result{Name: "?", Over: true}
	}
	w := words[o.index-1]
	c := w[o.pos : o.pos+1]
	o.pos++
	last := o.pos >= len(w)
	next := func() {
		o.index++
		o.pos = 0
	}
	k := strings.Index(spec, c)
	if k < 0 || c == ":" {
		if last {
			next()
		}
		if quiet {
			return Result{Name: "?", Arg: c, HasArg: true}
		}
		return Result{Name: "?", Problem: "illegal option -- " + c}
	}
	if k+1 >= len(spec) || spec[k+1] != ':' {
		if last {
			next()
		}
		return Result{Name: c}
	}
	if !last {
		arg := w[o.pos:]
		next()
		return Result{Name: c, Arg: arg, HasArg: true}
	}
	next()
	if o.index > len(words) {
		if quiet {
			return Result{Name: ":", Arg: c, HasArg: true}
		}
		return Result{Name: "?", Problem: "option requires an argument -- " + c}
	}
	arg := words[o.index-1]
	o.index++
	return Result{Name: c, Arg: arg, HasArg: true}
}
