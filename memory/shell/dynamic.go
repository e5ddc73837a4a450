package shell

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// dynamic is a variable whose value is computed when it is read.
type dynamic struct {
	value func(sh *interp) string
	list  func(sh *interp) []string // an array: all elements
	set   func(sh *interp, s string)
	setAt func(sh *interp, i int64, s string)
	attr  attr
	quiet bool // lists of variables do without
}

// dynamics are the special variables. A set of nil ignores assignments.
func dynamics() map[string]*dynamic {
	return map[string]*dynamic{
		"RANDOM":  {quiet: true, value: (*interp).random, set: (*interp).seed, attr: attrInteger},
		"SRANDOM": {quiet: true, value: func(*interp) string { return strconv.FormatUint(uint64(rand.Uint32()), 10) }, attr: attrInteger}, //nolint:gosec // Not for keys.
		"SECONDS": {
			quiet: true,
			value: func(sh *interp) string { return strconv.FormatInt(sh.m.now().Unix()-sh.start, 10) },
			set: func(sh *interp, s string) {
				n, _ := strconv.ParseInt(s, 10, 64)
				sh.start = sh.m.now().Unix() - n
			},
			attr: attrInteger,
		},
		"EPOCHSECONDS": {quiet: true, value: func(sh *interp) string { return strconv.FormatInt(sh.m.now().Unix(), 10) }},
		"EPOCHREALTIME": {quiet: true, value: func(sh *interp) string {
			t := sh.m.now()
			return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
		}},
		"LINENO":        {quiet: true, value: func(sh *interp) string { return strconv.Itoa(sh.line) }},
		"BASHPID":       {quiet: true, value: func(sh *interp) string { return strconv.Itoa(sh.process().PID) }, attr: attrInteger},
		"BASH_SUBSHELL": {quiet: true, value: func(sh *interp) string { return strconv.Itoa(sh.subshell) }},
		"BASH_COMMAND":  {quiet: true, value: (*interp).commandText},
		"BASH_ARGV0":    {quiet: true, value: func(sh *interp) string { return sh.name }, set: func(sh *interp, s string) { sh.name = s }},
		"HISTCMD":       {quiet: true, value: func(sh *interp) string { return strconv.Itoa(len(sh.history) + 1) }},
		"SHELLOPTS":     {value: (*interp).shellOpts, attr: attrReadonly},
		"BASHOPTS":      {value: (*interp).bashOpts, attr: attrReadonly},
		"_":             {value: func(sh *interp) string { return sh.lastArg }, set: func(*interp, string) {}},
		"FUNCNAME":      {quiet: true, list: (*interp).funcNames},
		"BASH_SOURCE":   {list: (*interp).sources},
		"BASH_LINENO":   {list: (*interp).callLines},
		"BASH_ARGC":     {list: (*interp).argCounts},
		"BASH_ARGV":     {list: (*interp).argValues},
		"PIPESTATUS": {
			list: func(sh *interp) []string {
				list := make([]string, len(sh.pipeStatus))
				for i, s := range sh.pipeStatus {
					list[i] = strconv.Itoa(s)
				}
				return list
			},
			setAt: func(*interp, int64, string) {},
		},
		"DIRSTACK": {list: (*interp).dirs},
		"GROUPS": {list: func(sh *interp) []string {
			list := []string{strconv.Itoa(int(sh.cred.GID))}
			for _, g := range sh.cred.Groups {
				if g != sh.cred.GID {
					list = append(list, strconv.Itoa(int(g)))
				}
			}
			return list
		}},
	}
}

func (d *dynamic) first(sh *interp) string {
	if l := d.list(sh); len(l) > 0 {
		return l[0]
	}
	return ""
}

// assignDynamic gives a computed variable a value.
func (sh *interp) assignDynamic(slot int, c *cell, s string, more bool) {
	if more {
		s = sh.text(c) + s
	}
	if c.dyn.set != nil {
		if c.dyn.attr&attrInteger != 0 {
			n, _ := sh.arithText(s)
			s = strconv.FormatInt(n, 10)
		}
		c.dyn.set(sh, s)
		return
	}
	if c.dyn.list == nil && c.dyn.attr&attrReadonly != 0 {
		sh.readonlyError(slot)
	}
}

// randState is bash's generator, so that RANDOM=n gives the same numbers.
type randState struct {
	seed uint32
	last uint32
}

func (r *randState) next() uint32 {
	ret := r.seed
	if ret == 0 {
		ret = 123459876
	}
	h := int64(ret / 127773)
	l := int64(ret) - 127773*h
	t := 16807*l - 2836*h
	if t < 0 {
		t += 0x7fffffff
	}
	r.seed = uint32(t)
	return (r.seed>>16 ^ r.seed&65535) & 32767
}

func (sh *interp) random() string {
	if sh.rand == nil {
		sh.rand = &randState{seed: sh.m.newRand().Uint32()}
	}
	n := sh.rand.next()
	for n == sh.rand.last {
		n = sh.rand.next()
	}
	sh.rand.last = n
	return strconv.Itoa(int(n))
}

func (sh *interp) seed(s string) {
	n, _ := strconv.ParseInt(s, 10, 64)
	sh.rand = &randState{seed: uint32(n)}
}

func (sh *interp) shellOpts() string {
	var list []string
	for _, o := range setOptions {
		if sh.opt&o.bit != 0 {
			list = append(list, o.name)
		}
	}
	return strings.Join(list, ":")
}

func (sh *interp) bashOpts() string {
	var list []string
	for i, n := range shoptNames {
		if sh.shopt&(1<<i) != 0 {
			list = append(list, n)
		}
	}
	return strings.Join(list, ":")
}

func (sh *interp) commandText() string {
	if sh.debugText != nil {
		return sh.debugText()
	}
	if sh.current == nil {
		return ""
	}
	return sh.current.text()
}

// funcNames is FUNCNAME: the innermost call first.
func (sh *interp) funcNames() []string {
	if !sh.inFunction() {
		return nil
	}
	list := make([]string, 0, len(sh.frames)+1)
	for _, v := range slices.Backward(sh.frames) {
		list = append(list, v.name)
	}
	if sh.script != "" {
		list = append(list, "main")
	}
	return list
}

func (sh *interp) inFunction() bool { return len(sh.frames) > 0 }

func (sh *interp) sources() []string {
	list := make([]string, 0, len(sh.frames)+1)
	for _, v := range slices.Backward(sh.frames) {
		list = append(list, v.source)
	}
	if sh.script != "" {
		list = append(list, sh.script)
	}
	return list
}

func (sh *interp) callLines() []string {
	list := make([]string, 0, len(sh.frames)+1)
	for _, v := range slices.Backward(sh.frames) {
		list = append(list, strconv.Itoa(v.line))
	}
	if sh.script != "" {
		list = append(list, "0")
	}
	return list
}

func (sh *interp) argCounts() []string {
	if sh.shopt&shExtDebug == 0 {
		return nil
	}
	var list []string
	for _, v := range slices.Backward(sh.frames) {
		list = append(list, strconv.Itoa(len(v.args)))
	}
	return list
}

func (sh *interp) argValues() []string {
	if sh.shopt&shExtDebug == 0 {
		return nil
	}
	var list []string
	for _, v := range slices.Backward(sh.frames) {
		args := v.args
		for _, arg := range slices.Backward(args) {
			list = append(list, arg)
		}
	}
	return list
}
