// Package dates reads dates and times as GNU date does: calendar dates, times of day, zones and offsets such
// as "next monday".
package dates

import (
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
)

// Parse reads a date as date -d takes it: "2024-01-05 10:00 UTC", "next friday", "3 days ago", "@1700000000", and what is made of
// such parts. Missing parts are taken from now, in its location. A TZ="..." at the start names another one.
func Parse(s string, now time.Time) (time.Time, bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if rest, ok := strings.CutPrefix(s, `TZ="`); ok {
		name, rest, ok := strings.Cut(rest, `"`)
		if !ok {
			return time.Time{}, false
		}
		now, s = now.In(zone.Load(name)), rest
	}
	tokens, ok := lexDate(s)
	if !ok {
		return time.Time{}, false
	}
	p := &dateParser{tokens: tokens, now: now}
	p.knowLocalZones()
	p.year, p.month, p.day = now.Date()
	p.hour, p.minute, p.second = now.Clock()
	p.nanos = int64(now.Nanosecond())
	if at := strings.TrimLeft(s, " \t\n\v\f\r"); strings.HasPrefix(at, "@") {
		return p.epoch()
	}
	if !p.items() {
		return time.Time{}, false
	}
	return p.result()
}

// dateParser puts a date together.
type dateParser struct {
	tokens []dateToken
	now    time.Time

	year                 int
	month                time.Month
	day                  int
	yearDigits           int
	hour, minute, second int
	nanos                int64
	meridian             bool // hour counts to 12
	half                 int  // 12 in the afternoon
	weekday, ordinal     int
	east                 int // seconds
	relative             dateDelta
	dates, times, days   int
	zones, relatives     int
	localZones           int
	summer               bool // of a local zone
}

// dateDelta is an offset that is added to a date.
type dateDelta struct {
	years, months, days, hours, minutes, seconds, nanos int64
}

func (d *dateDelta) add(e dateDelta, times int64) {
	d.years += e.years * times
	d.months += e.months * times
	d.days += e.days * times
	d.hours += e.hours * times
	d.minutes += e.minutes * times
	d.seconds += e.seconds * times
	d.nanos += e.nanos * times
}

// is reports whether the next words are of these kinds.
func (p *dateParser) is(kinds ...dateKind) bool {
	if len(p.tokens) < len(kinds) {
		return false
	}
	for i, k := range kinds {
		if p.tokens[i].kind != k {
			return false
		}
	}
	return true
}

// isChar reports whether word i is the character c.
func (p *dateParser) isChar(i int, c byte) bool {
	return i < len(p.tokens) && p.tokens[i].kind == dateChar && p.tokens[i].char == c
}

func (p *dateParser) take(n int) { p.tokens = p.tokens[n:] }

// fail makes the date invalid for good. It returns true, so that the caller does not try to read the words in another way.
func (p *dateParser) fail() bool {
	p.tokens = []dateToken{{kind: dateUnknown}}
	return true
}

// epoch reads "@seconds".
func (p *dateParser) epoch() (time.Time, bool) {
	p.take(1)
	if len(p.tokens) != 2 || p.tokens[0].kind > dateSignedFraction || p.tokens[0].kind == dateEnd {
		return time.Time{}, false
	}
	return time.Unix(p.tokens[0].value, p.tokens[0].nanos).In(p.now.Location()), true
}

// knowLocalZones makes words of the names that the location's zone has in this year.
func (p *dateParser) knowLocalZones() {
	names := make(map[string]int64)
	for month := range 12 {
		t := time.Date(p.now.Year(), time.Month(month+1), 1, 12, 0, 0, 0, p.now.Location())
		name, _ := t.Zone()
		names[strings.ToLower(name)] = 0
		if t.IsDST() {
			names[strings.ToLower(name)] = 1
		}
	}
	for i := range p.tokens {
		t := &p.tokens[i]
		if t.text == "utc" || t.text == "gmt" || t.text == "ut" || t.text == "" {
			continue
		}
		if summer, ok := names[t.text]; ok {
			t.kind, t.value = dateLocalZone, summer
		}
	}
}

func (p *dateParser) items() bool {
	for !p.is(dateEnd) {
		if !p.item() {
			return false
		}
	}
	return p.times <= 1 && p.dates <= 1 && p.days <= 1 && p.zones+p.localZones <= 1
}

// item reads one part of a date.
func (p *dateParser) item() bool {
	switch p.tokens[0].kind {
	case dateNumber:
		return p.clock() || p.calendar() || p.dayOfWeek() || p.relativeUnit() || p.plainNumber()
	case dateFraction, dateSigned, dateSignedFraction:
		return p.relativeUnit()
	case dateMonth:
		return p.calendar()
	case dateDay:
		return p.dayOfWeek()
	case dateOrdinal:
		return p.dayOfWeek() || p.relativeUnit()
	case dateShift:
		p.relative.days += p.tokens[0].value
		p.relatives++
		p.take(1)
		return true
	case dateZone, dateDayZone:
		return p.zone()
	case dateYears, dateMonths, dateDays, dateHours, dateMinutes, dateSeconds:
		return p.relativeUnit()
	case dateLocalZone:
		p.localZones++
		p.summer = p.tokens[0].value == 1
		p.take(1)
		if p.is(dateDST) {
			p.summer = true
			p.take(1)
		}
		return true
	default:
		return false
	}
}

// clock reads "10:30:15.5 pm +02:00" and "10am".
func (p *dateParser) clock() bool {
	if p.is(dateNumber, dateMeridian) {
		p.hour, p.minute, p.second, p.nanos = int(p.tokens[0].value), 0, 0, 0
		p.meridian, p.half = true, int(p.tokens[1].value)
		p.take(2)
		p.times++
		return true
	}
	if !p.isChar(1, ':') || !p.is(dateNumber, dateChar, dateNumber) {
		return false
	}
	p.hour, p.minute, p.second, p.nanos = int(p.tokens[0].value), int(p.tokens[2].value), 0, 0
	p.take(3)
	if p.isChar(0, ':') && (p.is(dateChar, dateNumber) || p.is(dateChar, dateFraction)) {
		p.second, p.nanos = int(p.tokens[1].value), p.tokens[1].nanos
		p.take(2)
	}
	p.meridian = false
	p.times++
	switch {
	case p.is(dateMeridian):
		p.meridian, p.half = true, int(p.tokens[0].value)
		p.take(1)
	case p.is(dateSigned):
		return p.offset()
	}
	return true
}

// offset reads "+02:00", "+0200" or "+2" behind a time.
func (p *dateParser) offset() bool {
	t := p.tokens[0]
	p.take(1)
	minutes := int64(-1)
	if p.isChar(0, ':') && len(p.tokens) > 1 && p.tokens[1].kind == dateNumber {
		minutes = p.tokens[1].value
		p.take(2)
	}
	p.zones++
	east, ok := zoneOffset(t, minutes)
	p.east = east
	return ok || p.fail()
}

// zoneOffset returns seconds east; minutes below 0 means that none were given apart.
func zoneOffset(t dateToken, minutes int64) (int, bool) {
	n := t.value
	if minutes < 0 && t.digits <= 2 {
		minutes = 0
	}
	if minutes < 0 {
		n = n/100*60 + n%100
	} else {
		n *= 60
		if t.value < 0 || t.kind == dateSigned && t.value == 0 && t.nanos < 0 {
			minutes = -minutes
		}
		n += minutes
	}
	return int(n * 60), n >= -24*60 && n <= 24*60
}

// zone reads "UTC", "EST DST", "UTC+3", "EDT".
func (p *dateParser) zone() bool {
	t := p.tokens[0]
	p.take(1)
	p.zones++
	p.east = int(t.value) * 60
	if t.kind == dateDayZone {
		p.east += 3600
		return true
	}
	switch {
	case p.is(dateDST):
		p.take(1)
		p.east += 3600
	case p.is(dateSigned) && (len(p.tokens) < 2 || !isDateUnit(p.tokens[1].kind)):
		base := p.east
		p.zones--
		if !p.offset() {
			return false
		}
		p.east += base
	}
	return true
}

func isDateUnit(k dateKind) bool { return k >= dateYears && k <= dateSeconds }

// dayOfWeek reads "friday", "next friday", "3 friday".
func (p *dateParser) dayOfWeek() bool {
	switch {
	case p.is(dateDay):
		p.ordinal, p.weekday = 0, int(p.tokens[0].value)
		p.take(1)
		if p.isChar(0, ',') {
			p.take(1)
		}
	case p.is(dateOrdinal, dateDay), p.is(dateNumber, dateDay):
		p.ordinal, p.weekday = int(p.tokens[0].value), int(p.tokens[1].value)
		p.take(2)
	default:
		return false
	}
	p.days++
	return true
}

// relativeUnit reads "3 days", "next week", "month", "-2 hours ago".
func (p *dateParser) relativeUnit() bool {
	n, nanos, used := int64(1), int64(0), 0
	switch p.tokens[0].kind {
	case dateNumber, dateSigned, dateFraction, dateSignedFraction, dateOrdinal:
		n, nanos, used = p.tokens[0].value, p.tokens[0].nanos, 1
	default:
	}
	if len(p.tokens) <= used || !isDateUnit(p.tokens[used].kind) {
		return false
	}
	unit := p.tokens[used]
	if k := p.tokens[0].kind; (k == dateFraction || k == dateSignedFraction) && unit.kind != dateSeconds {
		return false
	}
	p.take(used + 1)
	var d dateDelta
	n *= unit.value
	switch unit.kind {
	case dateYears:
		d.years = n
	case dateMonths:
		d.months = n
	case dateDays:
		d.days = n
	case dateHours:
		d.hours = n
	case dateMinutes:
		d.minutes = n
	default:
		d.seconds, d.nanos = n, nanos
	}
	sign := int64(1)
	if p.is(dateAgo) {
		sign = p.tokens[0].value
		p.take(1)
	}
	p.relative.add(d, sign)
	p.relatives++
	return true
}

// plainNumber reads digits alone: a year behind a date, YYYYMMDD, or a time HHMM.
func (p *dateParser) plainNumber() bool {
	t := p.tokens[0]
	p.take(1)
	switch {
	case p.dates > 0 && p.yearDigits == 0 && p.relatives == 0 && (p.times > 0 || t.digits > 2):
		p.setYear(t)
	case t.digits > 4:
		p.dates++
		p.day, p.month = int(t.value%100), time.Month(t.value/100%100)
		p.year, p.yearDigits = int(t.value/10000), t.digits-4
		if p.yearDigits <= 2 {
			p.year = fullYear(p.year, p.yearDigits)
		}
	default:
		p.times++
		p.second, p.nanos, p.meridian = 0, 0, false
		if t.digits <= 2 {
			p.hour, p.minute = int(t.value), 0
		} else {
			p.hour, p.minute = int(t.value/100), int(t.value%100)
		}
	}
	return true
}
