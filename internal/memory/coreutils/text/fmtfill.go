package text

import (
	"math"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// paragraph is the words of a paragraph, or of that part of it which has not been written, and
// the way to divide them into lines.
//
// Of all ways it takes the one that costs least. Each line costs something, the more the farther
// it is from the goal, and the more it differs from the line behind it; the last one of a
// paragraph may be as short as it is. Where a line begins counts too: behind a sentence or a
// comma is a good place, behind "Mr." a very bad one, and a sentence should leave neither its
// first word at the end of a line nor its last one at the beginning.
//
// What is best from a word on does not depend on what is before it, but for the difference of
// the first two lines. So words are looked at from the last one to the first: the best way from
// each is the best first line together with the best way from the word behind that line. A line
// holds no more words than its width, so that the time goes with the length of the text.
//
// The text of a paragraph has no limit, so it is divided part by part.
type paragraph struct {
	prefix int // the column of the prefix
	first  int // the column where the first line of the part begins
	rest   int // and the others
	last   int // length of the line written before; 0 for none
	text   []byte
	words  []fillWord
}

// How much of a paragraph is looked at together.
const (
	partWords = 998
	partBytes = 5000
)

// fillWord is a word, and the best way to go on from it.
type fillWord struct {
	start, size int32 // in the text
	gap         int32 // blanks behind it, where no line ends
	ending      wordEnding
	opens       bool // begins with a parenthesis or a quote

	next   int32 // the word that begins the next line
	length int32 // of the line
	ends   bool  // it is the last one
	cost   int64 // of this line and all behind it
}

// wordEnding is the kind of a word's end.
type wordEnding uint8

const (
	endsPlain wordEnding = iota
	endsPhrase
	endsStop     // with a full stop that is not the end of a sentence
	endsSentence // and the sentence too
)

// The costs of a line, and the gains for good places to end one.
const (
	costOff        = 100 // for columns off the goal, squared
	costUneven     = 50  // for columns that two lines differ by, squared
	costLine       = 70 * 70
	costStop       = 600 * 600 // a line that ends behind endsStop
	costFirstWord  = 200 * 200 // or behind the first word of a sentence; the longer the word the less
	costLastWord   = 150 * 150 // a line that begins with the last word of one, likewise
	gainSentence   = 50 * 50   // a line that ends with a sentence
	gainPhrase     = 40 * 40   // or a phrase
	gainOpening    = 40 * 40   // a line that begins with a parenthesis
	gainLaterBreak = 9         // for parts: to have one more line
)

// begin makes room for a new paragraph.
func (g *paragraph) begin(first lineHead, rest int) {
	g.prefix, g.first, g.rest, g.last = first.prefix, first.body, rest, 0
	g.text, g.words = g.text[:0], g.words[:0]
}

// add adds the word that begins at start and ends with the text. gap is the number of blanks behind it; uniform says that there
// shall be as many as is usual.
func (g *paragraph) add(start, gap int, endsLine, uniform bool) {
	word := g.text[start:]
	ending := endingOf(word)
	if ending == endsStop && (endsLine || gap > 1) {
		ending = endsSentence
	}
	if endsLine || uniform {
		gap = 1
		if ending == endsSentence {
			gap = 2
		}
	}
	g.words = append(g.words, fillWord{ // bounded: a word for two of partBytes
		start: int32(start), size: int32(len(word)), gap: int32(min(gap, farthest)), ending: ending,
		opens: strings.IndexByte("(['`\"", word[0]) >= 0,
	})
}

// farthest bounds the columns of a cost, because costs are squares.
const farthest = 1 << 20

func endingOf(word []byte) wordEnding {
	i := len(word) - 1
	for i > 0 && strings.IndexByte(")]'\"", word[i]) >= 0 {
		i--
	}
	switch last := word[len(word)-1]; {
	case word[i] == '.' || word[i] == '?' || word[i] == '!':
		return endsStop
	case last > ' ' && last < 0x7f && !ascii.IsLetter(last) && !ascii.IsDigit(last):
		return endsPhrase
	}
	return endsPlain
}

// divide finds the best way to divide the words into lines that are shorter than width and, if
// possible, as long as goal.
func (g *paragraph) divide(width, goal int) {
	for i := len(g.words) - 1; i > 0; i-- {
		g.bestLine(i, g.rest, width, goal, 0)
		g.words[i].cost += g.breakCost(i)
	}
	g.bestLine(0, g.first, width, goal, g.last)
}

// bestLine finds the best line that begins with word i at the column indent, behind a line of
// length before, if there is one.
func (g *paragraph) bestLine(i, indent, width, goal, before int) {
	words := g.words[i:]
	length := int64(min(indent, farthest))
	best := fillWord{cost: math.MaxInt64}
	for j := range words {
		w := &words[j]
		length += int64(w.size)
		if j > 0 && length >= int64(width) {
			break
		}
		cost := int64(0)
		if j+1 < len(words) {
			next := &words[j+1]
			off, uneven := length-int64(goal), length-int64(next.length)
			cost = next.cost + costOff*off*off
			if !next.ends {
				cost += costUneven * uneven * uneven
			}
		}
		if before > 0 {
			uneven := length - int64(before)
			cost += costUneven * uneven * uneven
		}
		if cost < best.cost {
			best.cost, best.length, best.next = cost, int32(length), int32(i+j+1)
		}
		length += int64(w.gap)
	}
	w := &words[0]
	w.cost, w.length, w.next, w.ends = best.cost, best.length, best.next, int(best.next) == len(g.words)
}

// breakCost returns the cost of a line that begins with word i.
func (g *paragraph) breakCost(i int) int64 {
	cost := int64(costLine)
	w, before := &g.words[i], &g.words[i-1]
	switch {
	case before.ending == endsSentence:
		cost -= gainSentence
	case before.ending == endsStop:
		cost += costStop
	case before.ending == endsPhrase:
		cost -= gainPhrase
	case i > 1 && g.words[i-2].ending == endsSentence:
		cost += costFirstWord / int64(before.size+2)
	}
	switch {
	case w.opens:
		cost -= gainOpening
	case w.ending == endsSentence:
		cost += costLastWord / int64(w.size+2)
	}
	return cost
}

// fill writes lines: all, or while the paragraph goes on those of the first part.
func (f *formatter) fill(whole bool) {
	g := &f.para
	n := len(g.words)
	if f.ended == nil {
		f.ended = f.p.Spend(n)
	}
	if f.ended != nil || n == 0 {
		return
	}
	if whole {
		g.words[n-1].ending = max(g.words[n-1].ending, endsSentence)
	}
	g.divide(f.width, f.goal)
	end := n
	if !whole {
		end = g.partEnd()
	}
	for i := 0; i < end; i = int(g.words[i].next) {
		f.writeLine(i)
		g.last, g.first = int(g.words[i].length), g.rest
	}
	g.drop(end)
}

// partEnd returns the word before which a part ends: the one that begins the line that is least
// bad, and rather a later one, but not the first line. What comes behind the words can change
// the last lines, so that these are better divided again.
func (g *paragraph) partEnd() int {
	n := len(g.words)
	end, least := n, int64(math.MaxInt64)
	for i := int(g.words[0].next); i < n; {
		w := &g.words[i]
		cost := w.cost
		if !w.ends {
			cost -= g.words[w.next].cost
		}
		if cost < least {
			end, least = i, cost
		}
		least += gainLaterBreak
		i = int(w.next)
	}
	return end
}

// drop forgets the first n words.
func (g *paragraph) drop(n int) {
	used := int32(len(g.text))
	if n < len(g.words) {
		used = g.words[n].start
	} else if last := &g.words[n-1]; n > 0 {
		used = last.start + last.size
	}
	g.text = g.text[:copy(g.text, g.text[used:])]
	g.words = g.words[:copy(g.words, g.words[n:])]
	for i := range g.words {
		g.words[i].start -= used
	}
}

// writeLine writes the line that begins with word i.
func (f *formatter) writeLine(i int) {
	g := &f.para
	f.pad(0, g.prefix)
	_, _ = f.out.WriteString(f.prefix)
	column := g.prefix + len(f.prefix)
	f.pad(column, g.first)
	column = max(column, g.first)
	words := g.words[i:g.words[i].next]
	for j := range words {
		w := &words[j]
		_, _ = f.out.Write(g.text[w.start : w.start+w.size])
		if j+1 == len(words) {
			break
		}
		column += int(w.size)
		if w.gap == 1 {
			_ = f.out.WriteByte(' ')
		} else {
			f.pad(column, column+int(w.gap))
		}
		column += int(w.gap)
	}
	_ = f.out.WriteByte('\n')
}
