package dates

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// ParsePOSIX reads MMDDhhmm[[CC]YY][.ss], the form in which a time is set.
func ParsePOSIX(s string, now time.Time) (time.Time, bool) {
	second := 0
	if i := strings.IndexByte(s, '.'); i >= 0 {
		n, err := strconv.ParseUint(s[i+1:], 10, 8)
		if err != nil || len(s)-i != 3 || n > 59 {
			return time.Time{}, false
		}
		s, second = s[:i], int(n)
	}
	if ascii.CountDigits(s) != len(s) || len(s) != 8 && len(s) != 10 && len(s) != 12 {
		return time.Time{}, false
	}
	pair := func(i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }
	year := now.Year()
	switch len(s) {
	case 10:
		year = fullYear(pair(8), 2)
	case 12:
		year = pair(8)*100 + pair(10)
	}
	return exactTime(year, pair(0), pair(2), pair(4), pair(6), second, now.Location())
}

// exactTime is time.Date without days and hours that do not exist.
func exactTime(year, month, day, hour, minute, second int, loc *time.Location) (time.Time, bool) {
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, loc)
	ok := int(t.Month()) == month && t.Day() == day && t.Hour() == hour && t.Minute() == minute
	return t, ok
}
