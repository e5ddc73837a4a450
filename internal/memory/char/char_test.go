package char_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
)

func Test_An_Invalid_Byte_Is_Negative(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		r    rune
		n    int
	}{{"a", 'a', 1}, {"äb", 'ä', 2}, {"\xff", -1 - 0xff, 1}, {"\xc3", -1 - 0xc3, 1}, {"�", 0xfffd, 3}} {
		if r, n := char.Decode(row.text); r != row.r || n != row.n {
			t.Errorf("%q: %d of %d bytes", row.text, r, n)
		}
	}
}

func Test_Digits_End_At_The_Base(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text  string
		width int
		base  uint64
		v     uint64
		n     int
	}{{"1789", 3, 8, 0o17, 2}, {"fFg", 8, 16, 255, 2}, {"", 2, 16, 0, 0}, {"777", 2, 8, 0o77, 2}, {"@_", 2, 36, 0, 0}} {
		if v, n := char.Digits(row.text, row.width, row.base); v != row.v || n != row.n {
			t.Errorf("%q: %d of %d digits", row.text, v, n)
		}
	}
}
