package shell

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// declaration holds the parsed options of declare, local, export and readonly.
type declaration struct {
	sh         *interp
	add, del   attr
	funcs      bool // -f
	names      bool // -F
	global     bool // -g
	inherit    bool // -I
	print      bool // -p
	local      bool // make local: local, and declare in a function
	forget     bool // export -n
	isExport   bool
	isReadonly bool
	isLocal    bool
}

var declareLetters = map[byte]attr{
	'a': attrArray, 'A': attrAssoc, 'i': attrInteger, 'l': attrLower, 'u': attrUpper, 'c': attrCapital,
	'n': attrRef, 'r': attrReadonly, 't': attrTrace, 'x': attrExport,
}

func runDeclareBuiltin(sh *interp, args []string) int {
	d := &declaration{sh: sh}
	rest, st := d.parseFlags(args, "+aAfFgiIlnprtuxc")
	if st >= 0 {
		return st
	}
	d.local = sh.inShellFunction() && !d.global
	return d.run(args, rest)
}

func runLocalBuiltin(sh *interp, args []string) int {
	d := &declaration{sh: sh, isLocal: true, local: true}
	if !sh.inShellFunction() {
		return sh.fail("can only be used in a function")
	}
	rest, st := d.parseFlags(args, "+aAfFgiIlnprtuxc")
	if st >= 0 {
		return st
	}
	if len(rest) == 1 && rest[0] == "-" {
		sh.localOptions()
		return 0
	}
	return d.run(args, rest)
}

// localOptions is "local -": options are brought back when the function ends.
func (ex *execution) localOptions() {
	ex.ownFrames()
	f := ex.top()
	if !f.localOpts {
		f.localOpts, f.savedOpt, f.savedShopt = true, ex.opt, ex.shopt
	}
}

func runExportBuiltin(sh *interp, args []string) int {
	d := &declaration{sh: sh, isExport: true, add: attrExport}
	list, rest, st := sh.parseOptions(args, "aAfnp")
	if st >= 0 {
		return st
	}
	for _, f := range list {
		switch f.c {
		case 'f':
			d.funcs = true
		case 'n':
			d.forget = true
			d.add, d.del = 0, attrExport
		case 'p':
			d.print = true
		}
	}
	if d.funcs && len(rest) > 0 {
		return sh.exportFunctions(rest, !d.forget)
	}
	if len(rest) == 0 {
		return d.printVariables(attrExport)
	}
	d.print = false
	return d.run(args, rest)
}

func (sh *interp) exportFunctions(names []string, on bool) int {
	st := 0
	for _, n := range names {
		f := sh.namedFunction(n)
		if f == nil {
			st = sh.fail("%s: not a function", n)
			continue
		}
		g := *f
		g.export = on
		sh.setFunction(sh.slot(n), &g)
	}
	return st
}

func runReadonlyBuiltin(sh *interp, args []string) int {
	d := &declaration{sh: sh, isReadonly: true, add: attrReadonly}
	list, rest, st := sh.parseOptions(args, "aAfp")
	if st >= 0 {
		return st
	}
	for _, f := range list {
		switch f.c {
		case 'f':
			d.funcs = true
		case 'a', 'A':
			d.add |= declareLetters[f.c]
		case 'p':
			d.print = true
		}
	}
	if d.funcs && len(rest) > 0 {
		for _, n := range rest {
			f := sh.namedFunction(n)
			if f == nil {
				st = sh.fail("%s: not a function", n)
				continue
			}
			g := *f
			g.readonly = true
			sh.setFunction(sh.slot(n), &g)
		}
		return max(st, 0)
	}
	if len(rest) == 0 {
		return d.printVariables(d.add)
	}
	d.print = false
	return d.run(args, rest)
}

// parseFlags reads the options of declare.
func (d *declaration) parseFlags(args []string, spec string) ([]string, int) {
	list, rest, st := d.sh.parseOptions(args, spec)
	if st >= 0 {
		return nil, st
	}
	for _, f := range list {
		switch f.c {
		case 'f':
			d.funcs = true
		case 'F':
			d.funcs, d.names = true, true
		case 'g':
			d.global = true
		case 'I':
			d.inherit = true
		case 'p':
			d.print = true
		default:
			if f.plus {
				d.del |= declareLetters[f.c]
			} else {
				d.add |= declareLetters[f.c]
			}
		}
	}
	return rest, -1
}

// run handles the operands.
func (d *declaration) run(args, rest []string) int {
	switch {
	case d.funcs:
		return d.declareFunctions(rest)
	case len(rest) == 0 && d.isLocal:
		return printLocalVariables(d.sh)
	case len(rest) == 0:
		return d.printVariables(d.add)
	case d.print && !d.isLocal:
		return printNamedVariables(d.sh, rest)
	}
	first := len(args) - len(rest)
	declArgs := d.sh.declArgs
	st := 0
	for i, a := range rest {
		if !d.declareOne(a, declArgs[first+i]) {
			st = 1
		}
		if d.sh.ctl != ctlNone {
			return d.sh.status
		}
	}
	return st
}

// parseOperand cuts "name[sub]+=value"; slot and code are left out.
func parseOperand(s string) operand {
	var o operand
	i := 0
	for i < len(s) && isNameByte(s[i]) {
		i++
	}
	o.name = s[:i]
	if i < len(s) && s[i] == '[' {
		if end := subscriptEnd(s, i); end > 0 {
			o.sub, o.elem = s[i+1:end], true
			i = end + 1
		}
	}
	switch rest := s[i:]; {
	case rest == "":
	case rest[0] == '=':
		o.value, o.assigned = rest[1:], true
	case strings.HasPrefix(rest, "+="):
		o.value, o.more, o.assigned = rest[2:], true, true
	default:
		o.name = s // not a name at all
	}
	return o
}

// declareOne declares one operand; code is its compiled form when the script wrote it as an assignment.
func (d *declaration) declareOne(arg string, code *assignCode) bool {
	o := parseOperand(arg)
	o.code = code
	name, elem, assigned := o.name, o.elem, o.assigned
	if d.isReadonly && !assigned && d.add != attrReadonly { // Without a value readonly makes no array.
		r := *d
		r.add = attrReadonly
		d = &r
	}
	if !isName(name) {
		d.sh.fail("`%s': not a valid identifier", arg)
		return false
	}
	if elem && (d.isExport || d.isReadonly) {
		d.sh.fail("`%s': not a valid identifier", arg)
		return false
	}
	if elem && assigned && strings.TrimSpace(o.sub) == "" {
		d.sh.errorf("%s[%s]: bad array subscript", name, o.sub)
		return false
	}
	slot := d.sh.slot(name)
	if elem && d.add&attrRef != 0 {
		d.sh.fail("%s: reference variable cannot be an array", name)
		return false
	}
	if d.isExport || d.isReadonly || d.add&attrRef == 0 && d.del&attrRef == 0 && !d.local {
		if pl, ok := d.sh.follow(slot); ok && pl.slot != slot && !pl.elem {
			slot = pl.slot
		} else if ok && pl.elem && assigned {
			return d.sh.assignTo(place{slot: slot}, o.value, o.more)
		}
	}
	if d.local {
		c, isLocal := d.sh.cell(slot), d.sh.isLocal(slot)
		if c != nil && c.attr&attrReadonly != 0 && (!isLocal || d.add != 0 || assigned) && !d.sh.canHide(slot, c) {
			d.sh.fail("%s: readonly variable", name)
			return false
		}
		if d.inherit && !d.sh.isLocal(slot) {
			d.sh.localCopy(slot)
		} else {
			d.sh.makeLocal(slot)
		}
	}
	restore := d.swapGlobal(slot)
	defer restore()
	o.slot = slot
	return d.declareOperand(o)
}

// canHide reports whether a local variable may hide the readonly one: one of a caller, not a global.
func (v *cells) canHide(slot int, c *cell) bool {
	return c.attr&attrLocal != 0 && !v.isLocal(slot)
}

// localCopy is declare -I: a local variable that begins as the one it hides.
func (v *cells) localCopy(slot int) {
	old := v.cell(slot)
	c := &cell{epoch: v.epoch, attr: attrLocal}
	if old != nil && old.attr&attrDynamic == 0 {
		*c = *old
		v.cloned(c)
		c.attr |= attrLocal
	}
	v.hide(slot, c, false)
}

// swapGlobal makes the global variable the visible one for declare -g.
func (d *declaration) swapGlobal(slot int) func() {
	sh := d.sh // The closure must not hold d, which would then be allocated.
	if !d.global || !sh.inShellFunction() {
		return func() {}
	}
	for i, s := range sh.saved {
		if s.slot != slot {
			continue
		}
		inner := sh.cell(slot)
		sh.put(slot, s.old)
		return func() {
			sh.saved = append([]savedCell(nil), sh.saved...)
			sh.saved[i].old = sh.cell(slot)
			sh.put(slot, inner)
		}
	}
	return func() {}
}

// operand is one operand of a declaration: name[sub]+=value.
type operand struct {
	name, sub, value string
	slot             int
	elem             bool // it has a subscript
	more             bool // +=
	assigned         bool // it has a value
	code             *assignCode
}

// declareOperand sets attributes and value of the operand's variable.
func (d *declaration) declareOperand(o operand) bool {
	slot, name, assigned := o.slot, o.name, o.assigned
	c := d.sh.cell(slot)
	if c != nil && c.attr&attrReadonly != 0 && (assigned || d.del&attrReadonly != 0 || d.add&^(attrReadonly|attrExport) != 0) {
		switch {
		case assigned && (d.isExport || d.isReadonly):
			d.sh.readonlyError(slot)
			return false
		case d.del&attrReadonly != 0 || assigned || d.add&^c.attr&(attrArray|attrAssoc|attrRef) != 0:
			d.sh.fail("%s: readonly variable", name)
			return false
		}
	}
	if c != nil && (d.add&attrArray != 0 && c.attr&attrAssoc != 0 || d.add&attrAssoc != 0 && c.attr&attrArray != 0) {
		kinds := [2]string{"associative", "indexed"}
		if d.add&attrAssoc != 0 {
			kinds = [2]string{"indexed", "associative"}
		}
		d.sh.fail("%s: cannot convert %s to %s array", name, kinds[0], kinds[1])
		return false
	}
	if c != nil && d.del&(attrArray|attrAssoc) != 0 && c.attr&(attrArray|attrAssoc) != 0 {
		d.sh.fail("%s: cannot destroy array variables in this way", name)
		return false
	}
	if d.add&attrRef != 0 {
		return d.declareReference(o)
	}
	c = d.sh.own(slot)
	d.setAttributes(c)
	array := o.code != nil && o.code.array
	isText := !array && assigned && (d.add|c.attr)&(attrArray|attrAssoc) != 0 && !o.elem && strings.HasPrefix(o.value, "(") && strings.HasSuffix(o.value, ")")
	ok := true
	switch {
	case array:
		ok = d.assignArray(slot, o.code)
	case isText:
		ok = assignListText(d.sh, slot, o.value, o.more)
	case assigned:
		ok = assignOperand(d.sh, o)
	case o.elem && d.add&attrAssoc == 0 && c.attr&(attrArray|attrAssoc) == 0:
		d.sh.makeArray(c)
	}
	if d.add&attrReadonly != 0 && (ok || !assigned) {
		d.sh.own(slot).attr |= attrReadonly
	}
	return ok
}

// setAttributes changes the attributes except readonly, which comes after the value.
func (d *declaration) setAttributes(c *cell) {
	add := d.add &^ (attrReadonly | attrArray | attrAssoc)
	switch {
	case add&attrLower != 0 && add&attrUpper != 0:
		add &^= attrLower | attrUpper
	case add&attrLower != 0:
		c.attr &^= attrUpper | attrCapital
	case add&attrUpper != 0:
		c.attr &^= attrLower | attrCapital
	case add&attrCapital != 0:
		c.attr &^= attrLower | attrUpper
	}
	c.attr = (c.attr | add) &^ (d.del &^ (attrArray | attrAssoc | attrReadonly))
	switch {
	case d.add&attrArray != 0:
		d.sh.makeArray(c)
	case d.add&attrAssoc != 0 && c.attr&attrAssoc == 0:
		old, had := "", c.isSet()
		if had {
			old = d.sh.text(c)
		}
		d.sh.empty(c)
		c.assoc = array.NewAssoc(d.sh.epoch)
		c.attr = c.attr&^(attrNum|attrNoText|attrArray|attrSet) | attrAssoc
		if had {
			d.sh.setKey(c, "0", old)
		}
	}
	if d.isExport && !d.forget {
		c.attr &^= attrTemp
	}
}

func (d *declaration) assignArray(slot int, code *assignCode) bool {
	a := *code
	a.slot = slot
	if d.add&attrRef == 0 {
		if c := d.sh.cell(slot); c != nil && c.attr&attrAssoc == 0 {
			d.sh.makeArray(d.sh.own(slot))
		}
	}
	return a.runArray(d.sh)
}

// assignListText assigns a list that is written in a string: declare -a 'x=(1 2)'.
func assignListText(sh *interp, slot int, value string, more bool) bool {
	p := syntax.NewParser("x="+value, syntax.Options{})
	list, err := p.Next()
	if err != nil || list == nil {
		return sh.assignTo(place{slot: slot}, value, more)
	}
	if s, ok := list.Items[0].First.Cmds[0].Body.(*syntax.Simple); ok && len(s.Assigns) == 1 && s.Assigns[0].Array {
		a := (&compiler{lib: sh.m.lib}).assign(s.Assigns[0])
		a.slot, a.more = slot, more
		return a.runArray(sh)
	}
	return sh.assignTo(place{slot: slot}, value, more)
}

// assignOperand assigns the operand's value.
func assignOperand(sh *interp, o operand) bool {
	switch {
	case !o.elem:
		return sh.assignTo(place{slot: o.slot}, o.value, o.more)
	case o.code != nil && o.code.index != nil && sh.isAssoc(o.slot):
		return sh.assignKey(o.slot, sh.str(o.code.index.key), o.value, o.more)
	case o.code != nil && o.code.index != nil && o.code.index.all == 0:
		i, ok := sh.evalIndex(o.code.index)
		return ok && sh.assignIndex(o.slot, i, o.value, o.more, o.sub)
	}
	return sh.assignElem(place{slot: o.slot, sub: o.sub, elem: true, whole: o.sub == "@" || o.sub == "*"}, o.value, o.more)
}

// declareReference makes a reference.
func (d *declaration) declareReference(o operand) bool {
	slot, name, value, assigned := o.slot, o.name, o.value, o.assigned
	c := d.sh.cell(slot)
	if c != nil && c.attr&(attrArray|attrAssoc) != 0 {
		d.sh.fail("%s: reference variable cannot be an array", name)
		return false
	}
	if !assigned && c.isSet() && c.attr&attrRef == 0 {
		value, assigned = d.sh.text(c), true
	}
	if assigned {
		base, _, _ := splitSubscript(value)
		if value != "" && !isName(base) {
			d.sh.fail("`%s': invalid variable name for name reference", value)
			return false
		}
		if base == name && !d.sh.inShellFunction() {
			d.sh.fail("%s: nameref variable self references not allowed", name)
			return false
		}
		if base == name {
			d.sh.errorf("warning: %s: circular name reference", name)
		}
	}
	c = d.sh.own(slot)
	if assigned {
		if !d.sh.setText(c, value) {
			return false
		}
	}
	c.attr |= attrRef | d.add&^attrReadonly
	if d.add&attrReadonly != 0 {
		c.attr |= attrReadonly
	}
	return true
}

// declareFunctions is declare -f and -F.
func (d *declaration) declareFunctions(names []string) int {
	if len(names) == 0 {
		return d.printFunctions()
	}
	st := 0
	var b strings.Builder
	for _, n := range names {
		f := d.sh.namedFunction(n)
		if f == nil {
			st = 1
			continue
		}
		switch {
		case d.add&attrExport != 0 || d.del&attrExport != 0:
			st = max(st, d.sh.exportFunctions([]string{n}, d.add&attrExport != 0))
		case d.add&(attrReadonly|attrTrace) != 0 || d.del&attrTrace != 0:
			g := *f
			g.readonly = g.readonly || d.add&attrReadonly != 0
			g.trace = (g.trace || d.add&attrTrace != 0) && d.del&attrTrace == 0
			d.sh.setFunction(d.sh.slot(n), &g)
		case d.names && d.sh.shopt&shopt.ExtDebug != 0:
			b.WriteString(n + " " + itoa(f.line) + " " + f.source + "\n")
		case d.names:
			b.WriteString(n + "\n")
		default:
			b.WriteString(f.text() + "\n")
		}
	}
	return max(st, d.sh.outString(b.String()))
}

func (d *declaration) printFunctions() int {
	var b strings.Builder
	for _, f := range d.sh.sortedFuncs() {
		if d.add&attrExport != 0 && !f.export || d.add&attrReadonly != 0 && !f.readonly {
			continue
		}
		if !d.names {
			b.WriteString(f.text() + "\n")
		}
		if flags := f.flags(); d.names || flags != "" {
			b.WriteString("declare -f" + flags + " " + f.name + "\n")
		}
	}
	return d.sh.outString(b.String())
}

func (f *function) flags() string {
	s := ""
	if f.readonly {
		s += "r"
	}
	if f.trace {
		s += "t"
	}
	if f.export {
		s += "x"
	}
	return s
}

// printNamedVariables is declare -p with names.
func printNamedVariables(sh *interp, names []string) int {
	st := 0
	var b strings.Builder
	for _, n := range names {
		slot := sh.m.lib.symbols.known(n)
		var c *cell
		if slot >= 0 {
			c = sh.cell(slot)
		}
		if c == nil {
			st = sh.fail("%s: not found", n)
			continue
		}
		b.WriteString(sh.declareText(slot, c) + "\n")
	}
	return max(st, sh.outString(b.String()))
}

// declareText is the declare command that makes the variable.
func (v *variables) declareText(slot int, c *cell) string {
	letters := c.letters()
	if letters == "" {
		letters = "-"
	}
	s := "declare -" + letters + " " + v.sh.m.lib.symbols.name(slot)
	if value, ok := v.valueText(c); ok {
		s += "=" + value
	}
	return s
}

// valueText is the value as declare -p shows it.
func (v *variables) valueText(c *cell) (string, bool) {
	switch {
	case c.attr&attrDynamic != 0 && c.dyn.list != nil:
		return v.listText(v.sh.computeList(c.dyn)), true
	case c.attr&attrArray != 0:
		if c.attr&attrSet == 0 {
			return "", false
		}
		var b strings.Builder
		b.WriteByte('(')
		for j := range c.arr.Len() {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString("[" + strconv.FormatInt(c.arr.Key(j), 10) + "]=" + quote.Value(v.sh.locale(), c.arr.List()[j]))
		}
		b.WriteByte(')')
		return b.String(), true
	case c.attr&attrAssoc != 0:
		if c.attr&attrSet == 0 {
			return "", false
		}
		var b strings.Builder
		b.WriteByte('(')
		for _, k := range c.assoc.Keys(v.epoch) {
			value, _ := c.assoc.At(k)
			b.WriteString("[" + quote.Key(v.sh.locale(), k) + "]=" + quote.Value(v.sh.locale(), value) + " ")
		}
		b.WriteByte(')')
		return b.String(), true
	case !c.isSet():
		return "", false
	}
	return quote.Value(v.sh.locale(), v.text(c)), true
}

func (v *variables) listText(list []string) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("[" + itoa(i) + "]=" + quote.Value(v.sh.locale(), s))
	}
	b.WriteByte(')')
	return b.String()
}

// printVariables lists the variables with the attributes: all as "name=value" when there are none.
func (d *declaration) printVariables(want attr) int {
	if want == 0 && !d.print && d.del == 0 {
		return max(printAllVariables(d.sh), 0)
	}
	var b strings.Builder
	for _, n := range d.sh.allNames() {
		slot := d.sh.m.lib.symbols.known(n)
		c := d.sh.cell(slot)
		if c.attr&want != want && (want != attrArray || c.attr&attrDynamic == 0 || c.dyn.list == nil) {
			continue
		}
		if d.sh.opt&option.Posix != 0 && (d.isExport || d.isReadonly) {
			word := "export"
			if d.isReadonly {
				word = "readonly"
			}
			s := word + " " + n
			if v, ok := d.sh.valueText(c); ok {
				s += "=" + v
			}
			b.WriteString(s + "\n")
			continue
		}
		b.WriteString(d.sh.declareText(slot, c) + "\n")
	}
	return d.sh.outString(b.String())
}

// allNames returns the names of variables, sorted; those that only an attribute makes known too.
func (v *variables) allNames() []string {
	var list []string
	for slot, c := range v.vars {
		if c != nil && c.attr&^(attrLocal|attrTemp) != 0 && (c.attr&attrDynamic == 0 || !c.dyn.quiet) {
			list = append(list, v.sh.m.lib.symbols.name(slot))
		}
	}
	sortStrings(list)
	return list
}

// printAllVariables is set without arguments.
func printAllVariables(sh *interp) int {
	var b strings.Builder
	for _, n := range sh.allNames() {
		c := sh.cell(sh.m.lib.symbols.known(n))
		switch {
		case c.attr&(attrArray|attrAssoc) != 0, c.attr&attrDynamic != 0 && c.dyn.list != nil:
			if v, ok := sh.valueText(c); ok {
				b.WriteString(n + "=" + v + "\n")
			}
		case c.isSet():
			b.WriteString(n + "=" + quote.Assigned(sh.locale(), sh.text(c)) + "\n")
		}
	}
	if sh.opt&option.Posix == 0 {
		for _, f := range sh.sortedFuncs() {
			b.WriteString(f.text() + "\n")
		}
	}
	return sh.outString(b.String())
}

// printLocalVariables is local without arguments.
func printLocalVariables(sh *interp) int {
	var names []string
	for _, s := range sh.saved[sh.localBase():] {
		if !s.temp {
			names = append(names, sh.m.lib.symbols.name(s.slot))
		}
	}
	sortStrings(names)
	var b strings.Builder
	for _, n := range names {
		c := sh.cell(sh.m.lib.symbols.known(n))
		if c == nil || !c.visible() {
			continue
		}
		b.WriteString(sh.declareText(sh.m.lib.symbols.known(n), c) + "\n")
	}
	return sh.outString(b.String())
}

func runUnsetBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "fnv")
	if st >= 0 {
		return st
	}
	var want unsetting
	for _, f := range list {
		switch f.c {
		case 'f':
			want.funcs = true
		case 'v':
			want.vars = true
		case 'n':
			want.ref = true
		}
	}
	if want.funcs && want.vars {
		return sh.fail("cannot simultaneously unset a function and a variable")
	}
	st = 0
	for _, name := range rest {
		if !unsetName(sh, name, want) {
			st = 1
		}
	}
	return st
}

// unsetting selects the names that unset removes.
type unsetting struct {
	funcs bool // -f: only functions
	vars  bool // -v: only variables
	ref   bool // -n: a reference itself
}

// unsetName removes a variable or function; false: it is read-only, and the message is written.
func unsetName(sh *interp, name string, want unsetting) bool {
	base, sub, elem := splitSubscript(name)
	if want.funcs {
		return sh.unsetFunction(name)
	}
	if !isName(base) {
		if !want.vars && !elem {
			return sh.namedFunction(name) == nil || sh.unsetFunction(name)
		}
		sh.fail("`%s': not a valid identifier", name)
		return false
	}
	slot := sh.slot(base)
	if !want.ref {
		pl, ok := sh.follow(slot)
		if ok && pl.slot != slot {
			slot = pl.slot
			if pl.elem && !elem {
				sub, elem = pl.sub, true
			}
		}
	}
	c := sh.cell(slot)
	if elem {
		return unsetElement(sh, slot, c, base, sub)
	}
	if c == nil || c.attr&^attrLocal == 0 {
		if !want.vars && sh.namedFunction(name) != nil {
			return sh.unsetFunction(name)
		}
		if c == nil {
			return true
		}
	}
	if !sh.unsetVar(slot) {
		sh.fail("%s: cannot unset: readonly variable", base)
		return false
	}
	if slot == slotPOSIXLY {
		sh.opt &^= option.Posix
	}
	return true
}

func (sh *interp) unsetFunction(name string) bool {
	f := sh.namedFunction(name)
	if f == nil {
		return true
	}
	if f.readonly {
		sh.fail("%s: cannot unset: readonly function", name)
		return false
	}
	sh.setFunction(sh.slot(name), nil)
	return true
}

func unsetElement(sh *interp, slot int, c *cell, name, sub string) bool {
	switch {
	case c == nil:
		return true
	case c.attr&attrReadonly != 0:
		sh.fail("%s: cannot unset: readonly variable", name)
		return false
	case c.attr&attrAssoc != 0:
		key := sub
		if sub != "@" && sub != "*" || sh.hasKey(c, sub) {
			if key != "@" && key != "*" {
				key = sh.expandText(sub)
			}
			c = sh.own(slot)
			if v, ok := c.assoc.At(key); ok {
				sh.table(c).Unset(key)
				sh.chargeCell(c, -keyWeight-len(key)-len(v))
			}
			return true
		}
		return sh.unsetVar(slot)
	case strings.TrimSpace(sub) == "":
		return true
	case sub == "@" || sub == "*":
		if c.attr&attrArray == 0 {
			return sh.unsetVar(slot)
		}
		c = sh.own(slot)
		sh.empty(c)
		c.arr = array.NewIndexed(nil, sh.epoch)
		return true
	}
	i, ok := sh.subscriptText(sub)
	if !ok {
		return false
	}
	if c.attr&attrArray == 0 {
		if i == 0 || i == -1 {
			return sh.unsetVar(slot)
		}
		sh.fail("%s: not an array variable", name)
		return false
	}
	if i < 0 {
		if i += c.arr.End(); i < 0 {
			sh.fail("[%s]: bad array subscript", strings.TrimSpace(sub))
			return false
		}
	}
	if v, ok := c.arr.At(i); ok {
		c = sh.own(slot)
		a := sh.array(c)
		if !sh.spend(a.Moves(i)) {
			return false
		}
		a.Unset(i)
		sh.chargeCell(c, -elemWeight-len(v))
	}
	return true
}

func (v *cells) hasKey(c *cell, key string) bool {
	_, ok := c.assoc.At(key)
	return ok
}

func runLetBuiltin(sh *interp, args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return sh.fail("expression expected")
	}
	var n int64
	for _, a := range args {
		var ok bool
		if n, ok = sh.arithText(a); !ok {
			return 1
		}
	}
	if n == 0 {
		return 1
	}
	return 0
}
