package diff

import (
	"bytes"
	"strings"
)

// old returns the lines that have to be there, fresh those that come in their place.
func (h *patchHunk) old() []string { return h.side('+') }

func (h *patchHunk) fresh() []string { return h.side('-') }

func (h *patchHunk) side(other byte) []string {
	var lines []string
	for _, o := range h.ops {
		if o.kind != other {
			lines = append(lines, o.text)
		}
	}
	return lines
}

// swap turns the hunk around.
func (h *patchHunk) swap() {
	h.first, h.newFirst = h.newFirst, h.first
	var out, added []patchOp
	for _, o := range h.ops {
		switch o.kind {
		case ' ':
			out = append(append(out, added...), o)
			added = nil
		case '-':
			o.kind = '+'
			added = append(added, o)
		case '+':
			o.kind = '-'
			out = append(out, o)
		}
	}
	h.ops = append(out, added...)
}

// context returns how many lines before and behind the change are there only to find
// its place.
func (h *patchHunk) context() (before, behind int) {
	for before < len(h.ops) && h.ops[before].kind == ' ' {
		before++
	}
	for behind < len(h.ops)-before && h.ops[len(h.ops)-1-behind].kind == ' ' {
		behind++
	}
	return before, behind
}

// patchedFile is a file while hunks are applied to it.
type patchedFile struct {
	j     *patchJob
	lines []string // as they were, with newlines
	out   []string
	done  int // lines that are copied to out

	offset int // how far the last hunk was from its place
	grown  int // lines added less lines deleted
	name   string

	hunk     int
	failed   int
	mismatch bool
	rejects  bytes.Buffer
}

// apply applies the hunks of a patch to the file.
func (f *patchedFile) apply(fp *filePatch) error {
	for i := range fp.hunks {
		h := &fp.hunks[i]
		if f.j.reversed {
			h.swap()
		}
		f.hunk = i + 1
		if err := f.j.p.Spend(1 + len(h.ops)); err != nil {
			return err
		}
		where, fuzz := 0, 0
		if !f.j.skip {
			var err error
			if where, fuzz, err = f.place(h, i); err != nil {
				return err
			}
		}
		at := where
		if where == 0 {
			at = h.first
		}
		at += f.grown
		taken := where == 1 && fp.empty[f.j.side(sideOld)] == 2 && len(f.lines) > 0
		if where == 0 || f.j.skip || taken || f.misordered(h, where) {
			f.mismatch = f.mismatch || !f.j.skip
			f.reject(fp, h)
			f.failed++
			f.sayFailed(h, at)
			continue
		}
		f.change(h, where)
		if f.j.more || fuzz > 0 || f.offset != 0 {
			f.saySucceeded(at, fuzz)
		}
	}
	f.out = append(f.out, f.lines[f.done:]...) // bounded: ReadWhole has charged for lines
	f.done = len(f.lines)
	return nil
}

// misordered reports a hunk whose change is before an earlier one.
func (f *patchedFile) misordered(h *patchHunk, where int) bool {
	before, _ := h.context()
	if where-1+before >= f.done {
		return false
	}
	f.j.say("misordered hunks! output would be garbled\n")
	return true
}

func (f *patchedFile) sayFailed(h *patchHunk, at int) {
	if f.j.skip {
		if f.j.more {
			f.j.say("Hunk #%d ignored at %d.\n", f.hunk, at)
		}
		return
	}
	note := ""
	if f.hasOtherEndings(h, at) {
		note = " (different line endings)"
	}
	f.j.say("Hunk #%d FAILED at %d%s.\n", f.hunk, at, note)
}

func (f *patchedFile) saySucceeded(at, fuzz int) {
	f.j.say("Hunk #%d succeeded at %d", f.hunk, at)
	if fuzz > 0 {
		f.j.say(" with fuzz %d", fuzz)
	}
	if f.offset != 0 {
		s := "s"
		if f.offset == 1 {
			s = ""
		}
		f.j.say(" (offset %d line%s)", f.offset, s)
	}
	f.j.say(".\n")
}

// hasOtherEndings reports whether only one of hunk and file has carriage returns.
func (f *patchedFile) hasOtherEndings(h *patchHunk, at int) bool {
	old := h.old()
	if len(old) == 0 || at < 1 || at > len(f.lines) {
		return false
	}
	return strings.HasSuffix(f.lines[at-1], "\r\n") != strings.HasSuffix(old[0], "\r\n")
}

// place finds where a hunk belongs, 0 for nowhere. Each round takes one more line at the
// outside of the context as wrong.
func (f *patchedFile) place(h *patchHunk, index int) (where, fuzz int, err error) {
	before, behind := h.context()
	most := min(f.j.fuzz, max(before, behind))
	for {
		if where, err = f.locate(h, fuzz); err != nil {
			return 0, 0, err
		}
		if where == 0 || fuzz > 0 || f.offset != 0 {
			f.mismatch = true
		}
		if index == 0 && where == 0 && !f.j.force && !f.j.anyway && f.j.reversed == f.j.reverse {
			h.swap()
			if where, err = f.locate(h, fuzz); err != nil {
				return 0, 0, err
			}
			what := "Reversed (or previously applied)"
			if f.j.reversed {
				what = "Unreversed"
			}
			if where != 0 && f.j.mayReverse("%s patch detected!", what) {
				f.j.reversed = !f.j.reversed
			} else {
				h.swap()
				if where != 0 {
					f.j.anyway = true
					fuzz--
					where = 0
				}
			}
		}
		fuzz++
		if f.j.skip || where != 0 || fuzz > most {
			return where, fuzz - 1, nil
		}
	}
}

// locate looks for a place with fuzz lines of the context left out at either end, nearest
// to the expected one first.
func (f *patchedFile) locate(h *patchHunk, fuzz int) (int, error) {
	old := h.old()
	guess := h.first + f.offset
	if len(old) == 0 {
		return guess, nil
	}
	before, behind := h.context()
	context := max(before, behind)
	fuzzBefore, fuzzBehind := fuzz+before-context, fuzz+behind-context
	maxWhere := len(f.lines) - (len(old) - fuzzBehind) + 1
	minWhere := f.done + 1
	up, down := maxWhere-guess, guess-minWhere
	if guess <= down {
		down = guess - 1
	}
	if fuzzBefore < 0 && h.first <= 1 {
		return f.locateStart(old, guess, up, before, fuzzBehind), nil
	}
	fuzzBefore = max(fuzzBefore, 0)
	if fuzzBehind < 0 {
		// It can only be at the end.
		offset := guess - (len(f.lines) - len(old) + 1)
		if offset <= down && f.matches(old, guess-offset, fuzzBefore, 0) {
			f.offset -= offset
			return guess - offset, nil
		}
		return 0, nil
	}
	from := 0
	if up < 0 {
		from = -up
	} else if down < 0 {
		from = down
	}
	for offset := from; offset <= max(up, down); offset++ {
		if err := f.j.p.Spend(1); err != nil {
			return 0, err
		}
		if offset <= up && f.matches(old, guess+offset, fuzzBefore, fuzzBehind) {
			f.offset += offset
			return guess + offset, nil
		}
		if offset > 0 && offset <= down && f.matches(old, guess-offset, fuzzBefore, fuzzBehind) {
			f.offset -= offset
			return guess - offset, nil
		}
	}
	return 0, nil
}

// locateStart is for a hunk that has less context before than behind: it belongs to the beginning.
func (f *patchedFile) locateStart(old []string, guess, up, before, fuzzBehind int) int {
	if fuzzBehind < 0 && (len(old) != len(f.lines) || before < f.done) {
		return 0
	}
	offset := 1 - guess
	if f.done <= before && offset <= up && f.matches(old, 1, 0, max(fuzzBehind, 0)) {
		f.offset += offset
		return 1
	}
	return 0
}

// matches compares the lines from where on with those that have to be there.
func (f *patchedFile) matches(old []string, where, fuzzBefore, fuzzBehind int) bool {
	for i := fuzzBefore; i < len(old)-fuzzBehind; i++ {
		k := where - 1 + i
		if k < 0 || k >= len(f.lines) {
			return false
		}
		if f.lines[k] != old[i] && (!f.j.loose || !isSimilarLine(f.lines[k], old[i])) {
			return false
		}
	}
	return true
}

// isSimilarLine compares lines whose runs of white space are alike.
func isSimilarLine(a, b string) bool {
	trim := func(s string) string { return strings.TrimRight(s, " \t\n") }
	blank := func(c byte) bool { return c == ' ' || c == '\t' }
	a, b = trim(a), trim(b)
	for a != "" && b != "" {
		if blank(a[0]) && blank(b[0]) {
			a, b = strings.TrimLeft(a, " \t"), strings.TrimLeft(b, " \t")
			continue
		}
		if a[0] != b[0] {
			return false
		}
		a, b = a[1:], b[1:]
	}
	return a == b
}

// change applies a hunk at line where. Lines of context stay as the file has them.
func (f *patchedFile) change(h *patchHunk, where int) {
	k := where - 1
	for _, o := range h.ops {
		switch o.kind {
		case '+':
			f.copyTo(k)
			f.out = append(f.out, o.text) // bounded: ReadWhole has charged for lines
			f.grown++
		case '-':
			f.copyTo(k)
			k++
			f.done = max(f.done, k)
			f.grown--
		default:
			// Context behind the last change stays open: the next hunk may begin in it.
			k++
		}
	}
}

// copyTo copies lines up to index k that are not copied yet.
func (f *patchedFile) copyTo(k int) {
	k = min(k, len(f.lines))
	if k > f.done {
		f.out = append(f.out, f.lines[f.done:k]...) // bounded: ReadWhole has charged for lines
		f.done = k
	}
}
