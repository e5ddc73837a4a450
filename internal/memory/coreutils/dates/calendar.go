package dates

import (
	"time"
)

// calendar reads the date of a day.
func (p *dateParser) calendar() bool {
	t := p.tokens
	switch {
	case p.is(dateNumber, dateChar, dateNumber) && p.isChar(1, '/'):
		return p.slashes()
	case p.is(dateNumber, dateSigned, dateSigned): // 2024-01-05
		p.setYear(t[0])
		p.month, p.day = time.Month(-t[1].value), int(-t[2].value)
		p.take(3)
		if p.is(dateZone) && p.tokens[0].char == 't' {
			p.dates++
			p.take(1)
			return p.isoTime()
		}
	case p.is(dateNumber, dateMonth, dateSigned): // 5-Jan-2024
		year := t[2]
		year.value = -year.value
		p.day, p.month = int(t[0].value), time.Month(t[1].value)
		if len(t) > 3 && isDateUnit(t[3].kind) { // 5 Jan +1 day
			p.take(2)
			break
		}
		p.setYear(year)
		p.take(3)
	case p.is(dateMonth, dateSigned, dateSigned): // Jan-5-2024
		year := t[2]
		year.value = -year.value
		p.month, p.day = time.Month(t[0].value), int(-t[1].value)
		p.setYear(year)
		p.take(3)
	case p.is(dateNumber, dateMonth, dateNumber): // 5 Jan 2024
		p.day, p.month = int(t[0].value), time.Month(t[1].value)
		p.setYear(t[2])
		p.take(3)
	case p.is(dateNumber, dateMonth):
		p.day, p.month = int(t[0].value), time.Month(t[1].value)
		p.take(2)
	case p.is(dateMonth, dateNumber):
		p.month, p.day = time.Month(t[0].value), int(t[1].value)
		p.take(2)
		if p.isChar(0, ',') && len(p.tokens) > 1 && p.tokens[1].kind == dateNumber {
			p.setYear(p.tokens[1])
			p.take(2)
		}
	default:
		return false
	}
	p.dates++
	return true
}

// isoTime reads the time behind the T of an ISO date.
func (p *dateParser) isoTime() bool {
	if p.clock() {
		return true
	}
	if !p.is(dateNumber, dateSigned) {
		return p.fail()
	}
	p.hour, p.minute, p.second, p.nanos = int(p.tokens[0].value), 0, 0, 0
	p.times++
	p.take(1)
	return p.offset()
}

// slashes reads 1/5, 1/5/2024 (the month first) and 2024/1/5.
func (p *dateParser) slashes() bool {
	t := p.tokens
	p.dates++
	if !p.isChar(3, '/') || len(t) < 5 || t[4].kind != dateNumber {
		p.month, p.day = time.Month(t[0].value), int(t[2].value)
		p.take(3)
		return true
	}
	if t[0].digits >= 4 {
		p.setYear(t[0])
		p.month, p.day = time.Month(t[2].value), int(t[4].value)
	} else {
		p.month, p.day = time.Month(t[0].value), int(t[2].value)
		p.setYear(t[4])
	}
	p.take(5)
	return true
}

func (p *dateParser) setYear(t dateToken) {
	p.year, p.yearDigits = fullYear(int(t.value), t.digits), t.digits
}

// fullYear puts the century before a year of two digits.
func fullYear(n, digits int) int {
	if digits != 2 {
		return n
	}
	if n < 69 {
		return n + 2000
	}
	return n + 1900
}

// farYears bounds years, so that no arithmetic overflows.
const farYears = 1 << 30

// result puts the parts together.
func (p *dateParser) result() (time.Time, bool) {
	hour, ok := p.clockHour()
	if !ok || p.minute > 59 || p.second > 59 || p.year > farYears || p.year < -farYears {
		return time.Time{}, false
	}
	if p.times == 0 && (p.relatives == 0 || p.dates > 0 || p.days > 0) {
		hour, p.minute, p.second, p.nanos = 0, 0, 0, 0
	}
	loc := p.now.Location()
	t, ok := exactTime(p.year, int(p.month), p.day, hour, p.minute, p.second, loc)
	if !ok && p.zones > 0 {
		// The time may exist in the zone of the date though the local zone skips it.
		loc = time.FixedZone("", p.east)
		t, ok = exactTime(p.year, int(p.month), p.day, hour, p.minute, p.second, loc)
	}
	if !ok || p.localZones > 0 && t.IsDST() != p.summer {
		return time.Time{}, false
	}
	t = t.Add(time.Duration(p.nanos))
	if p.days > 0 && p.dates == 0 {
		n := (p.weekday - int(t.Weekday()) + 7) % 7
		weeks := p.ordinal
		if p.ordinal > 0 && int(t.Weekday()) != p.weekday {
			weeks--
		}
		t = time.Date(t.Year(), t.Month(), t.Day()+n+7*weeks, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc)
	}
	return p.moved(t)
}

func (p *dateParser) clockHour() (int, bool) {
	if !p.meridian {
		return p.hour, p.hour < 24
	}
	if p.hour < 1 || p.hour > 12 {
		return 0, false
	}
	return p.hour%12 + p.half, true
}

// moved applies relative items: years, months and days by the calendar, the rest by
// the clock.
func (p *dateParser) moved(t time.Time) (time.Time, bool) {
	r := p.relative
	for _, n := range []int64{r.years, r.months, r.days, r.hours / 9000, r.minutes / 530_000, r.seconds / 32_000_000} {
		if n > farYears || n < -farYears {
			return time.Time{}, false
		}
	}
	if r.years != 0 || r.months != 0 || r.days != 0 {
		t = calendarMove(t, int(r.years), int(r.months), int(r.days))
	}
	seconds := r.hours*3600 + r.minutes*60 + r.seconds
	if p.zones > 0 {
		_, here := t.Zone()
		seconds += int64(here - p.east)
	}
	t = time.Unix(t.Unix()+seconds, int64(t.Nanosecond())+r.nanos)
	return t.In(p.now.Location()), true
}

// calendarMove moves a time by the calendar. Into an hour that summer time leaves out, it
// goes as far as the clock would have gone on without that.
func calendarMove(t time.Time, years, months, days int) time.Time {
	on := func(loc *time.Location) time.Time {
		return time.Date(t.Year()+years, t.Month()+time.Month(months), t.Day()+days, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc)
	}
	moved := on(t.Location())
	if moved.Hour() == t.Hour() && moved.Minute() == t.Minute() {
		return moved
	}
	_, east := moved.Add(-24 * time.Hour).Zone()
	return on(time.FixedZone("", east)).In(t.Location())
}
