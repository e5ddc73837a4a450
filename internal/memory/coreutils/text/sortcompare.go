package text

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/versionorder"
)

// sortLine is a line: its position in the text, and the beginning of its first key as
// a number that compares as the key does, or equal.
type sortLine struct {
	prefix uint64
	at, n  uint32
}

func (s *sorter) line(l sortLine) []byte { return s.text[l.at : l.at+l.n] }

// compare compares two lines by keys, then as a whole unless that is not wanted.
func (s *sorter) compare(a, b sortLine) int {
	if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
		return c
	}
	if c := s.compareKeys(s.line(a), s.line(b)); c != 0 || s.unique || s.stable {
		return c
	}
	return s.compareWhole(s.line(a), s.line(b))
}

func (s *sorter) compareKeys(a, b []byte) int {
	for i := range s.keys {
		k := &s.keys[i]
		if c := s.compareKey(k, k.of(a, s.tab), k.of(b, s.tab)); c != 0 {
			if k.reverse {
				return -c
			}
			return c
		}
	}
	return 0
}

func (s *sorter) compareWhole(a, b []byte) int {
	if s.global.reverse {
		return bytes.Compare(b, a)
	}
	return bytes.Compare(a, b)
}

func (s *sorter) compareKey(k *sortKey, a, b []byte) int {
	switch k.kind {
	case sortNumber:
		return parseDecimal(a).compare(parseDecimal(b))
	case sortGeneral:
		return compareGeneral(a, b)
	case sortHuman:
		return compareHuman(a, b)
	case sortMonth:
		return cmp.Compare(monthOf(a), monthOf(b))
	default:
	}
	if k.dictionary || k.printable || k.fold {
		a, b = k.translated(a), k.translated(b)
	}
	switch k.kind {
	case sortVersions:
		return versionorder.Compare(string(a), string(b))
	case sortRandom:
		x, y := s.hash(a), s.hash(b)
		if c := bytes.Compare(x[:], y[:]); c != 0 {
			return c
		}
	default:
	}
	return bytes.Compare(a, b)
}

// hash gives the random order of keys.
func (s *sorter) hash(key []byte) [16]byte {
	return md5.Sum(append(s.seed[:len(s.seed):len(s.seed)], key...))
}

// translated returns what counts of a key.
func (k *sortKey) translated(key []byte) []byte {
	out := make([]byte, 0, len(key))
	for _, c := range key {
		if k.counts(c) {
			if k.fold {
				c = ascii.ToUpper(c)
			}
			out = append(out, c)
		}
	}
	return out
}

func (k *sortKey) counts(c byte) bool {
	switch {
	case k.dictionary:
		return isFieldBlank(c) || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	case k.printable:
		return c >= ' ' && c < 127
	}
	return true
}

// decimal is the number at the beginning of a key, as digits: it may have any length.
type decimal struct {
	negative        bool
	whole, fraction []byte // without needless zeros
}

func parseDecimal(key []byte) decimal {
	i := skipBlanks(key, 0)
	var d decimal
	if i < len(key) && key[i] == '-' {
		d.negative = true
		i++
	}
	for i < len(key) && key[i] == '0' {
		i++
	}
	begin := i
	for i < len(key) && key[i] >= '0' && key[i] <= '9' {
		i++
	}
	d.whole = key[begin:i]
	if i < len(key) && key[i] == '.' {
		begin = i + 1
		for i++; i < len(key) && key[i] >= '0' && key[i] <= '9'; i++ {
		}
		d.fraction = bytes.TrimRight(key[begin:i], "0")
	}
	if len(d.whole) == 0 && len(d.fraction) == 0 {
		d.negative = false
	}
	return d
}

func (d decimal) compare(e decimal) int {
	if d.negative != e.negative {
		if d.negative {
			return -1
		}
		return 1
	}
	c := cmp.Compare(len(d.whole), len(e.whole))
	if c == 0 {
		c = bytes.Compare(d.whole, e.whole)
	}
	if c == 0 {
		c = bytes.Compare(d.fraction, e.fraction)
	}
	if d.negative {
		return -c
	}
	return c
}

// float is a number near d, in the same order or equal.
func (d decimal) float() float64 {
	f := 0.0
	for i, c := range d.whole {
		if i == 17 {
			f *= math.Pow(10, float64(min(len(d.whole)-17, 400)))
			break
		}
		f = f*10 + float64(c-'0')
	}
	if len(d.whole) < 15 && len(d.fraction) > 0 {
		scale := 1.0
		part := 0.0
		for i := range min(len(d.fraction), 15-len(d.whole)) {
			part = part*10 + float64(d.fraction[i]-'0')
			scale *= 10
		}
		f += part / scale
	}
	if d.negative {
		return -f
	}
	return f
}

// general is the number at the beginning of a key for -g: rank distinguishes no number, NaN and numbers.
func general(key []byte) (rank int, f float64) {
	text := string(key[skipBlanks(key, 0):])
	end := generalEnd(text)
	if end == 0 {
		return 0, 0
	}
	number := text[:end]
	if strings.ContainsAny(number, "xX") && !strings.ContainsAny(number, "pP") {
		number += "p0"
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, 0
	}
	if math.IsNaN(f) {
		return 1, 0
	}
	return 2, f
}

// generalEnd returns how much of text is a number of strtold(3).
func generalEnd(text string) int {
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		i++
	}
	lower := strings.ToLower(text[i:min(len(text), i+8)])
	for _, name := range []string{"infinity", "inf", "nan"} {
		if strings.HasPrefix(lower, name) {
			return i + len(name)
		}
	}
	if strings.HasPrefix(lower, "0x") {
		j := i + 2
		for j < len(text) && strings.IndexByte("0123456789abcdefABCDEF", text[j]) >= 0 {
			j++
		}
		if j > i+2 {
			return j
		}
	}
	begin := i
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	some := i > begin
	if i < len(text) && text[i] == '.' {
		j := i + 1
		for j < len(text) && text[j] >= '0' && text[j] <= '9' {
			j++
		}
		if j > i+1 || some {
			some, i = true, j
		}
	}
	if !some {
		return 0
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		j := i + 1
		if j < len(text) && (text[j] == '-' || text[j] == '+') {
			j++
		}
		if j < len(text) && text[j] >= '0' && text[j] <= '9' {
			for j < len(text) && text[j] >= '0' && text[j] <= '9' {
				j++
			}
			i = j
		}
	}
	return i
}

func compareGeneral(a, b []byte) int {
	ra, fa := general(a)
	rb, fb := general(b)
	if c := cmp.Compare(ra, rb); c != 0 {
		return c
	}
	return cmp.Compare(fa, fb)
}

// humanOrder is the power of the unit behind a number, with its sign.
func humanOrder(key []byte) int {
	i := skipBlanks(key, 0)
	sign := 1
	if i < len(key) && key[i] == '-' {
		sign = -1
		i++
	}
	some := false
	for i < len(key) && (key[i] >= '0' && key[i] <= '9' || key[i] == '.') {
		some = some || key[i] >= '1' && key[i] <= '9'
		i++
	}
	if i == len(key) || !some {
		return 0
	}
	unit := key[i]
	if unit == 'k' {
		unit = 'K'
	}
	return sign * (strings.IndexByte(sizes.Units, unit) + 1)
}

func compareHuman(a, b []byte) int {
	if c := cmp.Compare(humanOrder(a), humanOrder(b)); c != 0 {
		return c
	}
	return parseDecimal(a).compare(parseDecimal(b))
}

// monthOf returns 1 for JAN, 0 for what is not a month.
func monthOf(key []byte) int {
	i := skipBlanks(key, 0)
	if len(key)-i < 3 {
		return 0
	}
	return (strings.Index("JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", strings.ToUpper(string(key[i:i+3]))) + 3) / 3
}

// prefixOf returns the number that stands for a line's first key.
func (s *sorter) prefixOf(line []byte) uint64 {
	if len(s.keys) == 0 {
		p := bytesPrefix(line)
		if s.global.reverse {
			return ^p
		}
		return p
	}
	k := &s.keys[0]
	p := s.keyPrefix(k, k.of(line, s.tab))
	if k.reverse {
		return ^p
	}
	return p
}

func (s *sorter) keyPrefix(k *sortKey, key []byte) uint64 {
	switch k.kind {
	case sortNumber:
		return floatPrefix(parseDecimal(key).float())
	case sortGeneral:
		rank, f := general(key)
		if rank < 2 {
			return uint64(rank)
		}
		return max(floatPrefix(f), 2)
	case sortHuman:
		// The order of units is finer than anything else; it leaves 56 bits for the number.
		return uint64(humanOrder(key)+16)<<56 | floatPrefix(parseDecimal(key).float())>>8
	case sortMonth:
		return uint64(monthOf(key))
	case sortVersions:
		return 0
	case sortRandom:
		if k.dictionary || k.printable || k.fold {
			key = k.translated(key)
		}
		sum := s.hash(key)
		return binary.BigEndian.Uint64(sum[:])
	default:
	}
	if k.dictionary || k.printable || k.fold {
		var p uint64
		n := 0
		for _, c := range key {
			if n == 8 {
				break
			}
			if k.counts(c) {
				if k.fold {
					c = ascii.ToUpper(c)
				}
				p |= uint64(c) << (56 - 8*n)
				n++
			}
		}
		return p
	}
	return bytesPrefix(key)
}

func bytesPrefix(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var p uint64
	for i, c := range b {
		p |= uint64(c) << (56 - 8*i)
	}
	return p
}

// floatPrefix returns a number that compares as f does.
func floatPrefix(f float64) uint64 {
	if f == 0 {
		f = 0 // no negative zero
	}
	bits := math.Float64bits(f)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}
