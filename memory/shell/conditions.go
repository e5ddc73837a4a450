package shell

import (
	"io/fs"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// test is a compiled expression of [[ ]]; an error sets sh.condErr.
type test func(sh *interp) bool

func (c *compiler) condCommand(n *syntax.CondCmd, cmd *syntax.Command) command {
	x := c.cond(n.X)
	line := cmd.Line
	text := func() string { return syntax.CommandText(cmd) }
	return func(sh *interp) int {
		if !sh.tick() {
			return sh.status
		}
		sh.line = line
		if sh.isTracing() {
			if sh.traced(line, text); sh.ctl != ctlNone {
				return sh.status
			}
		}
		sh.condErr = 0
		ok := x(sh)
		switch {
		case sh.ctl != ctlNone:
			return sh.status
		case sh.condErr != 0:
			sh.status = sh.condErr
		case ok:
			sh.status = 0
		default:
			sh.status = 1
		}
		return sh.status
	}
}

func (c *compiler) cond(n syntax.Cond) test {
	switch n := n.(type) {
	case *syntax.CondGroup:
		return c.cond(n.X)
	case *syntax.CondNot:
		x := c.cond(n.X)
		return func(sh *interp) bool {
			sh.condNot = !sh.condNot
			ok := x(sh)
			sh.condNot = false
			return !ok && sh.condErr == 0
		}
	case *syntax.CondLogic:
		x, y := c.cond(n.X), c.cond(n.Y)
		if n.Or {
			return func(sh *interp) bool { return x(sh) || sh.condErr == 0 && sh.ctl == ctlNone && y(sh) }
		}
		return func(sh *interp) bool { return x(sh) && sh.ctl == ctlNone && y(sh) }
	case *syntax.CondWord:
		w := c.word(n.X, wordTilde)
		return func(sh *interp) bool {
			s := sh.str(w)
			sh.traceCond("-n", s)
			return s != ""
		}
	case *syntax.CondUnary:
		return c.condUnary(n)
	case *syntax.CondBinary:
		return c.condBinary(n)
	}
	return func(*interp) bool { return false }
}

func (c *compiler) condUnary(n *syntax.CondUnary) test {
	w, op := c.word(n.X, wordTilde), n.Op
	return func(sh *interp) bool {
		s := sh.str(w)
		if sh.ctl != ctlNone {
			return false
		}
		sh.traceCond(op, s)
		return sh.unaryTest(op[1], s)
	}
}

func (c *compiler) condBinary(n *syntax.CondBinary) test {
	x, y := c.word(n.X, wordTilde), c.word(n.Y, wordTilde)
	switch n.Op {
	case "=", "==", "!=":
		return c.condMatch(x, y, n.Op)
	case "=~":
		return func(sh *interp) bool { return sh.condRegex(x, y) }
	case "<", ">":
		less := n.Op == "<"
		return func(sh *interp) bool {
			a, b := sh.str(x), sh.str(y)
			sh.traceBinary(a, n.Op, b)
			if less {
				return a < b
			}
			return a > b
		}
	case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		op := n.Op
		return func(sh *interp) bool {
			a, b := sh.str(x), sh.str(y)
			if sh.ctl != ctlNone {
				return false
			}
			sh.traceBinary(a, op, b)
			before := sh.builtinName
			sh.builtinName = "[["
			m, ok := sh.arithText(strings.TrimSpace(a))
			k := int64(0)
			if ok {
				k, ok = sh.arithText(strings.TrimSpace(b))
			}
			sh.builtinName = before
			if !ok {
				sh.condErr = 1
				return false
			}
			return compareInts(op, m, k)
		}
	}
	op := n.Op
	return func(sh *interp) bool {
		a, b := sh.str(x), sh.str(y)
		sh.traceBinary(a, op, b)
		return sh.compareFiles(op, a, b)
	}
}

func compareInts(op string, a, b int64) bool {
	switch op {
	case "-eq":
		return a == b
	case "-ne":
		return a != b
	case "-lt":
		return a < b
	case "-le":
		return a <= b
	case "-gt":
		return a > b
	}
	return a >= b
}

// condMatch matches the left side with the pattern on the right.
func (c *compiler) condMatch(x, y *word, op string) test {
	not := op == "!="
	plain := y.constant && !strings.ContainsAny(y.text, `*?[\'"(`)
	return func(sh *interp) bool {
		s := sh.str(x)
		if sh.ctl != ctlNone {
			return false
		}
		fold := sh.shopt&shopt.NoCaseMatch != 0
		if plain && !fold && sh.opt&option.XTrace == 0 {
			return (s == y.lit) != not
		}
		mode := forPattern
		if sh.opt&option.XTrace != 0 {
			mode = forTrace
		}
		text := sh.expandParts(y.parts, mode)
		if sh.ctl != ctlNone {
			return false
		}
		sh.traceBinary(s, op, text)
		flags := pattern.Ext | sh.localeFlags()
		if fold {
			flags |= pattern.Fold
		}
		return sh.patternOf(text, flags).Match(work{sh}, s) != not
	}
}

// condRegex runs =~ and stores the match in BASH_REMATCH.
func (sh *interp) condRegex(x, y *word) bool {
	s := sh.str(x)
	text := sh.expandParts(y.parts, forRegex)
	if sh.ctl != ctlNone {
		return false
	}
	sh.traceBinary(s, "=~", text)
	groups, ok, err := sh.matchRegex(text, s)
	if err != nil {
		sh.condErr = 2
		return false
	}
	sh.setList(slotBASHREMATCH, groups)
	return ok
}

func (sh *interp) traceCond(op, s string) {
	if sh.opt&option.XTrace != 0 {
		sh.xtrace(sh.condHead() + op + " " + condShown(s) + " ]]")
	}
}

func (sh *interp) traceBinary(a, op, b string) {
	if sh.opt&option.XTrace == 0 {
		return
	}
	if b == "" || op != "==" && op != "=~" && op != "!=" && op != "=" {
		b = condShown(b)
	}
	sh.xtrace(sh.condHead() + condShown(a) + " " + op + " " + b + " ]]")
}

// condShown is an operand as set -x shows it: as it is.
func condShown(s string) string {
	if s == "" {
		return "''"
	}
	return s
}

// condHead is the prefix of a traced test.
func (a *activeCommand) condHead() string {
	if a.condNot {
		return "[[ ! "
	}
	return "[[ "
}

// runTestBuiltin is test and [.
func runTestBuiltin(sh *interp, args []string) int {
	a := args[1:]
	if args[0] == "[" {
		if len(a) == 0 || a[len(a)-1] != "]" {
			sh.fail("missing `]'")
			return 2
		}
		a = a[:len(a)-1]
	}
	if len(a) == 3 { // The common form: no parser needed.
		if st := testThreeArgs(a); st >= 0 {
			return st
		}
	}
	t := &tester{sh: sh, args: a}
	ok := t.eval()
	if t.msg != "" {
		sh.fail("%s", t.msg)
		return 2
	}
	if ok {
		return 0
	}
	return 1
}

// testThreeArgs evaluates "a op b" for numbers and strings; -1 for others.
func testThreeArgs(a []string) int {
	var ok bool
	switch op := a[1]; op {
	case "=", "==":
		ok = a[0] == a[2]
	case "!=":
		ok = a[0] != a[2]
	case "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		m, ok1 := plainInt(a[0])
		n, ok2 := plainInt(a[2])
		if !ok1 || !ok2 {
			return -1
		}
		ok = compareInts(op, m, n)
	default:
		return -1
	}
	if ok {
		return 0
	}
	return 1
}

// tester evaluates the arguments of test: by their number up to four, as POSIX says, by
// precedence beyond.
type tester struct {
	sh    *interp
	args  []string
	pos   int
	msg   string
	depth int
}

func (t *tester) fail(msg string) bool {
	if t.msg == "" {
		t.msg = msg
	}
	return false
}

func (t *tester) eval() bool {
	ok := false
	switch n := len(t.args); n {
	case 0:
		return false
	case 1:
		return t.args[0] != ""
	case 2:
		ok = t.two(t.args)
	case 3:
		ok = t.three(t.args)
	case 4:
		ok = t.four()
	default:
		ok = t.or()
		if t.msg == "" && t.pos < len(t.args) {
			if t.pos == 0 {
				return t.fail("too many arguments")
			}
			return t.fail("too many arguments")
		}
	}
	return ok
}

func (t *tester) two(a []string) bool {
	if a[0] == "!" {
		return a[1] == ""
	}
	if isUnaryTest(a[0]) {
		return t.unary(a[0], a[1])
	}
	return t.fail(a[0] + ": unary operator expected")
}

func (t *tester) three(a []string) bool {
	switch {
	case isBinaryTest(a[1]):
		return t.binary(a[0], a[1], a[2])
	case a[1] == "-a":
		return a[0] != "" && a[2] != ""
	case a[1] == "-o":
		return a[0] != "" || a[2] != ""
	case a[0] == "!":
		ok := t.two(a[1:])
		return !ok && t.msg == ""
	case a[0] == "(" && a[2] == ")":
		return a[1] != ""
	}
	return t.fail(a[1] + ": binary operator expected")
}

func (t *tester) four() bool {
	a := t.args
	if a[0] == "!" {
		ok := t.three(a[1:])
		return !ok && t.msg == ""
	}
	if a[0] == "(" && a[3] == ")" {
		return t.two(a[1:3])
	}
	ok := t.or()
	if t.msg == "" && t.pos < len(a) {
		return t.fail("too many arguments")
	}
	return ok
}

func (t *tester) next() string {
	if t.pos < len(t.args) {
		return t.args[t.pos]
	}
	return ""
}

func (t *tester) or() bool {
	ok := t.and()
	for t.msg == "" && t.next() == "-o" {
		t.pos++
		y := t.and()
		ok = ok || y
	}
	return ok
}

func (t *tester) and() bool {
	ok := t.term()
	for t.msg == "" && t.next() == "-a" {
		t.pos++
		y := t.term()
		ok = ok && y
	}
	return ok
}

// maxTestDepth bounds parentheses and negations.
const maxTestDepth = 1000

func (t *tester) term() bool {
	if t.depth++; t.depth > maxTestDepth {
		return t.fail("too many arguments")
	}
	defer func() { t.depth-- }()
	left := len(t.args) - t.pos
	if left == 0 {
		return t.fail("argument expected")
	}
	a := t.args[t.pos:]
	switch {
	case a[0] == "!":
		t.pos++
		return !t.term() && t.msg == ""
	case a[0] == "(":
		t.pos++
		ok := t.or()
		if t.msg == "" && t.next() != ")" {
			if t.pos < len(t.args) {
				return t.fail("`)' expected, found " + t.next())
			}
			return t.fail("`)' expected")
		}
		t.pos++
		return ok
	case left >= 3 && isBinaryTest(a[1]):
		t.pos += 3
		return t.binary(a[0], a[1], a[2])
	case isUnaryTest(a[0]) && left >= 2:
		t.pos += 2
		return t.unary(a[0], a[1])
	}
	t.pos++
	return a[0] != ""
}

func isUnaryTest(s string) bool {
	return len(s) == 2 && s[0] == '-' && strings.IndexByte("abcdefghknoprstuvwxzGLNORS", s[1]) >= 0
}

func isBinaryTest(s string) bool {
	switch s {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

func (t *tester) unary(op, s string) bool {
	return t.sh.unaryTest(op[1], s)
}

func (t *tester) binary(a, op, b string) bool {
	switch op {
	case "=", "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case ">":
		return a > b
	case "-nt", "-ot", "-ef":
		return t.sh.compareFiles(op, a, b)
	}
	m, ok := testInt(a)
	if !ok {
		return t.fail(a + ": integer expression expected")
	}
	n, ok := testInt(b)
	if !ok {
		return t.fail(b + ": integer expression expected")
	}
	return compareInts(op, m, n)
}

// testInt is an integer as test takes it: decimal, blanks around it.
func testInt(s string) (int64, bool) {
	s = strings.Trim(s, " \t\n")
	s = strings.TrimPrefix(s, "+")
	neg := strings.HasPrefix(s, "-")
	digits := strings.TrimLeft(strings.TrimPrefix(s, "-"), "0")
	if digits == "" && strings.Contains(s, "0") {
		digits = "0"
	}
	n, ok := plainInt(digits)
	if !ok && len(digits) == 19 {
		var v uint64
		for i := range len(digits) {
			d := uint64(digits[i] - '0')
			if d > 9 {
				return 0, false
			}
			v = v*10 + d
		}
		if v < 1<<63 {
			n, ok = int64(v), true
		}
	}
	if neg {
		n = -n
	}
	return n, ok
}

// unaryTest evaluates -f and its like.
func (v *variables) unaryTest(op byte, s string) bool {
	switch op {
	case 'n':
		return s != ""
	case 'z':
		return s == ""
	case 'o':
		b := option.ByName(s)
		return b != 0 && v.sh.opt&b != 0
	case 'v':
		return v.isSetName(s)
	case 'R':
		slot := v.sh.m.lib.symbols.known(s)
		return slot >= 0 && v.cell(slot) != nil && v.cell(slot).attr&attrRef != 0 && v.cell(slot).attr&attrSet != 0
	case 't':
		fd, ok := testInt(s)
		return ok && v.sh.isTerminal(fd)
	}
	return v.sh.fileTest(op, s)
}

// isTerminal implements -t: it reports whether a descriptor is the terminal of the machine's caller.
func (t *descriptors) isTerminal(fd int64) bool {
	if fd < 0 || fd > 1<<20 {
		return false
	}
	_, _, ok := t.stream(t.ctx, int(fd)).Terminal()
	return ok
}

// isSetName is -v: a variable, an element, or a positional parameter.
func (v *variables) isSetName(s string) bool {
	if n, ok := plainInt(s); ok && n >= 0 {
		return n == 0 || int(n) <= len(v.sh.params)
	}
	base, sub, elem := splitSubscript(s)
	slot := v.sh.m.lib.symbols.known(base)
	if slot < 0 {
		return false
	}
	if !elem {
		pl, ok := v.follow(slot)
		if !ok {
			return false
		}
		if pl.elem {
			_, set := v.element(pl)
			return set
		}
		return v.cell(pl.slot).isSet() && (v.cell(pl.slot).attr&attrRef == 0)
	}
	if (sub == "@" || sub == "*") && !v.isAssoc(slot) {
		return len(v.elements(slot)) > 0
	}
	_, set := v.element(place{slot: slot, sub: sub, elem: true})
	return set
}

// fileTest evaluates the operators about files.
func (t *descriptors) fileTest(op byte, name string) bool {
	if name == "" {
		return false
	}
	info, err := t.statFile(name, op != 'h' && op != 'L')
	if err != nil {
		return false
	}
	m := info.Mode
	if n, own := ownStream(name); own && (op == 'r' || op == 'w') {
		want := byte(fd.ModeRead)
		if op == 'w' {
			want = byte(fd.ModeWrite)
		}
		return t.fds.Get(n).Mode&want != 0
	}
	switch op {
	case 'a', 'e':
		return true
	case 'f':
		return m.IsRegular()
	case 'd':
		return m.IsDir()
	case 'h', 'L':
		return m&fs.ModeSymlink != 0
	case 'p':
		return m&fs.ModeNamedPipe != 0
	case 'S':
		return m&fs.ModeSocket != 0
	case 'b':
		return m&fs.ModeDevice != 0 && m&fs.ModeCharDevice == 0
	case 'c':
		return m&fs.ModeCharDevice != 0
	case 's':
		return info.Size > 0
	case 'g':
		return m&fs.ModeSetgid != 0
	case 'u':
		return m&fs.ModeSetuid != 0
	case 'k':
		return m&fs.ModeSticky != 0
	case 'O':
		return info.UID == t.cred.UID
	case 'G':
		return info.GID == t.cred.GID
	case 'N':
		return info.Mtime.After(info.Atime)
	case 'r':
		return t.m.fs.Access(t.cred, t.abs(name), vfs.MayRead) == nil
	case 'w':
		return t.m.fs.Access(t.cred, t.abs(name), vfs.MayWrite) == nil
	case 'x':
		return t.m.fs.Access(t.cred, t.abs(name), vfs.MayExec) == nil
	}
	return false
}

// statFile is stat(2), which also knows the process's own descriptors.
func (t *descriptors) statFile(name string, follow bool) (vfs.Info, error) {
	if fd, ok := ownStream(name); ok && follow {
		d := t.fds.Get(fd)
		if d == nil {
			return vfs.Info{}, fs.ErrNotExist
		}
		return t.statOpen(d)
	}
	if !follow {
		return t.m.fs.Lstat(t.cred, t.abs(name))
	}
	return t.m.fs.Stat(t.cred, t.abs(name))
}

// compareFiles is -nt, -ot and -ef.
func (t *descriptors) compareFiles(op, a, b string) bool {
	x, err1 := t.statFile(a, true)
	y, err2 := t.statFile(b, true)
	switch op {
	case "-nt":
		return err1 == nil && (err2 != nil || x.Mtime.After(y.Mtime))
	case "-ot":
		return err2 == nil && (err1 != nil || x.Mtime.Before(y.Mtime))
	}
	return err1 == nil && err2 == nil && x.Ino == y.Ino
}
