package diff

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// hunk reads the next hunk of a file; false when there is none.
func (r *patchReader) hunk(fp *filePatch) (h patchHunk, ok bool, err error) {
	switch fp.kind {
	case patchUnified:
		if !strings.HasPrefix(r.peek(0), "@@ -") {
			return h, false, nil
		}
		h, err = r.unified(fp)
	case patchContext, patchContextOld:
		if !strings.HasPrefix(r.peek(0), "********") || !strings.HasPrefix(r.peek(1), "*** ") {
			return h, false, nil
		}
		h, err = r.context(fp)
	case patchNormal:
		if _, _, ok := normalCommand(strings.TrimRight(r.peek(0), "\r\n")); !ok {
			return h, false, nil
		}
		h, err = r.normal(fp)
	case patchUnknown, patchGit:
		return h, false, nil
	}
	return h, err == nil, err
}

// malformed is the error at the line that was read last.
func (r *patchReader) malformed() error {
	line := strings.TrimSuffix(r.peek(-1), "\n")
	return fatalf("malformed patch at line %d: %s\n", r.at, line)
}

// patchRange reads "N" or "N,M" from the front.
func patchRange(s string) (first, count int, counted bool, rest string, ok bool) {
	n := 0
	for n < len(s) && ascii.IsDigit(s[n]) {
		n++
	}
	first, err := strconv.Atoi(s[:n])
	if err != nil || first > 1<<40 {
		return 0, 0, false, s, false
	}
	s = s[n:]
	if !strings.HasPrefix(s, ",") {
		return first, 1, false, s, true
	}
	s = s[1:]
	n = 0
	for n < len(s) && ascii.IsDigit(s[n]) {
		n++
	}
	count, err = strconv.Atoi(s[:n])
	return first, count, true, s[n:], err == nil && count <= 1<<40
}

// text returns a line of the patch without its carriage return when those are stripped.
func (fp *filePatch) text(s string) string {
	if fp.stripCR && strings.HasSuffix(s, "\r\n") {
		return s[:len(s)-2] + "\n"
	}
	return s
}

// withoutNewline takes the newline off the last line when the patch says so behind it.
func (r *patchReader) withoutNewline(s string) string {
	if strings.HasPrefix(r.peek(0), `\`) {
		r.at++
		return strings.TrimSuffix(s, "\n")
	}
	return s
}

func (r *patchReader) unified(fp *filePatch) (h patchHunk, err error) {
	line := r.peek(0)
	r.at++
	var old, fresh int
	rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "@@ -")
	if ok {
		h.first, old, _, rest, ok = patchRange(rest)
	}
	if ok {
		rest, ok = strings.CutPrefix(rest, " +")
	}
	if ok {
		h.newFirst, fresh, _, rest, ok = patchRange(rest)
	}
	if ok {
		h.note, ok = strings.CutPrefix(rest, " @")
		h.note = strings.TrimPrefix(h.note, "@")
	}
	if !ok {
		return h, fatalf("missing line number at line %d: %s", r.at, line)
	}
	if old == 0 {
		h.first++
	}
	if fresh == 0 {
		h.newFirst++
	}
	for old > 0 || fresh > 0 {
		s := " \n"
		if r.at < len(r.lines) {
			s = fp.text(r.peek(0))
			r.at++
		} else if fresh >= 4 {
			return h, fatalf("unexpected end of file in patch")
		}
		op := patchOp{kind: s[0]}
		switch s[0] {
		case '\n', '\t', ' ':
			op.kind = ' '
			if s[0] == ' ' {
				s = s[1:]
			}
			old--
			fresh--
		case '-':
			s = s[1:]
			old--
		case '+':
			s = s[1:]
			fresh--
		default:
			return h, r.malformed()
		}
		if old < 0 || fresh < 0 {
			if r.at == len(r.lines) {
				return h, fatalf("malformed patch at line %d: %s", r.at, " \n")
			}
			return h, r.malformed()
		}
		op.text = r.withoutNewline(s)
		h.ops = append(h.ops, op) // bounded: ReadWhole has charged for the lines of the patch
	}
	return h, nil
}

// normalCommand reads "N[,M]{acd}N[,M]".
func normalCommand(s string) (old, fresh [2]int, ok bool) {
	var letter byte
	read := func(s string) (r [2]int, rest string, ok bool) {
		first, last, both, rest, ok := patchRange(s)
		if !both {
			last = first
		}
		return [2]int{first, last}, rest, ok && last >= first
	}
	old, rest, ok := read(s)
	if !ok || rest == "" {
		return old, fresh, false
	}
	letter, rest = rest[0], rest[1:]
	if fresh, rest, ok = read(rest); !ok || rest != "" {
		return old, fresh, false
	}
	switch letter {
	case 'a':
		old = [2]int{old[0] + 1, old[0]}
	case 'd':
		fresh = [2]int{fresh[0] + 1, fresh[0]}
	case 'c':
	default:
		return old, fresh, false
	}
	return old, fresh, true
}

func (r *patchReader) normal(fp *filePatch) (h patchHunk, err error) {
	old, fresh, _ := normalCommand(strings.TrimRight(r.peek(0), "\r\n"))
	r.at++
	h.first, h.newFirst = old[0], fresh[0]
	take := func(mark string, kind byte, n int) error {
		for range n {
			if r.at >= len(r.lines) {
				return fatalf("unexpected end of file in patch at line %d", r.at)
			}
			s := fp.text(r.peek(0))
			r.at++
			text, ok := strings.CutPrefix(s, mark+" ")
			if !ok {
				if text, ok = strings.CutPrefix(s, mark+"\t"); !ok {
					return fatalf("'%s' followed by space or tab expected at line %d of patch", mark, r.at)
				}
			}
			h.ops = append(h.ops, patchOp{kind: kind, text: r.withoutNewline(text)}) // bounded: ReadWhole has charged for the lines of the patch
		}
		return nil
	}
	deleted, inserted := old[1]-old[0]+1, fresh[1]-fresh[0]+1
	if err := take("<", '-', deleted); err != nil {
		return h, err
	}
	if deleted > 0 && inserted > 0 {
		if !strings.HasPrefix(r.peek(0), "---") {
			r.at++
			return h, fatalf("'---' expected at line %d of patch", r.at)
		}
		r.at++
	}
	return h, take(">", '+', inserted)
}

// context reads both halves of a hunk and puts them together.
func (r *patchReader) context(fp *filePatch) (h patchHunk, err error) {
	r.at++
	oldFirst, oldCount, err := r.contextNumbers("*** ")
	if err != nil {
		return h, err
	}
	old, err := r.contextLines(fp, "-! ", oldCount, func(line string) bool { return strings.HasPrefix(line, "--- ") })
	if err != nil {
		return h, err
	}
	newFirst, newCount, err := r.contextNumbers("--- ")
	if err != nil {
		return h, err
	}
	fresh, err := r.contextLines(fp, "+! ", newCount, func(line string) bool {
		return strings.HasPrefix(line, "***") || line == ""
	})
	if err != nil {
		return h, err
	}
	h.first, h.newFirst = oldFirst, newFirst
	if oldCount == 0 {
		h.first++
	}
	if newCount == 0 {
		h.newFirst++
	}
	// A half without changes is left out: it is the context of the other.
	if len(old) == 0 && oldCount > 0 {
		old = contextOnly(fresh)
	}
	if len(fresh) == 0 && newCount > 0 {
		fresh = contextOnly(old)
	}
	if len(old) != oldCount || len(fresh) != newCount {
		return h, r.malformed()
	}
	h.ops = joinContext(old, fresh)
	if h.ops == nil {
		return h, r.malformed()
	}
	return h, nil
}

func contextOnly(ops []patchOp) []patchOp {
	var out []patchOp
	for _, o := range ops {
		if o.kind == ' ' {
			out = append(out, o)
		}
	}
	return out
}

// joinContext makes one sequence of the halves: their lines of context are the same.
func joinContext(old, fresh []patchOp) []patchOp {
	ops := []patchOp{}
	for len(old) > 0 || len(fresh) > 0 {
		for len(old) > 0 && old[0].kind != ' ' {
			ops = append(ops, patchOp{'-', old[0].text, old[0].kind == '!'})
			old = old[1:]
		}
		for len(fresh) > 0 && fresh[0].kind != ' ' {
			ops = append(ops, patchOp{'+', fresh[0].text, fresh[0].kind == '!'})
			fresh = fresh[1:]
		}
		switch {
		case len(old) > 0 && len(fresh) > 0:
			if old[0].kind != ' ' || fresh[0].kind != ' ' {
				continue
			}
			ops = append(ops, old[0])
			old, fresh = old[1:], fresh[1:]
		case len(old) > 0 && old[0].kind == ' ' || len(fresh) > 0 && fresh[0].kind == ' ':
			return nil
		}
	}
	return ops
}

// contextNumbers reads "*** N,M ****" or "--- N,M ----" and returns the first line and how many there are.
func (r *patchReader) contextNumbers(mark string) (first, count int, err error) {
	line := strings.TrimRight(r.peek(0), "\r\n")
	r.at++
	rest, ok := strings.CutPrefix(line, mark)
	if !ok {
		return 0, 0, r.malformed()
	}
	first, last, both, _, ok := patchRange(rest)
	if !ok {
		return 0, 0, r.malformed()
	}
	switch {
	case both:
		count = last - first + 1
	case first > 0:
		count = 1
	}
	if count < 0 {
		return 0, 0, r.malformed()
	}
	return first, count, nil
}

func (r *patchReader) contextLines(fp *filePatch, marks string, count int, end func(string) bool) ([]patchOp, error) {
	var ops []patchOp
	for len(ops) < count && r.at < len(r.lines) {
		s := fp.text(r.peek(0))
		if end(s) && (!strings.HasPrefix(s, "--- ") || marks[0] != '-' || isContextHalf(s)) {
			break
		}
		r.at++
		op := patchOp{kind: s[0]}
		switch {
		case s == "\n":
			op.kind = ' '
		case strings.IndexByte(marks, s[0]) >= 0 && len(s) > 1 && (s[1] == ' ' || s[1] == '\t'):
			s = s[2:]
		case strings.IndexByte(marks, s[0]) >= 0 && s[1:] == "\n":
			s = "\n"
		default:
			if len(ops) == 0 {
				// The half is left out and something else follows.
				r.at--
				return nil, nil
			}
			return nil, r.malformed()
		}
		op.text = r.withoutNewline(s)
		ops = append(ops, op)
	}
	return ops, nil
}

// isContextHalf reports whether a line introduces the second half; a deleted line may begin with "-- " too.
func isContextHalf(s string) bool {
	_, _, _, rest, ok := patchRange(strings.TrimPrefix(s, "--- "))
	return ok && (strings.HasPrefix(rest, " ---") || strings.TrimSpace(rest) == "")
}
