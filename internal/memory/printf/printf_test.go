package printf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
	"github.com/seed434b0696/agent-sandbox/internal/memory/printf"
)

// host records warnings and assignments.
type host struct {
	room     int
	locale   char.Locale
	warnings []string
	assigned string
}

func (h *host) Warn(format string, args ...any) {
	h.warnings = append(h.warnings, fmt.Sprintf(format, args...))
}
func (h *host) Hold(n int) bool                          { h.room -= n; return h.room >= 0 }
func (h *host) Spend(int) bool                           { return true }
func (h *host) Locale() char.Locale                      { return h.locale }
func (h *host) Time(format string, seconds int64) string { return fmt.Sprint(format, " ", seconds) }
func (h *host) Assign(name, value string)                { h.assigned = name + "=" + value }

func Test_Printf_Converts_Arguments(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		format string
		args   []string
		want   string
	}{
		{"%s-%5s|%-5s|%.2s", []string{"a", "b", "c", "def"}, "a-    b|c    |de"},
		{"%s,", []string{"1", "2", "3"}, "1,2,3,"},
		{"%d %i %u %o %x %X %#x", []string{"-7", "010", "5", "8", "255", "255", "255"}, "-7 8 5 10 ff FF 0xff"},
		{"%05d|%+d|% d|%.3d", []string{"42", "42", "42", "7"}, "00042|+42| 42|007"},
		{"%d %d", []string{"'A", `"ä`}, "65 228"},
		{"%f %.1e %g %G", []string{"1.5", "12345", "0.0001", "1e-10"}, "1.500000 1.2e+04 0.0001 1E-10"},
		{"%c%c", []string{"abc", "xyz"}, "ax"},
		{"%q", []string{"a b'c"}, `a\ b\'c`},
		{"%b", []string{`a\tb\0101\c no`}, "a\tbA"},
		{`\x41\u00e4\101%%\n`, nil, "AäA%\n"},
		{"%*d|%-*d|%.*f", []string{"4", "7", "4", "7", "1", "2.55"}, "   7|7   |2.5"},
		{"%(%Y)T %(x)T", []string{"12", "-2"}, "%Y 12 x -2"},
		{"%s %d", nil, " 0"},
	} {
		h := &host{room: 1 << 20}
		out, status := printf.Append([]byte("> "), h, row.format, row.args)
		if got := strings.TrimPrefix(string(out), "> "); got != row.want || status != 0 || h.warnings != nil {
			t.Errorf("%q %q: %q with status %d and %q, want %q", row.format, row.args, got, status, h.warnings, row.want)
		}
	}
}

func Test_Wrong_Arguments_Give_A_Warning(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		format, arg, out, warning string
		status                    int
	}{
		{"%d", "12x", "12", "12x: invalid number", 1},
		{"%d", "08", "0", "08: invalid octal number", 1},
		{"%d", "99999999999999999999", "9223372036854775807", "warning: 99999999999999999999: Numerical result out of range", 0},
		{"a%5", "1", "a", "`%5': missing format character", 1},
		{"%y", "1", "", "`y': invalid format character", 1},
		{`\xz`, "", `\xz`, `missing hex digit for \x`, 0},
	} {
		h := &host{room: 1 << 20}
		out, status := printf.Append(nil, h, row.format, []string{row.arg})
		if string(out) != row.out || status != row.status || len(h.warnings) == 0 || h.warnings[0] != row.warning {
			t.Errorf("%q %q: %q, status %d, %q", row.format, row.arg, out, status, h.warnings)
		}
	}
}

func Test_Output_Ends_Where_The_Memory_Does(t *testing.T) {
	t.Parallel()
	h := &host{room: 10_000}
	out, _ := printf.Append(nil, h, "%100000s", []string{"x"})
	if len(out) > 10_000 {
		t.Errorf("%d bytes", len(out))
	}
}

func Test_N_Assigns_The_Length(t *testing.T) {
	t.Parallel()
	h := &host{room: 1 << 20}
	printf.Append(nil, h, "abc%n", []string{"len"})
	if h.assigned != "len=3" {
		t.Errorf("%q", h.assigned)
	}
}

func Test_Echo_Expands_Escapes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text, want string
		stop       bool
		locale     char.Locale
	}{
		{`a\tb\\`, "a\tb\\", false, char.Locale{}},
		{`\0101\x42\u43`, "ABC", false, char.Locale{}},
		{`\u00e4`, "ä", false, char.Locale{}},
		{`\u00e4`, `\u00E4`, false, char.Locale{Bytes: true}},
		{`a\cb`, "a", true, char.Locale{}},
		{`\q\`, `\q\`, false, char.Locale{}},
	} {
		got, stop := printf.AppendEcho(nil, row.locale, row.text)
		if string(got) != row.want || stop != row.stop {
			t.Errorf("%q: %q, %v; want %q, %v", row.text, got, stop, row.want, row.stop)
		}
	}
}
