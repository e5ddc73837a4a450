package numbers

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func exprCommand() program.Description {
	return program.Description{
		Name: "expr", Usage: "EXPRESSION\nOPTION",
		Summary: "write the value of EXPRESSION",
		Help: `      --help     show this help and exit
      --version  show the version and exit

From the loosest to the tightest: A | B, A & B, A < <= = == != >= > B, A + B and A - B,
A * B, A / B and A % B, STRING : REGEX, then match STRING REGEX, substr STRING POSITION
LENGTH, index STRING CHARACTERS, length STRING, + WORD for a WORD that is itself, and
( EXPRESSION ). Each is an argument of its own.
Exit status is 0, 1 when the value is nothing or 0, 2 for a wrong EXPRESSION, 3 after an error.`,
		Run: runExpr,
	}
}

// exprFault ends the evaluation; it is thrown and caught in runExpr.
type exprFault struct {
	text   string
	status int
}

// exprEval evaluates arguments as they come.
type exprEval struct {
	p     *shell.Proc
	args  []string
	bytes bool
	depth int
}

func runExpr(p *shell.Proc) (status int) {
	o := program.NewOptions(p, exprCommand, nil)
	o.Order = getopt.RequireOrder
	o.Wrong = 2
	if len(p.Args) == 2 && len(p.Args[1]) > 2 && (strings.HasPrefix("--help", p.Args[1]) || strings.HasPrefix("--version", p.Args[1])) {
		for o.Next() {
			continue
		}
		return o.Status
	}
	args := p.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return program.UsageError(p, exprCommand, 2, "missing operand")
	}
	e := &exprEval{p: p, args: args, bytes: program.IsByteLocale(p)}
	defer func() {
		if f := recover(); f != nil {
			fault, ok := f.(*exprFault)
			if !ok {
				panic(f)
			}
			if status = fault.status; fault.text != "" {
				p.Warn("%s", fault.text)
			}
		}
	}()
	value := e.or(true)
	if len(e.args) > 0 {
		e.fail("syntax error: unexpected argument %s", quoting.Name(e.args[0]))
	}
	out := program.NewOutput(p)
	_, _ = out.WriteString(value + "\n")
	status = 0
	if isNull(value) {
		status = 1
	}
	return out.Close(status)
}

func (e *exprEval) fail(format string, args ...any) {
	panic(&exprFault{fmt.Sprintf(format, args...), 2})
}

// isNull reports whether a value counts as false: nothing, or a zero.
func isNull(v string) bool {
	digits := strings.TrimPrefix(v, "-")
	return v == "" || digits != "" && strings.Trim(digits, "0") == ""
}

// next takes one of the words if it is the next argument.
func (e *exprEval) next(words ...string) string {
	if len(e.args) > 0 {
		for _, w := range words {
			if e.args[0] == w {
				e.args = e.args[1:]
				return w
			}
		}
	}
	return ""
}

func (e *exprEval) need(after string) {
	if len(e.args) == 0 {
		e.fail("syntax error: missing argument after %s", quoting.Name(after))
	}
}

func (e *exprEval) or(evaluate bool) string {
	left := e.and(evaluate)
	for e.next("|") != "" {
		e.need("|")
		right := e.and(evaluate && isNull(left))
		if isNull(left) {
			if left = right; isNull(left) {
				left = "0"
			}
		}
	}
	return left
}

func (e *exprEval) and(evaluate bool) string {
	left := e.compare(evaluate)
	for e.next("&") != "" {
		e.need("&")
		right := e.compare(evaluate && !isNull(left))
		if isNull(left) || isNull(right) {
			left = "0"
		}
	}
	return left
}

func (e *exprEval) compare(evaluate bool) string {
	left := e.sum(evaluate)
	for {
		op := e.next("<", "<=", "=", "==", "!=", ">=", ">")
		if op == "" {
			return left
		}
		e.need(op)
		right := e.sum(evaluate)
		if !evaluate {
			continue
		}
		order := strings.Compare(left, right)
		if a, b := exprInteger(left), exprInteger(right); a != nil && b != nil {
			order = a.Cmp(b)
		}
		holds := map[string]bool{"<": order < 0, "<=": order <= 0, "=": order == 0, "==": order == 0, "!=": order != 0, ">=": order >= 0, ">": order > 0}[op]
		if left = "0"; holds {
			left = "1"
		}
	}
}

// exprInteger returns the number that s is; nil when it is none.
func exprInteger(s string) *big.Int {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil
	}
	n, _ := new(big.Int).SetString(s, 10)
	return n
}

func (e *exprEval) sum(evaluate bool) string {
	left := e.product(evaluate)
	for {
		op := e.next("+", "-")
		if op == "" {
			return left
		}
		e.need(op)
		left = e.calculate(op, left, e.product(evaluate), evaluate)
	}
}

func (e *exprEval) product(evaluate bool) string {
	left := e.colon(evaluate)
	for {
		op := e.next("*", "/", "%")
		if op == "" {
			return left
		}
		e.need(op)
		left = e.calculate(op, left, e.colon(evaluate), evaluate)
	}
}

// exprDigits is the largest number of digits of a number.
const exprDigits = 1 << 20

func (e *exprEval) calculate(op, left, right string, evaluate bool) string {
	if !evaluate {
		return left
	}
	if len(left)+len(right) > exprDigits {
		e.fail("number too large")
	}
	if err := e.p.Spend(1 + (len(left)+len(right))>>4 + len(left)*len(right)>>16); err != nil {
		panic(&exprFault{"", e.p.Status(err)})
	}
	a, b := exprInteger(left), exprInteger(right)
	if a == nil || b == nil {
		e.fail("non-integer argument")
	}
	switch op {
	case "+":
		return a.Add(a, b).String()
	case "-":
		return a.Sub(a, b).String()
	case "*":
		return a.Mul(a, b).String()
	}
	if b.Sign() == 0 {
		e.fail("division by zero")
	}
	if op == "/" {
		return a.Quo(a, b).String()
	}
	return a.Rem(a, b).String()
}

func (e *exprEval) colon(evaluate bool) string {
	left := e.word(evaluate)
	for e.next(":") != "" {
		e.need(":")
		right := e.word(evaluate)
		if evaluate {
			left = e.match(left, right)
		}
	}
	return left
}

func (e *exprEval) word(evaluate bool) string {
	if e.depth++; e.depth > 1000 {
		e.fail("expression nested too deeply")
	}
	defer func() { e.depth-- }()
	if len(e.args) == 0 {
		e.fail("syntax error: missing argument after %s", quoting.Name(e.p.Args[len(e.p.Args)-1]))
	}
	if err := e.p.Spend(1); err != nil {
		panic(&exprFault{"", e.p.Status(err)})
	}
	switch op := e.next("+", "length", "match", "index", "substr", "("); op {
	case "+":
		e.need("+")
	case "length":
		e.need(op)
		return strconv.Itoa(e.count(e.word(evaluate)))
	case "match":
		e.need(op)
		text := e.word(evaluate)
		e.need(e.before())
		pattern := e.word(evaluate)
		if !evaluate {
			return text
		}
		return e.match(text, pattern)
	case "index":
		e.need(op)
		text := e.word(evaluate)
		e.need(e.before())
		return strconv.Itoa(e.index(text, e.word(evaluate)))
	case "substr":
		e.need(op)
		text := e.word(evaluate)
		e.need(e.before())
		from := e.word(evaluate)
		e.need(e.before())
		return e.substr(text, from, e.word(evaluate))
	case "(":
		e.need(op)
		value := e.or(evaluate)
		if len(e.args) == 0 {
			e.fail("syntax error: expecting ')' after %s", quoting.Name(e.before()))
		}
		if e.next(")") == "" {
			e.fail("syntax error: expecting ')' instead of %s", quoting.Name(e.args[0]))
		}
		return value
	}
	value := e.args[0]
	if value == ")" && e.before() != "+" {
		e.fail("syntax error: unexpected ')'")
	}
	e.args = e.args[1:]
	return value
}

// before is the argument that was taken last.
func (e *exprEval) before() string { return e.p.Args[len(e.p.Args)-len(e.args)-1] }

func (e *exprEval) count(s string) int {
	if e.bytes {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

func (e *exprEval) index(text, chars string) int {
	if e.bytes {
		return strings.IndexAny(toLatin(text), toLatin(chars)) + 1
	}
	if i := strings.IndexAny(text, chars); i >= 0 {
		return utf8.RuneCountInString(text[:i]) + 1
	}
	return 0
}

// toLatin keeps ASCII and makes a private character of each other byte, so that bytes compare as
// characters; places are counted in bytes, of which such a character has as many as it stands for.
func toLatin(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '\x00'
		}
		return r
	}, s)
}

func (e *exprEval) substr(text, from, length string) string {
	a, b := exprInteger(from), exprInteger(length)
	if a == nil || b == nil || a.Sign() <= 0 || b.Sign() <= 0 {
		return ""
	}
	text = text[e.offset(text, new(big.Int).Sub(a, big.NewInt(1))):]
	return text[:e.offset(text, b)]
}

// offset returns how many bytes the first n characters of a text have, at most all.
func (e *exprEval) offset(text string, n *big.Int) int {
	if !n.IsInt64() || n.Int64() >= int64(len(text)) {
		return len(text)
	}
	if e.bytes {
		return int(n.Int64())
	}
	at := 0
	for k := n.Int64(); k > 0 && at < len(text); k-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// match returns the first group, or how many characters match from the beginning.
func (e *exprEval) match(text, pattern string) string {
	flags := regex.Expr
	if e.bytes {
		flags |= regex.Bytes
	}
	re, err := regex.Compile(pattern, flags)
	if err != nil {
		e.fail("%s", program.RegexError(err))
	}
	m := re.Matcher(e.p.Spend)
	caps := make([]int, 4)
	ok := m.Find([]byte(text), 0, caps) && caps[0] == 0
	if err := m.Err(); err != nil {
		if e.p.Context().Err() != nil {
			panic(&exprFault{"", e.p.Status(err)})
		}
		panic(&exprFault{"error in regular expression matcher", 3})
	}
	switch {
	case re.Groups() > 0 && ok && caps[2] >= 0:
		return text[caps[2]:caps[3]]
	case re.Groups() > 0:
		return ""
	case ok:
		return strconv.Itoa(e.count(text[:caps[1]]))
	}
	return "0"
}
