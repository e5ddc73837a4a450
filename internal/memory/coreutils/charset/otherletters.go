package charset

import (
	"cmp"
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// otherLetters returns a text that may stand for a character. The C locale does not take accents off.
func otherLetters(r rune, bytesOnly bool) (string, bool) {
	if text, ok := findOther(typography, r); ok {
		return text, true
	}
	whole := string(r)
	if bytesOnly {
		text := norm.NFKD.String(whole)
		return text, text != whole && norm.NFD.String(whole) == whole && (r == 0xa0 || r > 0xff)
	}
	if text, ok := findOther(accents, r); ok {
		return text, true
	}
	var bare []rune
	for _, c := range norm.NFKD.String(whole) {
		if !unicode.Is(unicode.Mn, c) {
			bare = append(bare, c)
		}
	}
	return string(bare), string(bare) != whole
}

// otherLetter is a character, and a text for it.
type otherLetter struct {
	r    rune
	text string
}

func findOther(list []otherLetter, r rune) (string, bool) {
	i, ok := slices.BinarySearchFunc(list, r, func(o otherLetter, r rune) int { return cmp.Compare(o.r, r) })
	if !ok {
		return "", false
	}
	return list[i].text, true
}

// typography has typographic signs, for every locale.
var typography = []otherLetter{
	{'\u00a9', "(C)"},
	{'\u00ab', "<<"},
	{'\u00ad', "-"},
	{'\u00ae', "(R)"},
	{'\u00b5', "u"},
	{'\u00b8', ","},
	{'\u00bb', ">>"},
	{'\u00bc', " 1/4 "},
	{'\u00bd', " 1/2 "},
	{'\u00be', " 3/4 "},
	{'\u00c6', "AE"},
	{'\u00d7', "x"},
	{'\u00df', "ss"},
	{'\u00e6', "ae"},
	{'\u0152', "OE"},
	{'\u0153', "oe"},
	{'\u02c6', "^"},
	{'\u02dc', "~"},
	{'\u200b', ""},
	{'\u2010', "-"},
	{'\u2011', "-"},
	{'\u2012', "-"},
	{'\u2013', "-"},
	{'\u2014', "--"},
	{'\u2015', "-"},
	{'\u2018', "'"},
	{'\u2019', "'"},
	{'\u201a', ","},
	{'\u201b', "'"},
	{'\u201c', `"`},
	{'\u201d', `"`},
	{'\u201e', ",,"},
	{'\u201f', `"`},
	{'\u2022', "o"},
	{'\u2039', "<"},
	{'\u203a', ">"},
	{'\u2044', "/"},
	{'\u2060', ""},
	{'\u20ac', "EUR"},
	{'\u2122', "(TM)"},
	{'\u2190', "<-"},
	{'\u2192', "->"},
	{'\u2194', "<->"},
	{'\u21d0', "<="},
	{'\u21d2', "=>"},
	{'\u21d4', "<=>"},
	{'\u2212', "-"},
	{'\u2215', "/"},
	{'\u223c', "~"},
	{'\u2264', "<="},
	{'\u2265', ">="},
	{'\u226a', "<<"},
	{'\u226b', ">>"},
}

// accents has letters that have no decomposition, and signs that a locale of UTF-8 knows besides.
var accents = []otherLetter{
	{'\u00a3', "GBP"},
	{'\u00a5', "JPY"},
	{'\u00a6', "|"},
	{'\u00b1', "+-"},
	{'\u00d0', "D"},
	{'\u00d8', "O"},
	{'\u00de', "TH"},
	{'\u00f0', "d"},
	{'\u00f8', "o"},
	{'\u00fe', "th"},
	{'\u0110', "D"},
	{'\u0111', "d"},
	{'\u0131', "i"},
	{'\u0141', "L"},
	{'\u0142', "l"},
}
