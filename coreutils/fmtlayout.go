package coreutils

import (
	"bytes"
	"math"
)

// mostFillWords is how many words of a paragraph are laid out together.
const mostFillWords = 1000

// paragraph is what fmt lays out.
type paragraph struct {
	indent      int // of the prefix
	firstIndent int
	otherIndent int
	text        []byte
	words       []fillWord
	count       int // words that are whole; one more may be begun
	lastLength  int // columns of the last line written; 0 for none
}

// fillWord is a word of a paragraph.
type fillWord struct {
	start, length int // in the text
	space         int // columns behind it
	paren         bool
	period        bool // the end may be that of a sentence
	punct         bool
	final         bool // it ends a sentence

	lineLength int   // of the best line that begins here
	cost       int64 // of all lines from here
	next       int   // the first word of the line after that
}

// look notes the punctuation of a word.
func (w *fillWord) look(text []byte) {
	end := text[len(text)-1]
	w.paren = bytes.IndexByte([]byte("(['`\"\x00"), text[0]) >= 0
	w.punct = end > ' ' && end < 0x7f && !isDigitByte(int(end)) && (end|0x20 < 'a' || end|0x20 > 'z')
	i := len(text) - 1
	for i > 0 && bytes.IndexByte([]byte(")]'\"\x00"), text[i]) >= 0 {
		i--
	}
	w.period = bytes.IndexByte([]byte(".?!\x00"), text[i]) >= 0
}

// Costs are squares of ten times the columns that a line would be too short or too long.
const (
	costOfLine     = 70 * 70
	costOfWidow    = 200 * 200 // the first word of a sentence, alone
	costOfOrphan   = 150 * 150 // the last one
	costOfNoBreak  = 600 * 600 // what is no end of a sentence would look like one
	gainOfSentence = 50 * 50
	gainOfPunct    = 40 * 40
	gainOfParen    = 40 * 40
)

// layOut finds the lines of the least cost, from the last word back.
func (f *filler) layOut() {
	f.words[f.count].cost = 0
	steps := 0
	for i := f.count - 1; i >= 0; i-- {
		start := &f.words[i]
		length := f.otherIndent
		if i == 0 {
			length = f.firstIndent
		}
		length += start.length
		best := int64(math.MaxInt64)
		for next := i + 1; ; next++ {
			cost := f.lineCost(next, length) + f.words[next].cost
			if i == 0 && f.lastLength > 0 {
				cost += raggedCost(length - f.lastLength)
			}
			if cost < best {
				best = cost
				start.next, start.lineLength = next, length
			}
			steps++
			if next == f.count {
				break
			}
			if length += f.words[next-1].space + f.words[next].length; length >= f.width {
				break
			}
		}
		start.cost = best + f.breakCost(i)
	}
	// An end shows where the input is read.
	_ = f.p.Spend(1 + steps>>4)
}

// breakCost is what it costs to begin a line with a word.
func (f *filler) breakCost(i int) int64 {
	cost := int64(costOfLine)
	w := &f.words[i]
	if i > 0 {
		switch before := &f.words[i-1]; {
		case before.period && before.final:
			cost -= gainOfSentence
		case before.period:
			cost += costOfNoBreak
		case before.punct:
			cost -= gainOfPunct
		case i > 1 && f.words[i-2].final:
			cost += costOfWidow / int64(before.length+2)
		}
	}
	if w.paren {
		return cost - gainOfParen
	}
	if w.final {
		cost += costOfOrphan / int64(w.length+2)
	}
	return cost
}

// lineCost is what a line of a length costs with word number next behind it.
func (f *filler) lineCost(next, length int) int64 {
	if next == f.count {
		return 0
	}
	short := int64(f.goal-length) * 10
	cost := short * short
	if w := &f.words[next]; w.next != f.count {
		cost += raggedCost(length - w.lineLength)
	}
	return cost
}

// raggedCost is what it costs that two lines differ by n columns.
func raggedCost(n int) int64 {
	short := int64(n) * 10
	return short * short / 2
}
