package system

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func testCommand() program.Description {
	return program.Description{
		Name: "test", Usage: "EXPRESSION\n", Summary: "tell by the exit status whether EXPRESSION is true",
		Help: testHelp, Run: runTest,
	}
}

func bracketCommand() program.Description {
	return program.Description{
		Name: "[", Usage: "EXPRESSION ]\n]\nOPTION", Summary: "tell by the exit status whether EXPRESSION is true",
		Help: testHelp, Run: runTest,
	}
}

const testHelp = `  ( EXPRESSION )  ! EXPRESSION  EXPRESSION -a EXPRESSION  EXPRESSION -o EXPRESSION
  -n STRING  -z STRING  STRING = STRING  STRING != STRING  STRING
  INTEGER -eq -ne -lt -le -gt -ge INTEGER;  -l STRING stands for the length of STRING
  FILE -ef FILE  FILE -nt FILE  FILE -ot FILE
  -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -u -w -x FILE  -t DESCRIPTOR

Exit status: 0 true, 1 false, 2 when EXPRESSION is wrong.`

// testParser evaluates an expression of test as it reads it.
type testParser struct {
	proc *shell.Proc
	args []string
	pos  int

	depth int // of parentheses
}

// maxParentheses bounds parentheses inside each other.
const maxParentheses = 1000

// testFault is a wrong expression.
type testFault struct{ text string }

func (e *testFault) Error() string { return e.text }

func testErrorf(format string, args ...any) error { return &testFault{fmt.Sprintf(format, args...)} }

func runTest(p *shell.Proc) int {
	args := p.Args[1:]
	if p.Name() == "[" {
		if len(args) == 1 && (args[0] == "--help" || args[0] == "--version") {
			return program.RunConstant(p, bracketCommand, 0)
		}
		if len(args) == 0 || args[len(args)-1] != "]" {
			p.Warn("missing %s", quoting.Name("]"))
			return 2
		}
		args = args[:len(args)-1]
	}
	if len(args) == 0 {
		return 1
	}
	t := &testParser{proc: p, args: append([]string(nil), args...)}
	value, err := t.posix(len(args))
	if err == nil && t.pos < len(args) {
		err = testErrorf("extra argument %s", quoting.Name(args[t.pos]))
	}
	var fault *testFault
	switch {
	case errors.As(err, &fault):
		p.Warn("%s", fault.text)
		return 2
	case value:
		return 0
	}
	return 1
}

// posix evaluates the next n words by the rules for few of them, which leave no doubt.
func (t *testParser) posix(n int) (bool, error) {
	switch n {
	case 1:
		return t.one(), nil
	case 2:
		return t.two()
	case 3:
		return t.three()
	case 4:
		if t.args[t.pos] == "!" {
			t.pos++
			v, err := t.three()
			return !v, err
		}
		if t.args[t.pos] == "(" && t.args[t.pos+3] == ")" {
			t.pos++
			v, err := t.two()
			t.pos++
			return v, err
		}
	}
	return t.or()
}

func (t *testParser) one() bool {
	t.pos++
	return t.args[t.pos-1] != ""
}

func (t *testParser) two() (bool, error) {
	switch a := t.args[t.pos]; {
	case a == "!":
		t.pos++
		return !t.one(), nil
	case len(a) == 2 && a[0] == '-':
		if isUnary(a) {
			return t.unary()
		}
		return false, testErrorf("%s: unary operator expected", quoting.Name(a))
	}
	return false, t.missing()
}

func (t *testParser) three() (bool, error) {
	first, op := t.args[t.pos], t.args[t.pos+1]
	switch {
	case isBinary(op):
		return t.binary(false)
	case first == "!":
		t.pos++
		v, err := t.two()
		return !v, err
	case first == "(" && t.args[t.pos+2] == ")":
		t.pos++
		v := t.one()
		t.pos++
		return v, nil
	case op == "-a" || op == "-o":
		return t.or()
	}
	return false, testErrorf("%s: binary operator expected", quoting.Name(op))
}

func (t *testParser) or() (bool, error) {
	value := false
	for {
		v, err := t.and()
		if err != nil {
			return false, err
		}
		value = value || v
		if t.pos >= len(t.args) || t.args[t.pos] != "-o" {
			return value, nil
		}
		t.pos++
	}
}

func (t *testParser) and() (bool, error) {
	value := true
	for {
		v, err := t.term()
		if err != nil {
			return false, err
		}
		value = value && v
		if t.pos >= len(t.args) || t.args[t.pos] != "-a" {
			return value, nil
		}
		t.pos++
	}
}

func (t *testParser) missing() error {
	return testErrorf("missing argument after %s", quoting.Name(t.args[len(t.args)-1]))
}

func (t *testParser) term() (bool, error) {
	negated := false
	for t.pos < len(t.args) && t.args[t.pos] == "!" {
		negated = !negated
		if t.pos++; t.pos >= len(t.args) {
			return false, t.missing()
		}
	}
	if t.pos >= len(t.args) {
		return false, t.missing()
	}
	v, err := t.primary()
	return v != negated, err
}

func (t *testParser) primary() (bool, error) {
	left := len(t.args) - t.pos
	a := t.args[t.pos]
	switch {
	case a == "(":
		return t.parentheses()
	case left >= 4 && a == "-l" && isBinary(t.args[t.pos+2]):
		return t.binary(true)
	case left >= 3 && isBinary(t.args[t.pos+1]):
		return t.binary(false)
	case len(a) == 2 && a[0] == '-' && isUnary(a):
		return t.unary()
	}
	return t.one(), nil
}

func (t *testParser) parentheses() (bool, error) {
	if t.depth++; t.depth > maxParentheses {
		return false, testErrorf("too many parentheses")
	}
	defer func() { t.depth-- }()
	t.pos++
	if t.pos >= len(t.args) {
		return false, t.missing()
	}
	// Up to four words in parentheses count as if they stood alone.
	n := 1
	for t.pos+n < len(t.args) && t.args[t.pos+n] != ")" {
		if n == 4 {
			n = len(t.args) - t.pos
			break
		}
		n++
	}
	v, err := t.posix(n)
	switch {
	case err != nil:
		return false, err
	case t.pos >= len(t.args):
		return false, testErrorf("%s expected", quoting.Name(")"))
	case t.args[t.pos] != ")":
		return false, testErrorf("%s expected, found %s", quoting.Name(")"), t.args[t.pos])
	}
	t.pos++
	return v, nil
}

func isBinary(op string) bool {
	switch op {
	case "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot":
		return true
	}
	return false
}

func isUnary(op string) bool { return strings.IndexByte("bcdefgGhkLNOprsStuwxnz", op[1]) >= 0 }

// binary evaluates an operator between two words; length reports that the first is -l.
func (t *testParser) binary(length bool) (bool, error) {
	if length {
		t.pos++
	}
	left, op := t.args[t.pos], t.args[t.pos+1]
	if length {
		left = strconv.Itoa(len(left))
	}
	t.pos += 2
	if t.pos < len(t.args)-1 && t.args[t.pos] == "-l" {
		t.pos++
		t.args[t.pos] = strconv.Itoa(len(t.args[t.pos]))
	}
	right := t.args[t.pos]
	t.pos++
	switch op {
	case "=", "==":
		return left == right, nil
	case "!=":
		return left != right, nil
	case "-ef", "-nt", "-ot":
		return t.files(left, op, right), nil
	}
	return testNumbers(left, op, right)
}

func testNumbers(left, op, right string) (bool, error) {
	a, err := testNumber(left)
	if err != nil {
		return false, err
	}
	b, err := testNumber(right)
	if err != nil {
		return false, err
	}
	c := a.Cmp(b)
	return map[string]bool{"-eq": c == 0, "-ne": c != 0, "-lt": c < 0, "-le": c <= 0, "-gt": c > 0, "-ge": c >= 0}[op], nil
}

// testNumber reads an integer of any length.
func testNumber(s string) (*big.Int, error) {
	text := strings.Trim(s, " \t\n\v\f\r")
	n, ok := new(big.Int).SetString(text, 10)
	// Against numbers whose reading takes longer than their length lets expect.
	if !ok || len(text) > 1000 || strings.Contains(text, "_") {
		return nil, testErrorf("invalid integer %s", quoting.Name(s))
	}
	return n, nil
}

func (t *testParser) files(left, op, right string) bool {
	a, errA := t.proc.Stat(left)
	b, errB := t.proc.Stat(right)
	switch op {
	case "-ef":
		return errA == nil && errB == nil && a.Ino == b.Ino
	case "-nt":
		return errA == nil && (errB != nil || a.Mtime.After(b.Mtime))
	}
	return errB == nil && (errA != nil || b.Mtime.After(a.Mtime))
}

func (t *testParser) unary() (bool, error) {
	op := t.args[t.pos][1]
	t.pos++
	if t.pos >= len(t.args) {
		return false, t.missing()
	}
	arg := t.args[t.pos]
	t.pos++
	switch op {
	case 'n':
		return arg != "", nil
	case 'z':
		return arg == "", nil
	case 't':
		n, err := testNumber(arg)
		if err != nil {
			return false, err
		}
		streams := []any{t.proc.Stdin, t.proc.Stdout, t.proc.Stderr}
		return n.IsInt64() && n.Int64() >= 0 && n.Int64() < 3 && program.IsTerminal(streams[n.Int64()]), nil
	}
	return t.file(op, arg), nil
}

func (t *testParser) file(op byte, path string) bool {
	switch op {
	case 'r':
		return t.proc.Access(path, vfs.MayRead) == nil
	case 'w':
		return t.proc.Access(path, vfs.MayWrite) == nil
	case 'x':
		return t.proc.Access(path, vfs.MayExec) == nil
	case 'h', 'L':
		info, err := t.proc.Lstat(path)
		return err == nil && info.Mode&fs.ModeSymlink != 0
	}
	info, err := t.proc.Stat(path)
	if err != nil {
		return false
	}
	m := info.Mode
	switch op {
	case 'b':
		return m&fs.ModeDevice != 0 && m&fs.ModeCharDevice == 0
	case 'c':
		return m&fs.ModeCharDevice != 0
	case 'd':
		return m.IsDir()
	case 'f':
		return m.IsRegular()
	case 'g':
		return m&fs.ModeSetgid != 0
	case 'G':
		return info.GID == t.proc.Cred().GID
	case 'k':
		return m&fs.ModeSticky != 0
	case 'N':
		return info.Mtime.After(info.Atime)
	case 'O':
		return info.UID == t.proc.Cred().UID
	case 'p':
		return m&fs.ModeNamedPipe != 0
	case 's':
		return info.Size > 0
	case 'S':
		return m&fs.ModeSocket != 0
	case 'u':
		return m&fs.ModeSetuid != 0
	}
	return true // -e
}
