package text

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
)

// sortKind is the comparison of a key.
type sortKind uint8

const (
	sortText sortKind = iota
	sortNumber
	sortGeneral
	sortHuman
	sortMonth
	sortVersions
	sortRandom
)

// sortKey is a part of a line and how it is compared.
type sortKey struct {
	startField, startChar int // counted from 0
	endField, endChar     int // endField math.MaxInt: the end of the line; endChar 0: of the field
	skipStart, skipEnd    bool
	kinds                 uint8 // a bit for each kind that was asked for
	kind                  sortKind
	dictionary, printable bool
	fold, reverse         bool
}

// set takes a letter; start and end say to which ends b applies.
func (k *sortKey) set(letter byte, start, end bool) bool {
	switch letter {
	case 'b':
		k.skipStart = k.skipStart || start
		k.skipEnd = k.skipEnd || end
	case 'd':
		k.dictionary = true
	case 'f':
		k.fold = true
	case 'i':
		k.printable = true
	case 'r':
		k.reverse = true
	default:
		kind, ok := map[byte]sortKind{'n': sortNumber, 'g': sortGeneral, 'h': sortHuman, 'M': sortMonth, 'V': sortVersions, 'R': sortRandom}[letter]
		if !ok {
			return false
		}
		k.kind = kind
		k.kinds |= 1 << kind
	}
	return true
}

// isPlain reports whether the key has no options of its own.
func (k *sortKey) isPlain() bool {
	return k.kinds == 0 && !k.dictionary && !k.printable && !k.fold && !k.reverse && !k.skipStart && !k.skipEnd
}

// settle checks the keys and gives the global options to those without options.
func (s *sorter) settle() (fault string) {
	for i := range s.keys {
		k := &s.keys[i]
		if k.isPlain() {
			g := s.global
			g.startField, g.startChar, g.endField, g.endChar = k.startField, k.startChar, k.endField, k.endChar
			*k = g
		}
		if fault := k.conflict(); fault != "" {
			return fault
		}
	}
	if len(s.keys) == 0 {
		if fault := s.global.conflict(); fault != "" {
			return fault
		}
		whole := s.global
		whole.endField = math.MaxInt
		// Reversing alone needs no key: lines are compared as a whole anyway.
		reversed := whole
		reversed.reverse = false
		if !reversed.isPlain() || s.unique || s.stable {
			s.keys = []sortKey{whole}
		}
	}
	return ""
}

// conflict names options that cannot go together.
func (k *sortKey) conflict() (fault string) {
	n := 0
	for bit := k.kinds; bit != 0; bit &= bit - 1 {
		n++
	}
	alone := k.kinds &^ (1<<sortVersions | 1<<sortRandom)
	versions := 0
	if k.kinds&(1<<sortVersions|1<<sortRandom) != 0 || k.dictionary || k.printable {
		versions = 1
	}
	numbers := 0
	for bit := alone; bit != 0; bit &= bit - 1 {
		numbers++
	}
	if numbers+versions <= 1 {
		return ""
	}
	var letters strings.Builder
	for _, l := range []struct {
		letter byte
		on     bool
	}{
		{'d', k.dictionary},
		{'f', k.fold},
		{'g', k.kinds&(1<<sortGeneral) != 0},
		{'h', k.kinds&(1<<sortHuman) != 0},
		{'i', k.printable && !k.dictionary},
		{'M', k.kinds&(1<<sortMonth) != 0},
		{'n', k.kinds&(1<<sortNumber) != 0},
		{'R', k.kinds&(1<<sortRandom) != 0},
		{'V', k.kinds&(1<<sortVersions) != 0},
	} {
		if l.on && l.letter != 'f' {
			letters.WriteByte(l.letter)
		}
	}
	return "options '-" + letters.String() + "' are incompatible"
}

// parseSortKey reads the argument of -k; fault is its error.
func parseSortKey(text string) (k sortKey, fault string) {
	spec := quoting.Name(text)
	rest := text
	n, rest, ok := sortCount(rest)
	if !ok {
		return k, "invalid number at field start: invalid count at start of " + quoting.Name(rest)
	}
	if n == 0 {
		return k, "field number is zero: invalid field specification " + spec
	}
	k.startField, k.endField = n-1, math.MaxInt
	if after, dot := strings.CutPrefix(rest, "."); dot {
		if n, rest, ok = sortCount(after); !ok {
			return k, "invalid number after '.': invalid count at start of " + quoting.Name(rest)
		}
		if n == 0 {
			return k, "character offset is zero: invalid field specification " + spec
		}
		k.startChar = n - 1
	}
	rest = k.letters(rest, true)
	if rest == "" {
		return k, ""
	}
	after, comma := strings.CutPrefix(rest, ",")
	if !comma {
		return k, "stray character in field spec: invalid field specification " + spec
	}
	if n, rest, ok = sortCount(after); !ok {
		return k, "invalid number after ',': invalid count at start of " + quoting.Name(rest)
	}
	if n == 0 {
		return k, "field number is zero: invalid field specification " + spec
	}
	k.endField = n - 1
	if after, dot := strings.CutPrefix(rest, "."); dot {
		if k.endChar, rest, ok = sortCount(after); !ok {
			return k, "invalid number after '.': invalid count at start of " + quoting.Name(rest)
		}
	}
	if rest = k.letters(rest, false); rest != "" {
		return k, "stray character in field spec: invalid field specification " + spec
	}
	return k, ""
}

func (k *sortKey) letters(rest string, start bool) string {
	for rest != "" && k.set(rest[0], start, !start) {
		rest = rest[1:]
	}
	return rest
}

// sortCount reads a number; one that is too large is as good as all.
func sortCount(s string) (n int, rest string, ok bool) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == 0 {
		return 0, s, false
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		n = math.MaxInt
	}
	return n, s[end:], true
}

// of returns the key's part of a line; tab is the separator of fields, -1 for
// the change from blanks to others.
func (k *sortKey) of(line []byte, tab int) []byte {
	begin := k.begin(line, tab)
	end := len(line)
	if k.endField != math.MaxInt {
		end = k.end(line, tab)
	}
	return line[begin:max(begin, end)]
}

func (k *sortKey) begin(line []byte, tab int) int {
	i := 0
	for n := k.startField; n > 0 && i < len(line); n-- {
		i = skipField(line, i, tab)
		if tab >= 0 && i < len(line) {
			i++
		}
	}
	if k.skipStart {
		i = skipBlanks(line, i)
	}
	return i + min(k.startChar, len(line)-i)
}

func (k *sortKey) end(line []byte, tab int) int {
	fields, chars := k.endField, k.endChar
	if chars == 0 {
		fields++
	}
	i := 0
	for n := fields; n > 0 && i < len(line); n-- {
		i = skipField(line, i, tab)
		if tab >= 0 && i < len(line) && (n > 1 || chars > 0) {
			i++
		}
	}
	if chars == 0 {
		return i
	}
	if k.skipEnd {
		i = skipBlanks(line, i)
	}
	return i + min(chars, len(line)-i)
}

// skipField returns the end of the field at i.
func skipField(line []byte, i, tab int) int {
	if tab >= 0 {
		for i < len(line) && int(line[i]) != tab {
			i++
		}
		return i
	}
	i = skipBlanks(line, i)
	for i < len(line) && !isFieldBlank(line[i]) {
		i++
	}
	return i
}

func skipBlanks(line []byte, i int) int {
	for i < len(line) && isFieldBlank(line[i]) {
		i++
	}
	return i
}
