package shell

import (
	"math"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// text returns the value of a scalar; of an array that of element 0.
func (v *variables) text(c *cell) string {
	switch {
	case c.attr&(attrNoText|attrDynamic|attrArray|attrAssoc) == 0:
		return c.str
	case c.attr&attrNoText != 0:
		s := strconv.FormatInt(c.num, 10)
		if c.epoch == v.epoch {
			c.str, c.room = s, 0
			c.attr &^= attrNoText
		}
		return s
	case c.attr&attrDynamic != 0:
		return v.sh.computeText(c.dyn)
	case c.attr&attrArray != 0:
		s, _ := c.arr.At(0)
		return s
	}
	s, _ := c.assoc.At("0")
	return s
}

// grow appends to a plain variable, in place when the array of the string has room
// that only it can see. False: the memory does not suffice.
func (v *variables) grow(c *cell, s string) bool {
	old := v.text(c)
	n := len(old) + len(s)
	if n < 64 {
		return v.setText(c, old+s)
	}
	var b []byte
	if c.room > len(old) && c.attr&attrNoText == 0 {
		// The bytes behind len(old) belong to no other string: room is 0 in each copy of a cell.
		b = unsafe.Slice(unsafe.StringData(old), c.room)[:len(old)]
	}
	if b == nil || cap(b) < n {
		if !v.chargeCell(c, textWeight(2*n)-c.charged) {
			return false
		}
		b = append(make([]byte, 0, 2*n), old...)
	}
	b = append(b, s...)
	c.str = unsafe.String(unsafe.SliceData(b), len(b))
	c.room = cap(b)
	c.attr = c.attr&^(attrNum|attrNoText) | attrSet
	return true
}

// array returns the elements for writing.
func (v *cells) array(c *cell) *array.Indexed {
	switch {
	case c.arr == nil:
		c.arr = array.NewIndexed(nil, v.epoch)
	case c.arr.Epoch != v.epoch:
		c.arr = c.arr.Clone(v.epoch)
		v.recharge(c)
	}
	return c.arr
}

// table returns the elements of an associative array for writing.
func (v *cells) table(c *cell) *array.Assoc {
	switch {
	case c.assoc == nil:
		c.assoc = array.NewAssoc(v.epoch)
	case c.assoc.Epoch != v.epoch:
		c.assoc = c.assoc.Clone(v.epoch)
		v.recharge(c)
	}
	return c.assoc
}

// variables reads and assigns the values of cells: texts, numbers, elements, references and computed ones.
type variables struct{ cells }

// settings are the variables that the shell itself obeys, such as LC_ALL, TZ, PWD and SHELLOPTS.
type settings struct{ variables }

// place is the storage of a value: a variable, or an element of one.
type place struct {
	slot  int
	sub   string // the subscript as written, when elem
	elem  bool
	whole bool // "@" or "*": every element
}

// maxRefs bounds a chain of references.
const maxRefs = 8

// follow returns the target of a reference, or the variable itself when it is not a reference. False: the
// references go in a circle or name nothing that can be a variable.
func (v *variables) follow(slot int) (place, bool) {
	for range maxRefs {
		c := v.cell(slot)
		if c == nil || c.attr&attrRef == 0 || c.attr&attrSet == 0 {
			return place{slot: slot}, true
		}
		target := c.str
		name, sub, elem := splitSubscript(target)
		if !isName(name) {
			return place{slot: slot}, false
		}
		slot = v.sh.slot(name)
		if elem {
			return place{slot: slot, sub: sub, elem: true, whole: sub == "@" || sub == "*"}, true
		}
	}
	v.warnCircular(slot)
	return place{slot: slot}, false
}

func (v *variables) warnCircular(slot int) {
	v.sh.errorf("warning: %s: circular name reference", v.sh.m.lib.symbols.name(slot))
}

// splitSubscript cuts "a[i]" into its name and the text in the brackets.
func splitSubscript(s string) (name, sub string, elem bool) {
	if i := strings.IndexByte(s, '['); i > 0 && s[len(s)-1] == ']' {
		return s[:i], s[i+1 : len(s)-1], true
	}
	return s, "", false
}

// value returns $name, and whether it is set.
func (v *variables) value(slot int) (string, bool) {
	c := v.cell(slot)
	if c == nil {
		return "", false
	}
	if c.attr&(attrSet|attrNoText|attrRef|attrArray|attrAssoc|attrDynamic) == attrSet {
		return c.str, true
	}
	if c.attr&attrRef != 0 {
		pl, ok := v.follow(slot)
		if !ok {
			return "", false
		}
		if pl.elem {
			return v.element(pl)
		}
		if c = v.cell(pl.slot); c != nil && c.attr&attrRef != 0 {
			return "", false
		}
	}
	if !c.isSet() {
		return "", false
	}
	return v.text(c), true
}

// get returns the variable's value, "" when it is unset.
func (v *variables) get(slot int) string {
	s, _ := v.value(slot)
	return s
}

// assign sets a variable. False: it is not allowed, and the message is written.
func (v *variables) assign(slot int, s string) bool {
	c := v.cell(slot)
	if c != nil && c.epoch == v.epoch && c.attr&attrNotPlain == 0 && v.sh.opt&option.AllExport == 0 {
		if len(s) >= lightText || c.charged != 0 {
			return v.setText(c, s)
		}
		c.store(s)
		return true
	}
	return v.assignTo(place{slot: slot}, s, false)
}

// assignInt sets a variable to a number without making its text.
func (v *variables) assignInt(slot int, n int64) bool {
	c := v.cell(slot)
	if c != nil && c.epoch == v.epoch && c.attr&(attrNotPlain&^attrInteger) == 0 && v.sh.opt&option.AllExport == 0 {
		c.storeInt(n)
		return true
	}
	return v.assignTo(place{slot: slot}, strconv.FormatInt(n, 10), false)
}

// assignTo sets the target of the place, honouring references and attributes.
func (v *variables) assignTo(pl place, s string, more bool) bool {
	if !pl.elem {
		if c := v.cell(pl.slot); c != nil && c.attr&attrRef != 0 {
			if c.attr&attrSet == 0 || c.str == "" {
				return v.retarget(pl.slot, s)
			}
			target, ok := v.follow(pl.slot)
			if !ok {
				return false
			}
			pl = target
		}
	}
	if pl.elem {
		return v.assignElem(pl, s, more)
	}
	if c := v.cell(pl.slot); c != nil && c.attr&attrReadonly != 0 {
		v.readonlyError(pl.slot)
		return false
	}
	c := v.own(pl.slot)
	if v.sh.opt&option.AllExport != 0 {
		c.attr |= attrExport
	}
	if c.attr&attrDynamic != 0 {
		v.assignDynamic(pl.slot, c, s, more)
		return true
	}
	old := ""
	if more && c.isSet() {
		old = v.text(c)
	}
	value, ok := v.convert(c, old, s, more)
	if !ok {
		return false
	}
	switch {
	case c.attr&attrArray != 0:
		return v.setIndex(c, 0, value)
	case c.attr&attrAssoc != 0:
		return v.setKey(c, "0", value)
	case more && c.attr&(attrInteger|attrLower|attrUpper|attrCapital) == 0:
		if !v.grow(c, s) {
			return false
		}
	default:
		if !v.setText(c, value) {
			return false
		}
	}
	if pl.slot == slotPOSIXLY {
		v.sh.opt |= option.Posix
	}
	return true
}

// convert applies the attributes to a new value, which is appended to old if more is set.
func (v *variables) convert(c *cell, old, s string, more bool) (string, bool) {
	if c.attr&attrInteger != 0 {
		n, ok := v.sh.arithText(s)
		if !ok {
			v.sh.arithAbort()
			return "", false
		}
		if more {
			m, ok := v.sh.arithText(old)
			if !ok {
				v.sh.arithAbort()
				return "", false
			}
			n += m
		}
		return strconv.FormatInt(n, 10), true
	}
	if more {
		if c.attr&(attrLower|attrUpper|attrCapital|attrArray|attrAssoc) != 0 {
			s = old + s
		}
	}
	switch {
	case c.attr&attrLower != 0:
		s = toLower(s)
	case c.attr&attrUpper != 0:
		s = toUpper(s)
	case c.attr&attrCapital != 0:
		s = capitalize(s)
	}
	return s, true
}

// retarget gives a reference that has none its target.
func (v *variables) retarget(slot int, s string) bool {
	name, _, _ := splitSubscript(s)
	if s != "" && !isName(name) {
		v.sh.errorf("`%s': not a valid identifier", s)
		return false
	}
	if name == v.sh.m.lib.symbols.name(slot) {
		v.sh.errorf("warning: %s: circular name reference", name)
		return false
	}
	return v.setText(v.own(slot), s)
}

func (v *variables) readonlyError(slot int) {
	v.sh.errorf("%s: readonly variable", v.sh.m.lib.symbols.name(slot))
}

// isAssoc reports whether the variable, or its target, is an associative array.
func (v *variables) isAssoc(slot int) bool {
	c := v.cell(slot)
	if c != nil && c.attr&attrRef != 0 {
		if pl, ok := v.follow(slot); ok && !pl.elem {
			c = v.cell(pl.slot)
		}
	}
	return c != nil && c.attr&attrAssoc != 0
}

// element returns ${name[sub]} for a subscript as text, which is expanded.
func (v *variables) element(pl place) (string, bool) {
	c := v.cell(pl.slot)
	if pl.whole {
		list := v.elements(pl.slot)
		return strings.Join(list, " "), len(list) > 0
	}
	if c != nil && c.attr&attrAssoc != 0 {
		key := v.sh.expandText(pl.sub)
		return c.assoc.At(key)
	}
	i, ok := v.sh.subscriptText(pl.sub)
	if !ok {
		return "", false
	}
	return v.indexedAt(pl.slot, c, i)
}

// indexedAt returns element i of a variable that is not associative; a negative one counts from the end.
func (v *variables) indexedAt(slot int, c *cell, i int64) (string, bool) {
	if c != nil && c.attr&attrRef != 0 {
		pl, ok := v.follow(slot)
		if !ok || pl.elem {
			return "", false
		}
		slot, c = pl.slot, v.cell(pl.slot)
	}
	if c == nil {
		return "", false
	}
	if c.attr&attrDynamic != 0 && c.dyn.list != nil {
		list := v.sh.computeList(c.dyn)
		if i < 0 {
			i += int64(len(list))
		}
		if i < 0 || i >= int64(len(list)) {
			return "", false
		}
		return list[i], true
	}
	if c.attr&attrArray == 0 {
		if i < 0 {
			i++
		}
		if i == 0 && c.isSet() {
			return v.text(c), true
		}
		if i < 0 {
			v.badSubscript(slot)
		}
		return "", false
	}
	if i < 0 {
		if i += c.arr.End(); i < 0 {
			v.badSubscript(slot)
			return "", false
		}
	}
	return c.arr.At(i)
}

func (v *variables) badSubscript(slot int) {
	v.sh.errorf("%s: bad array subscript", v.sh.m.lib.symbols.name(slot))
}

// elements returns all values of a variable; the list must not be changed.
func (v *variables) elements(slot int) []string {
	c := v.cell(slot)
	if c != nil && c.attr&attrRef != 0 {
		pl, ok := v.follow(slot)
		if !ok {
			return nil
		}
		if pl.elem && !pl.whole {
			if s, ok := v.element(pl); ok {
				return []string{s}
			}
			return nil
		}
		c = v.cell(pl.slot)
	}
	switch {
	case c == nil:
		return nil
	case c.attr&attrDynamic != 0 && c.dyn.list != nil:
		return v.sh.computeList(c.dyn)
	case c.attr&attrArray != 0:
		return c.arr.List()
	case c.attr&attrAssoc != 0:
		keys := c.assoc.Keys(v.epoch)
		list := make([]string, len(keys))
		for i, k := range keys {
			list[i], _ = c.assoc.At(k)
		}
		return list
	case c.isSet():
		return []string{v.text(c)}
	}
	return nil
}

// keys returns the subscripts of a variable.
func (v *variables) keys(slot int) []string {
	c := v.cell(slot)
	if c != nil && c.attr&attrRef != 0 {
		pl, ok := v.follow(slot)
		if !ok || pl.elem {
			return nil
		}
		c = v.cell(pl.slot)
	}
	switch {
	case c == nil:
		return nil
	case c.attr&attrAssoc != 0:
		return c.assoc.Keys(v.epoch)
	case c.attr&attrDynamic != 0 && c.dyn.list != nil:
		return indexTexts(len(v.sh.computeList(c.dyn)))
	case c.attr&attrArray != 0:
		list := make([]string, c.arr.Len()) // bounded: by the array, whose elements are charged
		for j := range list {
			list[j] = strconv.FormatInt(c.arr.Key(j), 10)
		}
		return list
	case c.isSet():
		return []string{"0"}
	}
	return nil
}

func indexTexts(n int) []string {
	list := make([]string, n) // bounded: by the list of which these are the indexes
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return list
}

// isName reports whether s can be a variable's name.
func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// maxIndex bounds subscripts as bash's int does not: one element at a high index takes no room.
const maxIndex = math.MaxInt64

// assignElem sets an element; pl.sub is expanded as a key or evaluated as a number.
func (v *variables) assignElem(pl place, s string, more bool) bool {
	if v.isAssoc(pl.slot) {
		return v.assignKey(pl.slot, v.sh.expandText(pl.sub), s, more)
	}
	if pl.whole {
		v.sh.errorf("%s[%s]: bad array subscript", v.sh.m.lib.symbols.name(pl.slot), pl.sub)
		return false
	}
	i, ok := v.sh.subscriptText(pl.sub)
	return ok && v.assignIndex(pl.slot, i, s, more, pl.sub)
}

// writable returns the cell behind references for an element to be written, nil when
// that must not be.
func (v *variables) writable(slot int) (int, *cell) {
	if c := v.cell(slot); c != nil && c.attr&attrRef != 0 && c.attr&attrSet == 0 {
		v.sh.errorf("warning: %s: removing nameref attribute", v.sh.m.lib.symbols.name(slot))
		v.own(slot).attr &^= attrRef
	}
	if c := v.cell(slot); c != nil && c.attr&attrRef != 0 {
		pl, ok := v.follow(slot)
		if !ok {
			return slot, nil
		}
		if pl.elem {
			v.sh.errorf("`%s': not a valid identifier", c.str)
			return slot, nil
		}
		slot = pl.slot
	}
	if c := v.cell(slot); c != nil && c.attr&attrReadonly != 0 {
		v.readonlyError(slot)
		return slot, nil
	}
	c := v.own(slot)
	if v.sh.opt&option.AllExport != 0 {
		c.attr |= attrExport
	}
	return slot, c
}

// assignIndex sets element i, making the variable an array.
func (v *variables) assignIndex(slot int, i int64, s string, more bool, sub string) bool {
	slot, c := v.writable(slot)
	if c == nil {
		return false
	}
	if c.attr&attrDynamic != 0 {
		if c.dyn.setAt != nil {
			v.sh.assignComputedAt(c.dyn, i, s)
		}
		return true
	}
	v.makeArray(c)
	a := v.array(c)
	if i < 0 {
		i += a.End()
	}
	if i < 0 || i > maxIndex {
		v.sh.errorf("%s[%s]: bad array subscript", v.sh.m.lib.symbols.name(slot), sub)
		return false
	}
	old, _ := a.At(i)
	value, ok := v.convert(c, old, s, more)
	return ok && v.setIndex(c, i, value)
}

// setIndex stores an element of an array.
func (v *cells) setIndex(c *cell, i int64, value string) bool {
	a := v.array(c)
	old, ok := a.At(i)
	n := len(value) - len(old)
	if !ok {
		n += elemWeight
	}
	if !v.chargeCell(c, n) || !v.sh.spend(a.Moves(i)) {
		return false
	}
	a.Set(i, value)
	c.attr |= attrSet
	return true
}

// setKey stores an element of an associative array.
func (v *cells) setKey(c *cell, key, value string) bool {
	t := v.table(c)
	old, ok := t.At(key)
	n := len(value) - len(old)
	if !ok {
		n += keyWeight + len(key)
	}
	if !v.chargeCell(c, n) {
		return false
	}
	t.Set(key, value)
	c.attr |= attrSet
	return true
}

// makeArray turns a scalar into an array with that element.
func (v *variables) makeArray(c *cell) {
	if c.attr&(attrArray|attrAssoc) != 0 {
		return
	}
	if c.isSet() {
		s := v.text(c)
		v.array(c).Set(0, s)
		v.chargeCell(c, elemWeight+len(s)-c.charged)
	} else {
		c.arr = array.NewIndexed(nil, v.epoch)
	}
	c.str, c.room = "", 0
	c.attr = c.attr&^(attrNum|attrNoText) | attrArray
}

// assignKey sets an element of an associative array.
func (v *variables) assignKey(slot int, key, s string, more bool) bool {
	slot, c := v.writable(slot)
	if c == nil {
		return false
	}
	if key == "" {
		v.sh.errorf("%s[%s]: bad array subscript", v.sh.m.lib.symbols.name(slot), key)
		return false
	}
	t := v.table(c)
	old, _ := t.At(key)
	value, ok := v.convert(c, old, s, more)
	return ok && v.setKey(c, key, value)
}

// setList makes the variable an array of the values.
func (v *variables) setList(slot int, list []string) bool {
	_, c := v.writable(slot)
	if c == nil {
		return false
	}
	n := 0
	for _, s := range list {
		n += elemWeight + len(s)
	}
	if !v.chargeCell(c, n-c.charged) {
		return false
	}
	c.str, c.room, c.assoc = "", 0, nil
	c.arr = array.NewIndexed(list, v.epoch)
	c.attr = c.attr&^(attrNum|attrNoText|attrAssoc|attrDynamic) | attrArray | attrSet
	return true
}

// recharge charges for all elements of an array that this process has just made its own.
func (v *cells) recharge(c *cell) { v.chargeCell(c, c.weight()-c.charged) }

// empty takes all elements, and the text, from a variable.
func (v *cells) empty(c *cell) {
	v.chargeCell(c, -c.charged)
	c.str, c.room, c.arr, c.assoc = "", 0, nil, nil
}

// bytewise reports whether characters are bytes: the locale is C. Without one they are UTF-8.
func (v *settings) bytewise() bool {
	for _, slot := range [...]int{slotLCALL, slotLCCTYPE, slotLANG} {
		if s := v.get(slot); s != "" {
			return s == "C" || s == "POSIX"
		}
	}
	return false
}

// locale returns the locale of LC_ALL, LC_CTYPE and LANG.
func (v *settings) locale() char.Locale { return char.Locale{Bytes: v.bytewise()} }

// encoded returns the character with a number, as \u and \U write it.
func (v *settings) encoded(value uint32) []byte { return v.locale().Encode(value) }

// runeCount counts characters; a byte that belongs to none counts as one.
func (v *settings) runeCount(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			if v.bytewise() {
				break
			}
			return utf8.RuneCountInString(s)
		}
	}
	return len(s)
}

// quoteShell quotes as ${x@Q} does.
func (v *settings) quoteShell(s string) string { return quote.Shell(v.locale(), s) }

// chargeCell charges n more bytes for a variable.
func (v *cells) chargeCell(c *cell, n int) bool {
	if !v.sh.charge(n) {
		return false
	}
	c.charged += n
	return true
}

// setText stores the value of a plain variable.
func (v *cells) setText(c *cell, s string) bool {
	if n := textWeight(len(s)); n != c.charged && !v.chargeCell(c, n-c.charged) {
		return false
	}
	c.store(s)
	return true
}

// initVars sets the variables that a shell has from the start.
func (v *settings) initVars(shlvl int) {
	sym := v.sh.m.lib.symbols
	set := func(name, value string, a attr) {
		c := &cell{epoch: v.epoch, attr: a}
		c.store(value)
		v.put(sym.slot(name), c)
	}
	unset := func(name, value string) {
		if c := v.cell(sym.slot(name)); c == nil {
			set(name, value, 0)
		}
	}
	set("IFS", " \t\n", 0)
	unset("PS4", "+ ")
	set("OPTIND", "1", 0)
	set("OPTERR", "1", 0)
	unset("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	unset("TERM", "dumb")
	if n, err := strconv.Atoi(v.get(slotSHLVL)); err == nil {
		shlvl = n + 1
	}
	if v.sh.opt&option.Posix == 0 {
		unset("SHELL", "/bin/bash")
	}
	set("SHLVL", strconv.Itoa(shlvl), attrExport)
	set("BASH", "/bin/bash", 0)
	set("BASH_VERSION", bashVersion, 0)
	unset("HOSTNAME", v.sh.m.hostname)
	unset("HOSTTYPE", "x86_64")
	unset("OSTYPE", "linux-gnu")
	unset("MACHTYPE", machineType)
	set("UID", strconv.Itoa(int(v.sh.cred.UID)), attrReadonly|attrInteger)
	set("EUID", strconv.Itoa(int(v.sh.cred.UID)), attrReadonly|attrInteger)
	set("PPID", strconv.Itoa(v.sh.p.PPID), attrReadonly|attrInteger)
	set("COMP_WORDBREAKS", " \t\n\"'><=;|&(:", 0)
	v.initPWD(set)
	v.put(sym.slot("BASH_VERSINFO"), &cell{
		epoch: v.epoch, attr: attrArray | attrSet | attrReadonly,
		arr: array.NewIndexed([]string{"5", "2", "15", "1", "release", machineType}, v.epoch),
	})
	for _, d := range v.sh.m.lib.dynamics {
		if c := v.cell(d.slot); c != nil && c.attr&attrExport != 0 && d.slot != slotUnderscore {
			if d.slot == slotSHELLOPTS || d.slot == slotBASHOPTS {
				v.inheritOptions(d, c.str)
			}
			continue
		}
		v.put(d.slot, d.cell)
	}
}

// inheritOptions turns on the options in SHELLOPTS or BASHOPTS of the environment.
func (v *settings) inheritOptions(d dynamicCell, list string) {
	for name := range strings.SplitSeq(list, ":") {
		if d.slot == slotSHELLOPTS {
			v.sh.opt |= option.ByName(name) &^ (option.Interactive | option.Monitor)
		} else {
			v.sh.shopt |= shopt.ByName(name)
		}
	}
	c := *d.cell
	c.epoch = v.epoch
	c.attr |= attrExport
	v.put(d.slot, &c)
}

// setCommandString sets BASH_EXECUTION_STRING to the script of -c.
func (v *settings) setCommandString(text string) {
	c := &cell{epoch: v.epoch}
	c.store(text)
	v.put(slotExecutionString, c)
}

// initPWD takes the directory's name from the environment when it is right.
func (v *settings) initPWD(set func(string, string, attr)) {
	pwd := v.get(slotPWD)
	named := false
	if pwd != "" && pwd[0] == '/' && path.Clean(pwd) == pwd {
		a, err1 := v.sh.m.fs.Stat(v.sh.cred, pwd)
		b, err2 := v.sh.m.fs.Stat(v.sh.cred, v.sh.dir)
		named = err1 == nil && err2 == nil && a.Ino == b.Ino
	}
	if named {
		v.sh.dir = pwd
	} else if real, err := v.sh.m.fs.Realpath(v.sh.cred, v.sh.dir); err == nil {
		v.sh.dir = real
	}
	set("PWD", v.sh.dir, attrExport)
	if c := v.cell(slotOLDPWD); c == nil {
		v.put(slotOLDPWD, &cell{epoch: v.epoch, attr: attrExport})
	}
}

// lookupEnv returns an exported variable.
func (v *variables) lookupEnv(name string) (string, bool) {
	slot := v.sh.m.lib.symbols.known(name)
	if slot < 0 {
		return "", false
	}
	if c := v.cell(slot); c != nil && c.attr&attrExport != 0 && c.attr&(attrArray|attrAssoc) == 0 && c.isSet() {
		return v.text(c), true
	}
	return "", false
}

// assignDynamic gives a computed variable a value.
func (v *variables) assignDynamic(slot int, c *cell, s string, more bool) {
	if more {
		s = v.text(c) + s
	}
	if c.dyn.set != nil {
		if c.dyn.attr&attrInteger != 0 {
			n, _ := v.sh.arithText(s)
			s = strconv.FormatInt(n, 10)
		}
		v.sh.assignComputed(c.dyn, s)
		return
	}
	if c.dyn.list == nil && c.dyn.attr&attrReadonly != 0 {
		v.readonlyError(slot)
	}
}
