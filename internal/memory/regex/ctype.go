package regex

import (
	"sync"
	"unicode"
)

// ctype returns the class of that name as isalpha(3) and the others define it, nil for
// an unknown one. "word" is that of \w. The set is shared: it must not be changed.
func ctype(name string, bytes bool) *set {
	if bytes || name == "digit" || name == "xdigit" {
		return asciiClasses()[name]
	}
	if class, ok := unicodeClasses[name]; ok {
		return class()
	}
	return nil
}

var asciiClasses = sync.OnceValue(func() map[string]*set {
	return map[string]*set{
		"alpha": {[]rune{'A', 'Z', 'a', 'z'}}, "upper": {[]rune{'A', 'Z'}}, "lower": {[]rune{'a', 'z'}},
		"digit": {[]rune{'0', '9'}}, "xdigit": {[]rune{'0', '9', 'A', 'F', 'a', 'f'}},
		"alnum": {[]rune{'0', '9', 'A', 'Z', 'a', 'z'}}, "space": {[]rune{'\t', '\r', ' ', ' '}},
		"blank": {[]rune{'\t', '\t', ' ', ' '}}, "cntrl": {[]rune{0, 31, 127, 127}},
		"punct": {[]rune{'!', '/', ':', '@', '[', '`', '{', '~'}},
		"graph": {[]rune{'!', '~'}}, "print": {[]rune{' ', '~'}},
		"word": {[]rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}},
	}
})

// unicodeClasses are those of C.UTF-8 in the GNU C library: its letters are
// Unicode's alphabetic characters and the digits that are not ASCII's.
var unicodeClasses = map[string]func() *set{
	"alpha": sync.OnceValue(func() *set {
		s := union(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.Nd)
		return s.without('0', '9')
	}),
	"alnum": sync.OnceValue(func() *set { return union(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.Nd) }),
	"word": sync.OnceValue(func() *set {
		s := union(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.Nd)
		s.add('_', '_')
		s.normalize()
		return s
	}),
	"upper": sync.OnceValue(func() *set { return union(unicode.Lu, unicode.Lt, unicode.Other_Uppercase) }),
	"lower": sync.OnceValue(func() *set { return union(unicode.Ll, unicode.Other_Lowercase) }),
	"space": sync.OnceValue(space),
	"blank": sync.OnceValue(func() *set {
		s := union(unicode.Zs).without(0xA0, 0xA0).without(0x2007, 0x2007).without(0x202F, 0x202F)
		s.add('\t', '\t')
		s.normalize()
		return s
	}),
	"cntrl": sync.OnceValue(func() *set { return union(unicode.Cc, unicode.Zl, unicode.Zp) }),
	"graph": sync.OnceValue(graph),
	"print": sync.OnceValue(func() *set {
		s := union(unicode.Zs)
		s.addSet(graph())
		s.normalize()
		return s
	}),
	"punct": sync.OnceValue(func() *set {
		s := union(unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.Nd)
		s.negate(false)
		return intersect(s, graph())
	}),
}

func space() *set {
	s := union(unicode.Zs, unicode.Zl, unicode.Zp).without(0xA0, 0xA0).without(0x2007, 0x2007).without(0x202F, 0x202F)
	s.add('\t', '\r')
	s.normalize()
	return s
}

func graph() *set {
	s := union(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Cf, unicode.Co)
	for _, r := range []rune{0xA0, 0x2007, 0x202F} {
		s.add(r, r)
	}
	s.normalize()
	return s
}

func union(tables ...*unicode.RangeTable) *set {
	s := &set{}
	for _, t := range tables {
		for _, r := range t.R16 {
			s.addStride(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			s.addStride(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	s.normalize()
	return s
}

func (s *set) addStride(lo, hi, stride rune) {
	if stride == 1 {
		s.add(lo, hi)
		return
	}
	for r := lo; r <= hi; r += stride {
		s.add(r, r)
	}
}

// without returns the set without a range.
func (s *set) without(lo, hi rune) *set {
	out := &set{}
	for i := 0; i < len(s.ranges); i += 2 {
		first, last := s.ranges[i], s.ranges[i+1]
		out.add(first, min(last, lo-1))
		out.add(max(first, hi+1), last)
	}
	return out
}

func intersect(a, b *set) *set {
	out := &set{}
	for i, j := 0, 0; i < len(a.ranges) && j < len(b.ranges); {
		out.add(max(a.ranges[i], b.ranges[j]), min(a.ranges[i+1], b.ranges[j+1]))
		if a.ranges[i+1] < b.ranges[j+1] {
			i += 2
		} else {
			j += 2
		}
	}
	return out
}
