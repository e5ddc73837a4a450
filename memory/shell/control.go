package shell

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/trap"
)

func runBreakBuiltin(sh *interp, args []string) int    { return leaveLoops(sh, args, ctlBreak) }
func runContinueBuiltin(sh *interp, args []string) int { return leaveLoops(sh, args, ctlContinue) }

// leaveLoops is break and continue.
func leaveLoops(sh *interp, args []string, c control) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	if sh.loops == 0 && sh.opt&option.Posix != 0 {
		return 0
	}
	if sh.loops == 0 {
		sh.fail("only meaningful in a `for', `while', or `until' loop")
		return 0
	}
	n := int64(1)
	if len(args) > 1 {
		var ok bool
		if n, ok = numberArg(args[1]); !ok {
			sh.fail("%s: numeric argument required", args[1])
			sh.exit(128)
			return 128
		}
		if len(args) > 2 {
			sh.fail("too many arguments")
			return sh.exit(1)
		}
	}
	if n <= 0 {
		sh.fail("%s: loop count out of range", args[1])
		sh.ctl, sh.ctlN = ctlBreak, sh.loops
		return 1
	}
	sh.ctl, sh.ctlN = c, int(min(n, int64(sh.loops)))
	return 0
}

// parseStatus is the operand of exit and return; ok is false when they must not go on.
func parseStatus(sh *interp, args []string) (st int, ok bool) {
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	if len(args) < 2 {
		return sh.status, true
	}
	n, valid := numberArg(args[1])
	if !valid {
		sh.fail("%s: numeric argument required", args[1])
		return 2, true
	}
	if len(args) > 2 {
		sh.fail("too many arguments")
		return 1, false
	}
	return int(n & 0xff), true
}

func runExitBuiltin(sh *interp, args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	st, ok := parseStatus(sh, args)
	if !ok {
		sh.abort()
		return 1
	}
	if sh.inFunction() && sh.inTrap == 0 && sh.traps.Owns(trap.Exit) {
		st = sh.runExitTrap(st) // It sees what the function made local.
	}
	return sh.exit(st)
}

func runLogoutBuiltin(sh *interp, args []string) int {
	if sh.shopt&shopt.LoginShell == 0 {
		return sh.fail("not login shell: use `exit'")
	}
	return runExitBuiltin(sh, args)
}

func runReturnBuiltin(sh *interp, args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	st, ok := parseStatus(sh, args)
	if !ok {
		sh.abort()
		return 1
	}
	if !sh.inFunction() && sh.sourceLevel == 0 {
		sh.fail("can only `return' from a function or sourced script")
		return 2
	}
	sh.status = st
	sh.ctl = ctlReturn
	return st
}

func runEvalBuiltin(sh *interp, args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		return sh.badOption(args[0][:2])
	}
	text := strings.Join(args, " ")
	if strings.TrimSpace(text) == "" {
		return 0
	}
	sh.evals++
	before := sh.builtinName
	sh.builtinName = ""
	st := sh.evalText(text, sh.line, "eval")
	sh.builtinName = before
	sh.evals--
	return st
}

// runSourceBuiltin is "." and source.
func runSourceBuiltin(sh *interp, args []string) int {
	_, rest, st := sh.parseOptions(args, "-")
	if st >= 0 {
		return st
	}
	if len(rest) == 0 {
		st := sh.usage(sh.usageText(), "filename argument required")
		if sh.opt&option.Posix != 0 && args[0] == "." {
			sh.exit(st)
		}
		return st
	}
	name := rest[0]
	if sh.isRestricted() && strings.Contains(name, "/") {
		return sh.fail("%s: restricted", name)
	}
	path, text, err := readSource(sh, name)
	if err != nil {
		switch {
		case strings.HasSuffix(Strerror(err), "directory") && Errno(err) == 21:
			sh.fail("%s: is a directory", name)
		case path == "" && !strings.Contains(name, "/"):
			sh.fail("%s: file not found", name)
		default:
			sh.errorf("%s: %s", name, Strerror(err))
		}
		if sh.opt&option.Posix != 0 && args[0] == "." {
			sh.exit(1)
		}
		return 1
	}
	return runSource(sh, path, text, rest)
}

// readSource finds the file in PATH, then here, and reads it.
func readSource(sh *interp, name string) (path, text string, err error) {
	if !strings.Contains(name, "/") && sh.shopt&shopt.SourcePath != 0 {
		for dir := range strings.SplitSeq(sh.get(slotPATH), ":") {
			if dir == "" {
				dir = "."
			}
			if p := strings.TrimSuffix(dir, "/") + "/" + name; sh.fileAt(p) {
				path = p
				break
			}
		}
	}
	if path == "" && (sh.opt&option.Posix == 0 || strings.Contains(name, "/")) {
		path = name
	}
	text, err = sh.readScript(path)
	if err != nil && !strings.Contains(name, "/") && sh.opt&option.Posix != 0 {
		path = ""
	}
	return path, text, err
}

func runSource(sh *interp, path, text string, rest []string) int {
	if strings.HasPrefix(text, stubMagic) {
		sh.fail("%s: cannot execute binary file", path)
		return 126
	}
	if !sh.deeper("source", 0) {
		return sh.status
	}
	sh.ownFrames()
	params, line, loops, base, builtin := sh.params, sh.line, sh.loops, sh.unitBase, sh.builtinName
	sh.frames = append(sh.frames, frame{name: "source", source: path, line: line, args: rest, saved: len(sh.saved)})
	own := []string(nil)
	replaced := sh.setParams
	sh.setParams = false
	if len(rest) > 1 {
		own = append([]string(nil), rest[1:]...)
		sh.params = own
	}
	charged := sh.paramsCharged
	sh.paramsCharged = 0
	sh.sourceLevel++
	sh.evals++
	sh.builtinName = ""
	sh.unitBase = sh.noErrExit
	sh.status = 0
	st := sh.runText(text, 1, "")
	if sh.ctl == ctlReturn {
		sh.ctl = ctlNone
		st = sh.status
	}
	if sh.hasTrap(trap.Return) && sh.ctl == ctlNone {
		sh.status = st
		sh.runReturnTrap()
	}
	sh.evals--
	sh.sourceLevel--
	sh.unitBase, sh.loops, sh.line, sh.builtinName = base, loops, line, builtin
	if len(rest) > 1 && (!sh.setParams || sh.inFunction()) {
		sh.params = params
		sh.charge(-sh.paramsCharged)
		sh.paramsCharged = charged
	} else if sh.paramsCharged == 0 {
		sh.paramsCharged = charged
	} else {
		sh.charge(-charged)
	}
	sh.setParams = replaced || sh.setParams && len(rest) <= 1
	sh.frames = sh.frames[:len(sh.frames)-1]
	sh.shallower(0)
	return st
}

// runExecBuiltin is the exec builtin with a command.
func runExecBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "cla:")
	if st >= 0 {
		return st
	}
	if len(rest) == 0 {
		return 0
	}
	if sh.isRestricted() {
		return sh.fail("restricted")
	}
	name, clean, login := rest[0], false, ""
	for _, f := range list {
		switch f.c {
		case 'a':
			name = f.arg
		case 'c':
			clean = true
		case 'l':
			login = "-"
		}
	}
	c, path, err := sh.findCommand(rest[0])
	if err != nil {
		st := 127
		if Errno(err) != 2 {
			st = 126
		}
		if st == 127 && !strings.Contains(rest[0], "/") {
			sh.fail("%s: not found", rest[0])
		} else {
			sh.fail("%s: cannot execute: %s", rest[0], Strerror(err))
		}
		if sh.shopt&shopt.ExecFail != 0 {
			return st
		}
		return sh.exit(st)
	}
	argv := append([]string(nil), rest...)
	argv[0] = login + name
	sh.traps.Clear()
	sh.sole = true
	if sh.ownProcess {
		sh.show(strings.Join(argv, " "))
	}
	if clean {
		sh.vars, sh.varsShared = nil, false
	}
	st = sh.runProgram(c, path, argv)
	if sh.ctl == ctlNone {
		sh.exit(st)
	}
	return sh.status
}

func runShiftBuiltin(sh *interp, args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	n := int64(1)
	if len(args) > 1 {
		var ok bool
		if n, ok = numberArg(args[1]); !ok {
			return sh.fail("%s: numeric argument required", args[1])
		}
		if len(args) > 2 {
			sh.fail("too many arguments")
			sh.abort()
			return 1
		}
	}
	if n < 0 {
		sh.fail("%s: shift count out of range", args[1])
		return 1
	}
	if n > int64(len(sh.params)) {
		if sh.shopt&shopt.ShiftVerbose != 0 {
			sh.fail("%d: shift count out of range", n)
		}
		return 1
	}
	sh.params = sh.params[n:]
	return 0
}

// runCallerBuiltin returns the position of the running function's call.
func runCallerBuiltin(sh *interp, args []string) int {
	n := 0
	if len(args) > 1 {
		v, ok := numberArg(args[1])
		if !ok || v < 0 {
			return sh.usage(sh.usageText(), "%s: invalid number", args[1])
		}
		n = int(v)
	}
	lines, sources, names := sh.callLines(), sh.sources(), sh.funcNames()
	if len(sh.frames) == 0 || n >= len(sh.frames) || len(args) > 1 && n+1 >= len(names) {
		return 1
	}
	source := "NULL"
	if n+1 < len(sources) {
		source = sources[n+1]
	}
	if n+1 >= len(names) && sh.script == "" && len(args) > 1 && n > 0 {
		return 1
	}
	if len(args) == 1 {
		return sh.outString(lines[0] + " " + source + "\n")
	}
	name := "main"
	if n+1 < len(names) {
		name = names[n+1]
	}
	return sh.outString(lines[n] + " " + name + " " + source + "\n")
}

func (c *compiler) ifClause(n *syntax.If) command {
	conds := make([]command, len(n.Conds))
	thens := make([]command, len(n.Conds))
	for i := range n.Conds {
		conds[i], thens[i] = c.list(n.Conds[i]), c.list(n.Thens[i])
	}
	var otherwise command
	if n.Else != nil {
		otherwise = c.list(n.Else)
	}
	return func(sh *interp) int {
		for i, cond := range conds {
			sh.noErrExit++
			st := cond(sh)
			sh.noErrExit--
			if sh.ctl != ctlNone {
				return st
			}
			if st == 0 {
				return thens[i](sh)
			}
		}
		if otherwise != nil {
			return otherwise(sh)
		}
		sh.status = 0
		return 0
	}
}

func (c *compiler) loop(n *syntax.Loop) command {
	cond, body, until := c.list(n.Cond), c.list(n.Body), n.Until
	return func(sh *interp) int {
		sh.loops++
		st := 0
		for sh.tick() {
			sh.noErrExit++
			cs := cond(sh)
			sh.noErrExit--
			if sh.ctl != ctlNone {
				if sh.leaveLoop() {
					break
				}
				continue
			}
			if (cs == 0) == until {
				break
			}
			if st = body(sh); sh.ctl != ctlNone && sh.leaveLoop() {
				break
			}
		}
		sh.loops--
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return sh.status
	}
}

func (c *compiler) forLoop(n *syntax.For, line int) command {
	body := c.list(n.Body)
	words := c.words(n.Words)
	name, in := n.Name, n.In
	valid := isName(name)
	slot := 0
	if valid {
		slot = c.lib.symbols.slot(name)
	}
	text := forHead(n)
	return func(sh *interp) int {
		sh.line = line
		if !valid {
			sh.errorf("`%s': not a valid identifier", name)
			sh.status = 1
			return 1
		}
		base, undo := len(sh.stack), len(sh.undo)
		if in {
			for _, w := range words {
				if sh.fields(w); sh.ctl != ctlNone {
					sh.stack = sh.stack[:base]
					sh.undoRedirs(undo)
					return sh.status
				}
			}
		} else {
			sh.pushAll(sh.params)
		}
		list := sh.stack[base:]
		sh.loops++
		st := 0
		for i := range list {
			if !sh.tick() {
				break
			}
			if sh.traced(line, text) && sh.ctl != ctlNone {
				break
			}
			if sh.opt&option.XTrace != 0 {
				sh.xtrace(text())
			}
			if !sh.assignLoop(slot, list[i]) {
				st = 1
				break
			}
			if st = body(sh); sh.ctl != ctlNone && sh.leaveLoop() {
				break
			}
		}
		sh.loops--
		clear(sh.stack[base:])
		sh.stack = sh.stack[:base]
		sh.undoRedirs(undo)
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return sh.status
	}
}

// assignLoop sets the variable of a loop; a reference is pointed at each name in turn.
func (v *variables) assignLoop(slot int, s string) bool {
	if c := v.cell(slot); c != nil && c.attr&attrRef != 0 {
		name, _, _ := splitSubscript(s)
		if !isName(name) {
			v.sh.errorf("`%s': not a valid identifier", s)
			return false
		}
		return v.setText(v.own(slot), s)
	}
	if c := v.cell(slot); c != nil && c.attr&attrReadonly != 0 {
		v.readonlyError(slot)
		return false
	}
	if v.assign(slot, s) {
		return true
	}
	if v.sh.ctl == ctlNone {
		v.sh.abort()
	}
	return false
}

func (c *compiler) cFor(n *syntax.CFor, line int) command {
	body := c.list(n.Body)
	part := func(a *syntax.Arith) *arithCode {
		if a == nil {
			return nil
		}
		return c.arith(a)
	}
	first, cond, post := part(n.Init), part(n.Cond), part(n.Post)
	return func(sh *interp) int {
		sh.line = line
		if first != nil {
			if _, ok := sh.evalFor(first); !ok {
				return sh.status
			}
		}
		sh.loops++
		st := 0
		for sh.tick() {
			if cond != nil {
				n, ok := sh.evalFor(cond)
				if !ok {
					st = 1
					break
				}
				if n == 0 {
					break
				}
			}
			if st = body(sh); sh.ctl != ctlNone && sh.leaveLoop() {
				break
			}
			if post != nil {
				if _, ok := sh.evalFor(post); !ok {
					st = 1
					break
				}
			}
		}
		sh.loops--
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return sh.status
	}
}

// evalFor evaluates an expression of for ((...)).
func (sh *interp) evalFor(a *arithCode) (int64, bool) {
	if sh.opt&option.XTrace != 0 {
		sh.traceArith = "(( "
	}
	before := sh.builtinName
	sh.builtinName = "(("
	v, ok := a.eval(sh)
	sh.builtinName = before
	if !ok {
		sh.status = 1
	}
	return v, ok
}

// casePattern is a pattern of a case, compiled at once when it is constant.
type casePattern struct {
	w   *word
	lit string
	ok  bool // lit is all of it
}

func (c *compiler) caseClause(n *syntax.Case, line int) command {
	subject := c.word(n.Word, wordTilde)
	type branch struct {
		pats []casePattern
		body command
		end  string
	}
	branches := make([]branch, len(n.Clauses))
	for i, cl := range n.Clauses {
		b := branch{body: c.list(cl.Body), end: cl.End}
		for _, w := range cl.Patterns {
			p := casePattern{w: c.word(w, wordTilde)}
			if p.w.constant && !strings.ContainsAny(w.Text, `*?[\`) && !strings.Contains(w.Text, "(") {
				p.lit, p.ok = p.w.lit, true
			}
			b.pats = append(b.pats, p)
		}
		branches[i] = b
	}
	text := caseText(n)
	return func(sh *interp) int {
		sh.line = line
		sh.traced(line, text)
		if sh.opt&option.XTrace != 0 {
			sh.xtrace(strings.TrimSuffix(text(), " "))
		}
		sh.substRan = false
		s := sh.str(subject)
		if sh.ctl != ctlNone {
			return sh.status
		}
		if !sh.substRan {
			sh.status = 0
		}
		through := false
		for _, b := range branches {
			if !through && !sh.matchCase(b.pats, s) {
				if sh.ctl != ctlNone {
					return sh.status
				}
				continue
			}
			st := b.body(sh)
			if sh.ctl != ctlNone || b.end == ";;" || b.end == "esac" {
				return st
			}
			through = b.end == ";&"
		}
		return sh.status
	}
}

func (sh *interp) matchCase(pats []casePattern, s string) bool {
	fold := sh.shopt&shopt.NoCaseMatch != 0
	for i := range pats {
		p := &pats[i]
		if p.ok && !fold {
			if p.lit == s {
				return true
			}
			continue
		}
		flags := sh.localeFlags()
		if fold {
			flags = pattern.Fold
		}
		pat := sh.wordPattern(p.w, flags)
		if sh.ctl != ctlNone {
			return false
		}
		if pat.Match(work{sh}, s) {
			return true
		}
	}
	return false
}

func (c *compiler) arithCommand(n *syntax.ArithCmd, cmd *syntax.Command) command {
	code, line := c.arith(n.X), cmd.Line
	lead, text := n.X.Lead, n.X.Text
	return func(sh *interp) int {
		if !sh.tick() {
			return sh.status
		}
		sh.line = line
		if sh.isTracing() {
			sh.traced(line, func() string { return "((" + text + "))" })
			if sh.ctl != ctlNone {
				return sh.status
			}
			if sh.opt&option.XTrace != 0 {
				sh.traceArith = "(( " + lead
			}
		}
		before := sh.builtinName
		sh.builtinName = "(("
		v, ok := code.eval(sh)
		sh.builtinName = before
		if sh.ctl != ctlNone {
			return sh.status
		}
		sh.status = 0
		if !ok || v == 0 {
			sh.status = 1
		}
		return sh.status
	}
}

func (c *compiler) words(list []*syntax.Word) []*word {
	out := make([]*word, len(list))
	for i, w := range list {
		out[i] = c.word(w, wordArg)
	}
	return out
}

// selectLoop compiles select.
func (c *compiler) selectLoop(n *syntax.For, line int) command {
	body, words, in := c.list(n.Body), c.words(n.Words), n.In
	slot := c.lib.symbols.slot(n.Name)
	head := forHead(n)
	text := func() string { return "select" + strings.TrimPrefix(head(), "for") }
	return func(sh *interp) int {
		sh.line = line
		sh.traced(line, text)
		if sh.opt&option.XTrace != 0 {
			sh.xtrace(text())
		}
		base := len(sh.stack)
		if in {
			for _, w := range words {
				if sh.fields(w); sh.ctl != ctlNone {
					sh.pop(base)
					return sh.status
				}
			}
		} else {
			sh.pushAll(sh.params)
		}
		list := append([]string(nil), sh.stack[base:]...)
		sh.pop(base)
		sh.status = 0
		if len(list) == 0 {
			return 0
		}
		sh.loops++
		st := selectFromMenu(sh, list, slot, body)
		sh.loops--
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return sh.status
	}
}

// selectFromMenu asks until the body breaks or the input ends.
func selectFromMenu(sh *interp, list []string, slot int, body command) int {
	st, show := 0, true
	lines := &lineReader{}
	for sh.tick() {
		if show {
			menu, ok := formatMenu(sh, list)
			if !ok {
				return sh.status
			}
			sh.errorRaw(menu)
		}
		prompt, ok := sh.value(slotPS3)
		if !ok {
			prompt = "#? "
		}
		sh.errorRaw(prompt)
		d := sh.fds.Get(0)
		if d == nil {
			return 1
		}
		line, ok := lines.next(sh, d, '\n', 0)
		if !ok && line == "" {
			sh.assign(slotREPLY, "")
			sh.outString("\n")
			return 1
		}
		sh.assign(slotREPLY, line)
		reply := strings.TrimSpace(line)
		if show = reply == ""; show {
			continue
		}
		choice := ""
		if i, ok := plainInt(reply); ok && i >= 1 && i <= int64(len(list)) {
			choice = list[i-1]
		}
		if !sh.assign(slot, choice) {
			return 1
		}
		if st = body(sh); sh.ctl != ctlNone && sh.leaveLoop() {
			break
		}
		show = sh.get(slotREPLY) == ""
	}
	return st
}

// formatMenu lists the choices as bash does: in as many columns as COLUMNS, or 80, characters hold. The command holds the text;
// false: the memory limit is reached.
func formatMenu(sh *interp, list []string) (string, bool) {
	longest, total := 0, 0
	for _, s := range list {
		longest = max(longest, sh.runeCount(s))
		total += len(s)
	}
	digits := len(itoa(len(list)))
	width := longest + digits + 2 + 2
	screen := 80
	if n, ok := plainInt(sh.namedValue("COLUMNS")); ok && n > 0 && n < 1<<16 && sh.namedValue("COLUMNS") != "" {
		screen = int(n)
	}
	cols := max(1, screen/width)
	rows := (len(list) + cols - 1) / cols
	cols = (len(list) + rows - 1) / rows
	if rows == 1 {
		rows, cols = len(list), 1
	}
	// A choice has its number, and blanks or tabs up to the next column.
	n := total + len(list)*(2*digits+4)
	if cols > 1 {
		n += len(list) * (longest/8 + 16)
	}
	if !sh.hold(2*n) || !sh.spend(n>>6) {
		return "", false
	}
	var b strings.Builder
	b.Grow(n)
	for r := range rows {
		for c := range cols {
			i := c*rows + r
			if i >= len(list) {
				break
			}
			n, wide := itoa(i+1), digits
			if c == 0 { // The first column is only as wide as its own numbers.
				wide = len(itoa(rows))
			}
			b.WriteString(strings.Repeat(" ", max(0, wide-len(n))) + n + ") " + list[i])
			if i+rows < len(list) {
				b.WriteString(fillWithTabs(c*width+wide+2+sh.runeCount(list[i]), (c+1)*width))
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), true
}

// fillWithTabs moves from one column to another, by tabs where there are stops between.
func fillWithTabs(from, to int) string {
	var b strings.Builder
	for from < to {
		if to/8 > from/8 {
			b.WriteByte('\t') // bounded: by the width of a column, which formatMenu has charged
			from += 8 - from%8
		} else {
			b.WriteByte(' ') // bounded: by seven blanks and a width that formatMenu has charged
			from++
		}
	}
	return b.String()
}

// forText is the head of a for as BASH_COMMAND shows it.
func forHead(n *syntax.For) func() string {
	return func() string {
		s := "for " + n.Name + " in "
		if !n.In {
			return s + `"$@"`
		}
		words := make([]string, len(n.Words))
		for i, w := range n.Words {
			words[i] = w.Text
		}
		return s + strings.Join(words, " ")
	}
}

// caseText is the head of a case.
func caseText(n *syntax.Case) func() string {
	return func() string { return "case " + n.Word.Text + " in " }
}

// compileTimed compiles "time" before a pipeline. There is one clock here: what a command took counts as the
// user's time.
func compileTimed(run command, posix, empty bool) command {
	return func(sh *interp) int {
		begin := sh.m.now()
		st := run(sh)
		if sh.ctl != ctlNone && sh.exiting {
			return st
		}
		took := sh.m.now().Sub(begin)
		format, ok := sh.value(slotTIMEFORMAT)
		switch {
		case posix:
			format = "real %2R\nuser %2U\nsys %2S"
		case !ok:
			format = "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS"
		case format == "":
			return st
		}
		user := took
		if empty {
			user = 0
		}
		report, bad := timeReport(format, took, user)
		if bad != 0 {
			sh.errorf("TIMEFORMAT: `%c': invalid format character", bad)
			return st
		}
		sh.errorRaw(report + "\n")
		return st
	}
}

// timeReport expands the escapes of TIMEFORMAT; bad is a letter that means nothing.
func timeReport(format string, took, user time.Duration) (report string, bad byte) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		digits, long := 3, false
		if format[i] >= '0' && format[i] <= '9' {
			digits = min(int(format[i]-'0'), 6)
			i++
		}
		if i < len(format) && format[i] == 'l' {
			long = true
			i++
		}
		if i == len(format) {
			break
		}
		switch format[i] {
		case 'R':
			b.WriteString(duration(took, digits, long))
		case 'U':
			b.WriteString(duration(user, digits, long))
		case 'S':
			b.WriteString(duration(0, digits, long))
		case 'P':
			b.WriteString("100.00")
		case '%':
			b.WriteByte('%')
		default:
			return "", format[i]
		}
	}
	return b.String(), 0
}

func duration(d time.Duration, digits int, long bool) string {
	if long {
		m := int(d.Minutes())
		return fmt.Sprintf("%dm%.*fs", m, digits, (d - time.Duration(m)*time.Minute).Seconds())
	}
	return fmt.Sprintf("%.*f", digits, d.Seconds())
}
