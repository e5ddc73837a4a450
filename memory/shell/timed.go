package shell

import (
	"fmt"
	"strings"
	"time"
)

// timed compiles "time" before a pipeline. There is one clock here: what a command took counts as the
// user's time.
func timed(run command, posix, empty bool) command {
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
