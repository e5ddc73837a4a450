package dates

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// dateKind is a kind of word in a date.
type dateKind uint8

const (
	dateEnd      dateKind = iota
	dateNumber            // digits without a sign
	dateSigned            // digits with a sign
	dateFraction          // the same with a fraction
	dateSignedFraction
	dateChar      // any other character
	dateMonth     // value: 1 to 12
	dateDay       // of the week; value: 0 is Sunday
	dateZone      // value: minutes east of Greenwich
	dateLocalZone // value: 1 for summer time
	dateDayZone   // the same; it is summer time
	dateDST       // "dst"
	dateMeridian  // value: hours to add
	dateYears     // units; value: how many of them the word means
	dateMonths
	dateDays
	dateHours
	dateMinutes
	dateSeconds
	dateOrdinal // "next"; value: the number
	dateShift   // "tomorrow"; value: days
	dateAgo     // value: -1, or 1 for "hence"
	dateUnknown
)

// dateToken is a word of a date.
type dateToken struct {
	kind   dateKind
	value  int64
	digits int    // of a number
	nanos  int64  // the fraction of a number, with its sign
	char   byte   // of dateChar; of a zone of one letter that letter
	text   string // of a word, in lower case
}

// maxTokens bounds the words of a date: a script could make one of each byte of an argument.
const maxTokens = 1 << 12

// lexDate takes a date to pieces; not ok when a number is too large, or when there are too many words.
func lexDate(s string) (tokens []dateToken, ok bool) { // bounded: maxTokens
	for len(tokens) < maxTokens {
		s = strings.TrimLeft(s, " \t\n\v\f\r")
		if s == "" {
			return append(tokens, dateToken{kind: dateEnd}), true
		}
		c := s[0]
		switch {
		case ascii.IsDigit(c) || c == '-' || c == '+':
			t, rest, ok := lexDateNumber(s)
			if !ok {
				return nil, false
			}
			if s = rest; t.kind != dateEnd { // A sign before anything else is ignored.
				tokens = append(tokens, t)
			}
		case isLetter(c):
			i := 0
			for i < len(s) && (isLetter(s[i]) || s[i] == '.') {
				i++
			}
			tokens, s = append(tokens, dateWord(s[:i])), s[i:]
		case c == '(':
			if s = skipDateComment(s); s == "" {
				tokens = append(tokens, dateToken{kind: dateEnd})
				return tokens, true
			}
		default:
			tokens, s = append(tokens, dateToken{kind: dateChar, char: c}), s[1:]
		}
	}
	return nil, false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// skipDateComment returns the text after the parentheses at the start of s.
func skipDateComment(s string) string {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[i+1:]
			}
		}
	}
	return ""
}

func lexDateNumber(s string) (t dateToken, rest string, ok bool) {
	t.kind = dateNumber
	sign := int64(1)
	if s[0] == '-' || s[0] == '+' {
		t.kind = dateSigned
		if s[0] == '-' {
			sign = -1
		}
		after := strings.TrimLeft(s[1:], " \t\n\v\f\r")
		for strings.HasPrefix(after, "-") || strings.HasPrefix(after, "+") {
			// Only the last of several signs counts.
			sign = 1
			if after[0] == '-' {
				sign = -1
			}
			after = strings.TrimLeft(after[1:], " \t\n\v\f\r")
		}
		if after == "" || !ascii.IsDigit(after[0]) {
			return dateToken{}, after, true
		}
		s = after
	}
	n := ascii.CountDigits(s)
	if n > 18 {
		return t, "", false
	}
	for _, c := range []byte(s[:n]) {
		t.value = t.value*10 + int64(c-'0')
	}
	t.value *= sign
	t.digits = n
	s = s[n:]
	if len(s) > 1 && (s[0] == '.' || s[0] == ',') && ascii.IsDigit(s[1]) {
		f := ascii.CountDigits(s[1:])
		unit := int64(100_000_000)
		for _, c := range []byte(s[1 : 1+f]) {
			t.nanos += int64(c-'0') * unit * sign
			unit /= 10
		}
		t.kind += dateFraction - dateNumber
		s = s[1+f:]
	}
	return t, s, true
}

var dateMonthNames = []string{
	"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
}

var dateDayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// dateWords are the words with one meaning, without the s of the plural.
var dateWords = map[string]dateToken{
	"sept": {kind: dateMonth, value: 9}, "tues": {kind: dateDay, value: 2}, "wednes": {kind: dateDay, value: 3},
	"thur": {kind: dateDay, value: 4}, "thurs": {kind: dateDay, value: 4},
	"year": {kind: dateYears, value: 1}, "month": {kind: dateMonths, value: 1}, "fortnight": {kind: dateDays, value: 14},
	"week": {kind: dateDays, value: 7}, "day": {kind: dateDays, value: 1}, "hour": {kind: dateHours, value: 1},
	"minute": {kind: dateMinutes, value: 1}, "min": {kind: dateMinutes, value: 1}, "second": {kind: dateSeconds, value: 1},
	"sec":      {kind: dateSeconds, value: 1},
	"tomorrow": {kind: dateShift, value: 1}, "yesterday": {kind: dateShift, value: -1}, "today": {kind: dateShift},
	"now":  {kind: dateShift},
	"last": {kind: dateOrdinal, value: -1}, "this": {kind: dateOrdinal}, "next": {kind: dateOrdinal, value: 1},
	"first": {kind: dateOrdinal, value: 1}, "third": {kind: dateOrdinal, value: 3}, "fourth": {kind: dateOrdinal, value: 4},
	"fifth": {kind: dateOrdinal, value: 5}, "sixth": {kind: dateOrdinal, value: 6}, "seventh": {kind: dateOrdinal, value: 7},
	"eighth": {kind: dateOrdinal, value: 8}, "ninth": {kind: dateOrdinal, value: 9}, "tenth": {kind: dateOrdinal, value: 10},
	"eleventh": {kind: dateOrdinal, value: 11}, "twelfth": {kind: dateOrdinal, value: 12},
	"ago": {kind: dateAgo, value: -1}, "hence": {kind: dateAgo, value: 1}, "dst": {kind: dateDST},
	"am": {kind: dateMeridian}, "a.m.": {kind: dateMeridian}, "pm": {kind: dateMeridian, value: 12}, "p.m.": {kind: dateMeridian, value: 12},
}

// dateZones are the zones that dates may name, in minutes east of Greenwich.
var dateZones = map[string]int64{
	"gmt": 0, "ut": 0, "utc": 0, "wet": 0, "art": -180, "brt": -180, "nst": -210, "ast": -240, "clt": -240, "est": -300,
	"cst": -360, "mst": -420, "pst": -480, "akst": -540, "hst": -600, "hast": -600, "sst": -720, "wat": 60, "cet": 60,
	"met": 60, "mez": 60, "eet": 120, "cat": 120, "sast": 120, "eat": 180, "msk": 180, "ist": 330, "sgt": 480, "kst": 540,
	"jst": 540, "gst": 600, "nzst": 720,
}

// dateDayZones are the zones of summer time; the value is the zone's standard offset.
var dateDayZones = map[string]int64{
	"west": 0, "bst": 0, "brst": -180, "ndt": -210, "adt": -240, "clst": -240, "edt": -300, "cdt": -360, "mdt": -420,
	"pdt": -480, "akdt": -540, "hadt": -600, "cest": 60, "mest": 60, "mesz": 60, "eest": 120, "msd": 180, "nzdt": 720,
}

// dateWord returns the meaning of a word.
func dateWord(word string) dateToken {
	s := strings.ToLower(word)
	if t, ok := dateName(s); ok {
		return t
	}
	if n, ok := dateZones[s]; ok {
		return dateToken{kind: dateZone, value: n, text: s}
	}
	if n, ok := dateDayZones[s]; ok {
		return dateToken{kind: dateDayZone, value: n, text: s}
	}
	if t, ok := dateWords[s]; ok {
		t.text = s
		return t
	}
	if t, ok := dateWords[strings.TrimSuffix(s, "s")]; ok && len(s) > 1 && t.kind != dateMeridian && t.kind != dateDST {
		t.text = s
		return t
	}
	if len(s) == 1 {
		return militaryZone(s[0])
	}
	if plain := strings.ReplaceAll(s, ".", ""); plain != s {
		return dateWord(plain)
	}
	return dateToken{kind: dateUnknown, text: s}
}

// dateName finds months and days: in full, or their first three letters.
func dateName(s string) (dateToken, bool) {
	short := len(s) == 3 || len(s) == 4 && s[3] == '.'
	for i, name := range dateMonthNames {
		if s == name || short && s[:3] == name[:3] {
			return dateToken{kind: dateMonth, value: int64(i + 1)}, true
		}
	}
	for i, name := range dateDayNames {
		if s == name || short && s[:3] == name[:3] {
			return dateToken{kind: dateDay, value: int64(i)}, true
		}
	}
	return dateToken{}, false
}

// militaryZone is a zone of one letter: A is an hour east, N an hour west, Z Greenwich.
func militaryZone(c byte) dateToken {
	t := dateToken{kind: dateZone, char: c}
	switch {
	case c == 'z':
	case c >= 'a' && c <= 'i':
		t.value = int64(c-'a'+1) * 60
	case c >= 'k' && c <= 'm':
		t.value = int64(c-'k'+10) * 60
	case c >= 'n' && c <= 'y':
		t.value = -int64(c-'n'+1) * 60
	default:
		return dateToken{kind: dateUnknown}
	}
	return t
}
