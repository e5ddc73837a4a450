// Package zone knows the world's time zones without a host: the IANA database is part of the program, so that the same TZ gives
// the same time on every machine.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/binary"
	"io"
	"strings"
	"sync"
	"time"
)

//go:generate go run generate.go

//go:embed zoneinfo.zip
var packed []byte

// database returns the packed zones by name.
var database = sync.OnceValue(func() map[string]*zip.File {
	zones := make(map[string]*zip.File)
	// The archive is part of the program; a broken one is found by the tests.
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return zones
	}
	for _, f := range r.File {
		zones[f.Name] = f
	}
	return zones
})

// loaded caches unpacked zones; it holds only the names of the database.
var loaded sync.Map // name → *time.Location

// Load returns the zone that a value of TZ stands for, as the GNU C library reads it: a name of
// the database, with or without a colon before it, or a rule of POSIX such as
// "EST5EDT,M3.2.0,M11.1.0". The empty value is UTC; any other value is UTC under the
// letters that it begins with.
func Load(tz string) *time.Location {
	if known, ok := loaded.Load(tz); ok {
		return known.(*time.Location) //nolint:forcetypeassert // Nothing else is stored.
	}
	if tz == "" || tz == "UTC" || tz == "UTC0" {
		return time.UTC
	}
	loc, fixed := find(tz)
	if fixed {
		// Only names of the database: there are some 600, of rules no end.
		loaded.Store(tz, loc)
	}
	return loc
}

// Names returns the names of the database, in no order.
func Names() []string {
	names := make([]string, 0, len(database()))
	for name := range database() {
		names = append(names, name)
	}
	return names
}

func find(tz string) (loc *time.Location, named bool) {
	name := strings.TrimPrefix(tz, ":")
	if f, ok := database()[name]; ok {
		if loc := unpack(f); loc != nil {
			return loc, true
		}
	}
	if loc, ok := rule(name); ok {
		return loc, false
	}
	letters := name
	if i := strings.IndexFunc(name, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }); i >= 0 {
		letters = name[:i]
	}
	if len(letters) < 3 {
		return time.UTC, false
	}
	return time.FixedZone(letters, 0), false
}

func unpack(f *zip.File) *time.Location {
	r, err := f.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	loc, err := time.LoadLocationFromTZData(f.Name, data)
	if err != nil {
		return nil
	}
	return loc
}

// rule reads a rule of POSIX.
func rule(s string) (*time.Location, bool) {
	name, rest, ok := zoneName(s)
	if !ok {
		return nil, false
	}
	west, rest, ok := hours(rest)
	if !ok {
		return nil, false
	}
	if rest == "" {
		return time.FixedZone(name, -west), true
	}
	loc, err := time.LoadLocationFromTZData(s, file(name, -west, s))
	return loc, err == nil
}

// file is a compiled zone (RFC 8536) of one time and, in its footer, the rule.
func file(name string, east int, rule string) []byte {
	header := func(version byte, types, chars uint32) []byte {
		b := append([]byte("TZif"), version)
		b = append(b, make([]byte, 15+4*4)...)
		b = binary.BigEndian.AppendUint32(b, types)
		return binary.BigEndian.AppendUint32(b, chars)
	}
	chars := append([]byte(name), 0)
	body := binary.BigEndian.AppendUint32(nil, uint32(int32(east)))
	body = append(body, 0, 0)
	body = append(body, chars...)
	n := uint32(len(chars))
	b := append(header('2', 1, n), body...)
	b = append(append(b, header('2', 1, n)...), body...)
	return append(b, "\n"+rule+"\n"...)
}

// zoneName takes a zone's letters, or <...>, from the start of s.
func zoneName(s string) (name, rest string, ok bool) {
	if strings.HasPrefix(s, "<") {
		name, rest, ok = strings.Cut(s[1:], ">")
		return name, rest, ok && len(name) >= 3 && len(name) < 16
	}
	i := 0
	for i < len(s) && (s[i]|0x20) >= 'a' && (s[i]|0x20) <= 'z' {
		i++
	}
	return s[:i], s[i:], i >= 3 && i < 16
}

// hours takes [+-]h[h[:mm[:ss]]] from the start of s, in seconds.
func hours(s string) (seconds int, rest string, ok bool) {
	sign := 1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	for unit := 3600; unit > 0; unit /= 60 {
		n, i := 0, 0
		for i < len(s) && i < 3 && s[i] >= '0' && s[i] <= '9' {
			n = n*10 + int(s[i]-'0')
			i++
		}
		if i == 0 || n > 167 {
			return 0, "", false
		}
		seconds += n * unit
		s = s[i:]
		if unit == 1 || !strings.HasPrefix(s, ":") {
			break
		}
		s = s[1:]
	}
	return sign * seconds, s, true
}
