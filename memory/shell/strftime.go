package shell

import (
	"fmt"
	"strings"
	"time"
)

// local returns the time in the zone of TZ; names of zones that are not known are UTC.
func (sh *interp) local(t time.Time) time.Time {
	tz, ok := sh.lookupEnv("TZ")
	if sh.m.zone == nil || !ok {
		return t.UTC()
	}
	if loc := sh.m.zone(tz); loc != nil {
		return t.In(loc)
	}
	return t.UTC()
}

// strftime formats a time as strftime(3) does in the C locale.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		pad := byte(0)
		for strings.IndexByte("_-0^#EO", format[i]) >= 0 && i+1 < len(format) {
			pad = format[i]
			i++
		}
		b.WriteString(timeField(format[i], pad, t))
	}
	return b.String()
}

// timeField returns one conversion.
func timeField(c, pad byte, t time.Time) string {
	two := func(n int) string { return padded(n, 2, '0', pad) }
	switch c {
	case 'a':
		return t.Format("Mon")
	case 'A':
		return t.Format("Monday")
	case 'b', 'h':
		return t.Format("Jan")
	case 'B':
		return t.Format("January")
	case 'c':
		return t.Format("Mon Jan _2 15:04:05 2006")
	case 'C':
		return two(t.Year() / 100)
	case 'd':
		return two(t.Day())
	case 'D', 'x':
		return t.Format("01/02/06")
	case 'e':
		return padded(t.Day(), 2, ' ', pad)
	case 'F':
		return t.Format("2006-01-02")
	case 'g', 'G':
		y, _ := t.ISOWeek()
		if c == 'g' {
			return two(y % 100)
		}
		return fmt.Sprint(y)
	case 'H':
		return two(t.Hour())
	case 'I':
		return two((t.Hour()+11)%12 + 1)
	case 'j':
		return padded(t.YearDay(), 3, '0', pad)
	case 'k':
		return padded(t.Hour(), 2, ' ', pad)
	case 'l':
		return padded((t.Hour()+11)%12+1, 2, ' ', pad)
	case 'm':
		return two(int(t.Month()))
	case 'M':
		return two(t.Minute())
	case 'n':
		return "\n"
	case 'N':
		return fmt.Sprintf("%09d", t.Nanosecond())
	case 'p':
		return t.Format("PM")
	case 'P':
		return t.Format("pm")
	case 'r':
		return t.Format("03:04:05 PM")
	case 'R':
		return t.Format("15:04")
	case 's':
		return fmt.Sprint(t.Unix())
	case 'S':
		return two(t.Second())
	case 't':
		return "\t"
	case 'T', 'X':
		return t.Format("15:04:05")
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1)
	case 'U':
		return two((t.YearDay() + 6 - int(t.Weekday())) / 7)
	case 'V':
		_, w := t.ISOWeek()
		return two(w)
	case 'w':
		return fmt.Sprint(int(t.Weekday()))
	case 'W':
		return two((t.YearDay() + 6 - (int(t.Weekday())+6)%7) / 7)
	case 'y':
		return two(t.Year() % 100)
	case 'Y':
		return fmt.Sprint(t.Year())
	case 'z':
		return t.Format("-0700")
	case 'Z':
		return t.Format("MST")
	case '%':
		return "%"
	}
	return "%" + string(c)
}

func padded(n, width int, fill, flag byte) string {
	switch flag {
	case '-':
		return itoa(n)
	case '_':
		fill = ' '
	case '0':
		fill = '0'
	}
	s := itoa(n)
	for len(s) < width {
		s = string(fill) + s
	}
	return s
}
