package shell

import "strings"

// getopts takes the next option of the arguments.
func (sh *interp) getopts(args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	if len(args) < 3 {
		return sh.usage(sh.usageOf(), "")
	}
	if len(args[1]) > 1 && args[1][0] == '-' && args[1] != "-" && !strings.Contains(args[1], ":") && len(args) < 3 {
		return sh.badOption(args[1][:2])
	}
	spec, name := args[1], args[2]
	list := sh.params
	if len(args) > 3 {
		list = args[3:]
	}
	quiet := strings.HasPrefix(spec, ":")
	if quiet {
		spec = spec[1:]
	}
	ind := int64(1)
	if n, ok := plainInt(sh.get(slotOPTIND)); ok && n > 0 {
		ind = n
	}
	// Assigning OPTIND begins anew.
	if int(ind) != sh.options.index {
		sh.options = optState{index: int(ind)}
	}
	r := sh.nextOption(spec, list, quiet)
	sh.assign(slotOPTIND, itoa(sh.options.index))
	if r.hasArg {
		sh.assign(slotOPTARG, r.arg)
	} else {
		sh.unsetVar(slotOPTARG)
	}
	if r.msg != "" && !quiet && sh.get(slotOPTERR) != "0" {
		sh.errorRaw(sh.name + ": " + r.msg + "\n")
	}
	if !isName(name) {
		sh.fail("`%s': not a valid identifier", name)
		return 1
	}
	if !sh.assign(sh.slot(name), r.name) {
		return 2
	}
	if r.over {
		return 1
	}
	return 0
}

// optResult is what getopts found.
type optResult struct {
	name   string
	arg    string
	hasArg bool
	msg    string
	over   bool
}

// nextOption looks at the word that options.index points at.
func (sh *interp) nextOption(spec string, list []string, quiet bool) optResult {
	o := &sh.options
	if o.pos == 0 {
		if o.index > len(list) {
			o.index = len(list) + 1
			return optResult{name: "?", over: true}
		}
		w := list[o.index-1]
		if len(w) < 2 || w[0] != '-' {
			return optResult{name: "?", over: true}
		}
		if w == "--" {
			o.index++
			return optResult{name: "?", over: true}
		}
		o.pos = 1
	}
	if o.index > len(list) || o.pos >= len(list[o.index-1]) {
		o.pos = 0
		return optResult{name: "?", over: true}
	}
	w := list[o.index-1]
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
			return optResult{name: "?", arg: c, hasArg: true}
		}
		return optResult{name: "?", msg: "illegal option -- " + c}
	}
	if k+1 >= len(spec) || spec[k+1] != ':' {
		if last {
			next()
		}
		return optResult{name: c}
	}
	if !last {
		arg := w[o.pos:]
		next()
		return optResult{name: c, arg: arg, hasArg: true}
	}
	next()
	if o.index > len(list) {
		if quiet {
			return optResult{name: ":", arg: c, hasArg: true}
		}
		return optResult{name: "?", msg: "option requires an argument -- " + c}
	}
	arg := list[o.index-1]
	o.index++
	return optResult{name: c, arg: arg, hasArg: true}
}
