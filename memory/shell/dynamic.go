package shell

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/random"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
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

// computedState is the state that the values of computed variables depend on, without that of other parts.
type computedState struct {
	rand  *random.Generator // for RANDOM; nil until the first use
	start int64             // for SECONDS
}

// dynamicVariables returns the special variables. Assignments to a variable whose set is nil are ignored.
func dynamicVariables() map[string]*dynamic {
	return map[string]*dynamic{
		"RANDOM": {
			quiet: true,
			value: func(sh *interp) string { return sh.nextRandom(sh.m) },
			set:   (*interp).seedRandom,
			attr:  attrInteger,
		},
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
		"HISTCMD":       {quiet: true, value: func(sh *interp) string { return strconv.Itoa(sh.history.Len() + 1) }},
		"SHELLOPTS":     {value: func(sh *interp) string { return sh.opt.Text() }, attr: attrReadonly},
		"BASHOPTS":      {value: func(sh *interp) string { return sh.shopt.Text() }, attr: attrReadonly},
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

// computeText returns the value of a computed variable, of an array its first element.
func (sh *interp) computeText(d *dynamic) string {
	if d.list == nil {
		return d.value(sh)
	}
	if l := sh.computeList(d); len(l) > 0 {
		return l[0]
	}
	return ""
}

// computeList returns the elements of a computed array, none when the process has to end.
func (sh *interp) computeList(d *dynamic) []string {
	if !sh.tick() {
		return nil
	}
	list := d.list(sh)
	sh.spend(len(list))
	return list
}

// assignComputed passes a new value to a computed variable.
func (sh *interp) assignComputed(d *dynamic, s string) { d.set(sh, s) }

// assignComputedAt passes a new element to a computed array.
func (sh *interp) assignComputedAt(d *dynamic, i int64, s string) { d.setAt(sh, i, s) }

// nextRandom returns the next value of RANDOM; m seeds the generator when the script has not.
func (s *computedState) nextRandom(m *machine) string {
	if s.rand == nil {
		s.rand = random.New(m.newRand().Uint32())
	}
	return strconv.Itoa(s.rand.Next())
}

func (s *computedState) seedRandom(text string) {
	n, _ := strconv.ParseInt(text, 10, 64)
	s.rand = random.New(uint32(n))
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

// funcNames returns FUNCNAME: the innermost call first.
func (s *scriptState) funcNames() []string {
	if !s.inFunction() {
		return nil
	}
	return s.withScript(s.column(func(f frame) string { return f.name }), "main")
}

// sources returns BASH_SOURCE.
func (s *scriptState) sources() []string {
	return s.withScript(s.column(func(f frame) string { return f.source }), s.script)
}

// callLines returns BASH_LINENO.
func (s *scriptState) callLines() []string {
	return s.withScript(s.column(func(f frame) string { return strconv.Itoa(f.line) }), "0")
}

// withScript appends the script's own entry to a list of the call stack; -c has none.
func (s *scriptState) withScript(list []string, text string) []string {
	if s.script != "" {
		list = append(list, text)
	}
	return list
}

// argCounts returns BASH_ARGC.
func (ex *execution) argCounts() []string {
	if ex.shopt&shopt.ExtDebug == 0 || !ex.inFunction() {
		return nil
	}
	return ex.column(func(f frame) string { return strconv.Itoa(len(f.args)) })
}

// argValues returns BASH_ARGV: the last argument first.
func (ex *execution) argValues() []string {
	if ex.shopt&shopt.ExtDebug == 0 {
		return nil
	}
	n := 0
	for i := range ex.frames {
		n += len(ex.frames[i].args)
	}
	if !ex.room(wordWeight * n) {
		return nil
	}
	list := make([]string, 0, n) // bounded: there is room for n words
	for _, f := range slices.Backward(ex.frames) {
		for _, arg := range slices.Backward(f.args) {
			list = append(list, arg) // bounded: there is room for n words
		}
	}
	return list
}

// dynamicCell is a special variable as each shell begins with it.
type dynamicCell struct {
	slot int
	cell *cell
}

// dynamicCells returns the cells of the special variables; they belong to no epoch: a process copies one before it changes it.
func dynamicCells(sym *symbols) []dynamicCell {
	var list []dynamicCell
	for name, d := range dynamicVariables() {
		a := attrDynamic | d.attr
		list = append(list, dynamicCell{sym.slot(name), &cell{attr: a, dyn: d}})
	}
	return list
}
