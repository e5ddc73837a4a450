package interpreter

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
)

var timeFunctions = map[string]function1{
	"now/0": func(vm *machine, _ Value, _ []Value) (Value, error) {
		return float64(vm.now().UnixMicro()) / 1e6, nil
	},
	"mktime/0":    mktime,
	"gmtime/0":    func(_ *machine, in Value, _ []Value) (Value, error) { return brokenDown(in, "gmtime", time.UTC) },
	"localtime/0": func(vm *machine, in Value, _ []Value) (Value, error) { return brokenDown(in, "localtime", vm.zone()) },
	"strftime/1": func(vm *machine, in Value, a []Value) (Value, error) {
		return formatTime(in, a[0], "strftime", time.UTC, vm)
	},
	"strflocaltime/1": func(vm *machine, in Value, a []Value) (Value, error) {
		return formatTime(in, a[0], "strflocaltime", vm.zone(), vm)
	},
	"strptime/1": parseTime,
}

func (vm *machine) now() time.Time {
	if vm.o.Now == nil {
		return time.Unix(0, 0)
	}
	return vm.o.Now()
}

func (vm *machine) zone() *time.Location {
	if vm.o.Zone == nil {
		return time.UTC
	}
	return vm.o.Zone
}

// brokenDown is [year, month, day, hours, minutes, seconds, weekday, day of the year].
func brokenDown(in Value, name string, zone *time.Location) (Value, error) {
	f, ok := number(in)
	if !ok {
		return nil, errorf("%s() requires a number", name)
	}
	if math.IsNaN(f) || math.Abs(f) > 1e15 {
		return nil, errorf("error converting number of seconds since epoch to datetime")
	}
	whole := math.Floor(f)
	t := time.Unix(int64(whole), 0).In(zone)
	return timeArray(t, float64(t.Second())+f-whole), nil
}

func timeArray(t time.Time, seconds float64) *Array {
	return NewArray(
		float64(t.Year()), float64(t.Month()-1), float64(t.Day()), float64(t.Hour()), float64(t.Minute()), seconds,
		float64(t.Weekday()), float64(t.YearDay()-1))
}

// fromBroken reads such an array.
func fromBroken(v Value, name string, zone *time.Location) (time.Time, error) {
	a, ok := v.(*Array)
	if !ok {
		return time.Time{}, errorf("%s requires array of 6 numbers", name)
	}
	if len(a.v) < 6 {
		return time.Time{}, errorf("%s requires array of 6 numbers", name)
	}
	var n [6]int
	for i := range n {
		f, ok := number(a.v[i])
		if !ok {
			return time.Time{}, errorf("%s requires parsed datetime inputs", name)
		}
		n[i] = int(toInt(max(-1e9, min(f, 1e9))))
	}
	return time.Date(n[0], time.Month(n[1]+1), n[2], n[3], n[4], n[5], 0, zone), nil
}

func mktime(_ *machine, in Value, _ []Value) (Value, error) {
	if _, ok := in.(*Array); !ok {
		return nil, errorf("mktime requires array of 6 numbers")
	}
	t, err := fromBroken(in, "mktime", time.UTC)
	if err != nil {
		return nil, err
	}
	return float64(t.Unix()), nil
}

func formatTime(in, format Value, name string, zone *time.Location, vm *machine) (Value, error) {
	if f, ok := number(in); ok {
		v, err := brokenDown(f, "gmtime", zone)
		if err != nil {
			return nil, err
		}
		in = v
	} else if _, ok := in.(*Array); !ok {
		return nil, errorf("%s/1 requires parsed datetime inputs", name)
	}
	s, ok := format.(string)
	if !ok {
		return nil, errorf("%s/1 requires a string format", name)
	}
	t, err := fromBroken(in, name+"/1", zone)
	if err != nil {
		return nil, errorf("%s/1 requires parsed datetime inputs", name)
	}
	text, _ := strftime.FormatCWithin(s, t, func(n int) bool {
		if err = vm.hold(2 * n); err == nil {
			err = vm.tick()
		}
		return err == nil
	})
	return text, err
}

// timeParser is a time that is being read.
type timeParser struct {
	in                                string
	year, month, day, hour, min, sec  int
	pm, hasPM, hasYearDay, hasSeconds bool
	yearDay                           int
	epoch                             int64
}

func parseTime(_ *machine, in Value, a []Value) (Value, error) {
	s, ok := in.(string)
	if !ok {
		return nil, errorf("strptime/1 requires string inputs and arguments")
	}
	format, ok := a[0].(string)
	if !ok {
		return nil, errorf("strptime/1 requires string inputs and arguments")
	}
	p := &timeParser{in: s, year: 1900}
	if !p.read(format) {
		return nil, errorf("date %s does not match format %s", toJSON(s), toJSON(format))
	}
	if p.in != "" {
		return nil, errorf("date %s does not match format %s", toJSON(s), toJSON(format))
	}
	if p.hasSeconds {
		t := time.Unix(p.epoch, 0).UTC()
		return timeArray(t, float64(t.Second())), nil
	}
	if p.hasPM {
		p.hour = p.hour%12 + map[bool]int{true: 12}[p.pm]
	}
	t := time.Date(p.year, time.Month(p.month+1), max(p.day, 1), p.hour, p.min, p.sec, 0, time.UTC)
	if p.hasYearDay && p.month == 0 && p.day == 0 {
		t = time.Date(p.year, 1, p.yearDay, p.hour, p.min, p.sec, 0, time.UTC)
		p.day = t.Day()
	}
	out := timeArray(t, float64(p.sec))
	out.v[2] = float64(p.day)
	return out, nil
}

func (p *timeParser) read(format string) bool {
	for i := 0; i < len(format); i++ {
		c := format[i]
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			p.in = strings.TrimLeft(p.in, " \t\n\v\f\r")
		case c != '%' || i+1 == len(format):
			if p.in == "" || p.in[0] != c {
				return false
			}
			p.in = p.in[1:]
		default:
			i++
			for i+1 < len(format) && (format[i] == 'E' || format[i] == 'O' || format[i] == '-') {
				i++
			}
			if !p.conversion(format[i]) {
				return false
			}
		}
	}
	return true
}

// number reads up to width digits in a range.
func (p *timeParser) number(width, low, high int, into *int) bool {
	p.in = strings.TrimLeft(p.in, " ")
	n := 0
	for n < len(p.in) && n < width && isDigit(p.in[n]) {
		n++
	}
	v, err := strconv.Atoi(p.in[:n])
	if err != nil || v < low || v > high {
		return false
	}
	p.in = p.in[n:]
	*into = v
	return true
}

func (p *timeParser) name(names []string, into *int) bool {
	for i, full := range names {
		for _, n := range []string{full, full[:3]} {
			if len(p.in) >= len(n) && strings.EqualFold(p.in[:len(n)], n) {
				p.in = p.in[len(n):]
				*into = i
				return true
			}
		}
	}
	return false
}

var (
	monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

func (p *timeParser) conversion(c byte) bool {
	var ignored int
	switch c {
	case 'a', 'A':
		return p.name(dayNames, &ignored)
	case 'b', 'B', 'h':
		return p.name(monthNames, &p.month)
	case 'd', 'e':
		return p.number(2, 1, 31, &p.day)
	case 'H', 'k':
		return p.number(2, 0, 23, &p.hour)
	case 'I', 'l':
		return p.number(2, 1, 12, &p.hour)
	case 'j':
		p.hasYearDay = true
		return p.number(3, 1, 366, &p.yearDay)
	case 'm':
		ok := p.number(2, 1, 12, &p.month)
		p.month--
		return ok
	case 'M':
		return p.number(2, 0, 59, &p.min)
	case 'S':
		return p.number(2, 0, 61, &p.sec)
	case 'y':
		ok := p.number(2, 0, 99, &p.year)
		if p.year += 1900; p.year < 1969 {
			p.year += 100
		}
		return ok
	case 'Y':
		return p.number(4, 0, 9999, &p.year)
	case 'u', 'w':
		return p.number(1, 0, 7, &ignored)
	case 'U', 'W', 'V':
		return p.number(2, 0, 53, &ignored)
	case 'n', 't':
		p.in = strings.TrimLeft(p.in, " \t\n\v\f\r")
		return true
	case '%':
		return p.read("%%"[:0]) && p.literal("%")
	}
	return p.compound(c)
}

func (p *timeParser) literal(s string) bool {
	rest, ok := strings.CutPrefix(p.in, s)
	p.in = rest
	return ok
}

func (p *timeParser) compound(c byte) bool {
	switch c {
	case 'c':
		return p.read("%a %b %e %H:%M:%S %Y")
	case 'D', 'x':
		return p.read("%m/%d/%y")
	case 'F':
		return p.read("%Y-%m-%d")
	case 'T', 'X':
		return p.read("%H:%M:%S")
	case 'R':
		return p.read("%H:%M")
	case 'r':
		return p.read("%I:%M:%S %p")
	case 'p', 'P':
		if len(p.in) < 2 || !strings.EqualFold(p.in[1:2], "m") {
			return false
		}
		p.pm, p.hasPM = p.in[0]|0x20 == 'p', true
		p.in = p.in[2:]
		return true
	case 's':
		n := 0
		for n < len(p.in) && (isDigit(p.in[n]) || n == 0 && p.in[0] == '-') {
			n++
		}
		v, err := strconv.ParseInt(p.in[:n], 10, 64)
		p.epoch, p.hasSeconds = v, true
		p.in = p.in[n:]
		return err == nil
	case 'z':
		if p.literal("Z") {
			return true
		}
		if len(p.in) < 3 || p.in[0] != '+' && p.in[0] != '-' {
			return false
		}
		p.in = strings.TrimLeft(p.in[1:], "0123456789:")
		return true
	case 'Z':
		p.in = strings.TrimLeft(p.in, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
		return true
	}
	return false
}
