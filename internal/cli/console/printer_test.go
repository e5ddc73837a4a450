package console

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Printer_Escapes_What_Could_Forge_Lines_Or_Drive_The_Terminal(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"plain text is kept", "a b/c.txt", "a b/c.txt"},
		{"letters of all languages are kept", "naïve 日本", "naïve 日本"},
		{"a newline cannot start a line", "a\nhint: b", `a\nhint: b`},
		{"an escape sequence is shown", "\x1b]0;x\x07", `\x1b]0;x\a`},
		{"C1 control characters are shown", "\u009b31m", `\u009b31m`},
		{"bytes that are no UTF-8 are shown", "\xff\xfe", `\xff\xfe`},
		{"text that changes direction is shown", "a\u202eb", `a\u202eb`},
		{"the replacement character itself is kept", "\ufffd", "\ufffd"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Escape(row.in); got != row.want {
				t.Errorf("printable(%q) = %q, want %q", row.in, got, row.want)
			}
		})
	}
}

func Test_Printer_Prints_One_Line_An_Error_And_Its_Hint(t *testing.T) {
	hinted := sandbox.Errorf(sandbox.Denied, "no").WithHint("do this")
	plain := errors.New("other")
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"one error", plain, "agent-sandbox: other\n"},
		{"one with a hint", hinted, "agent-sandbox: no\nhint: do this\n"},
		{"joined errors", errors.Join(hinted, plain), "agent-sandbox: no\nhint: do this\nagent-sandbox: other\n"},
		{
			"joined ones inside keep what is around them",
			&sandbox.Error{Code: sandbox.Invalid, Backend: "bwrap", Op: "create", Err: errors.Join(plain, plain)},
			"agent-sandbox: bwrap: create: other\nagent-sandbox: bwrap: create: other\n",
		},
		{"two wrapped with a text of their own stay one", fmt.Errorf("%w, and %w", plain, hinted), "agent-sandbox: other, and no\nhint: do this\n"},
		{"a newline in a name stays in its line", errors.New("a\nb"), "agent-sandbox: a\\nb\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b strings.Builder
			(&Printer{w: &b}).Print(row.err)
			if b.String() != row.want {
				t.Errorf("printed %q, want %q", b.String(), row.want)
			}
		})
	}
}

func Test_Exit_Status_Of_Errors(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		want int
	}{
		{"a command that is not there is 127", &sandbox.Error{Code: sandbox.NotFound, Err: &sandbox.ExecError{Name: "x", Code: 127, Err: errors.New("not found")}}, 127},
		{"one that cannot be executed is 126", &sandbox.Error{Code: sandbox.Denied, Err: &sandbox.ExecError{Name: "x", Code: 126, Err: errors.New("no")}}, 126},
		{"a file that is not there is 125", sandbox.Errorf(sandbox.NotFound, "x"), 125},
		{"a deadline is 124", sandbox.Errorf(sandbox.Timeout, "x"), 124},
		{"giving up is 130", sandbox.Errorf(sandbox.Canceled, "x"), 130},
		{"anything else is 125", errors.New("x"), 125},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := ExitCode(row.err); got != row.want {
				t.Errorf("exit status %d, want %d", got, row.want)
			}
		})
	}
}
