package diff

import (
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
)

// patchKind is the format of a patch.
type patchKind uint8

const (
	patchUnknown patchKind = iota
	patchUnified
	patchContext
	patchContextOld // as diffs of old wrote it: without stars behind the numbers
	patchNormal
	patchGit // git's header without hunks
)

// The sides of a patch.
const (
	sideOld = iota
	sideNew
	sideIndex
)

// filePatch is the part of a patch for one file.
type filePatch struct {
	kind  patchKind
	names [3]string // "" when there is none, or when -p took all of it
	stamp [3]time.Time
	known [3]bool   // there is a time
	heads int       // lines of the header that name a file
	rest  [3]string // the text behind the names
	empty [2]int    // 1: the side is empty, 2: it does not exist

	git           bool
	mode          [2]fs.FileMode
	hasMode       [2]bool
	rename, copy  bool
	binary        bool
	stripCR       bool
	header        []string // the text that led to it
	line          int      // of the patch, behind the header
	hunks         []patchHunk
	firstHeadLine int
	err           error // what is wrong behind the hunks
}

// patchHunk is one change with its context.
type patchHunk struct {
	first, newFirst int // where it belongs, from 1
	ops             []patchOp
	note            string // the text behind the second @@
}

// patchOp is a line: ' ' of both, '-' of the old or '+' of the new file. The text has its newline.
type patchOp struct {
	kind byte
	text string
	both bool // a context diff marked it as changed, not only deleted or added
}

// patchReader reads a patch line by line.
type patchReader struct {
	lines []string // with newlines
	at    int
	seen  bool // a patch was found
	end   int  // of the last one
}

func newPatchReader(text string) *patchReader {
	r := &patchReader{lines: strings.SplitAfter(text, "\n")} // bounded: ReadWhole has charged for lines
	if n := len(r.lines); r.lines[n-1] == "" {
		r.lines = r.lines[:n-1]
	}
	return r
}

// peek returns the line i lines ahead, "" behind the end.
func (r *patchReader) peek(i int) string {
	if r.at+i < 0 || r.at+i >= len(r.lines) {
		return ""
	}
	return r.lines[r.at+i]
}

// next finds the next file of the patch and reads its hunks; nil at the end.
func (r *patchReader) next(j *patchJob) (*filePatch, error) {
	fp := &filePatch{firstHeadLine: r.at}
	r.end = r.at
	if !r.head(j, fp) {
		return nil, nil //nolint:nilnil // The end is not an error.
	}
	first := !r.seen
	r.seen = true
	fp.header = r.lines[fp.firstHeadLine:r.at]
	if fp.line = r.at + 1; fp.kind == patchGit && !fp.binary {
		fp.line = r.at
	}
	if fp.stripCR {
		j.say("(Stripping trailing CRs from patch; use --binary to disable.)\n")
	}
	if j.more {
		r.tell(j, fp, first)
	}
	for {
		h, ok, err := r.hunk(fp)
		if err != nil {
			// The changes before it are applied first.
			fp.err = err
			return fp, nil //nolint:nilerr // fp holds the error.
		}
		if !ok {
			return fp, nil
		}
		if err := j.p.Spend(1 + len(h.ops)); err != nil {
			return nil, err
		}
		fp.hunks = append(fp.hunks, h) // bounded: ReadWhole has charged for the lines of the patch
	}
}

func (r *patchReader) tell(j *patchJob, fp *filePatch, first bool) {
	a := map[patchKind]string{
		patchUnified: "a unified diff", patchContext: "a new-style context diff", patchContextOld: "a context diff",
		patchNormal: "a normal diff", patchGit: "a git binary diff",
	}[fp.kind]
	verb := "Looks like"
	if !first {
		verb = "The next patch looks like"
	}
	j.say("Hmm...  %s %s to me...\n", verb, a)
	j.tellHeader(fp)
}

func (j *patchJob) tellHeader(fp *filePatch) {
	if len(fp.header) == 0 {
		return
	}
	j.say("The text leading up to this was:\n--------------------------\n")
	for _, line := range fp.header {
		j.say("|%s", line)
		if !strings.HasSuffix(line, "\n") {
			j.say("\n")
		}
	}
	j.say("--------------------------\n")
}

// head reads text up to the first hunk of a file and records its headers.
func (r *patchReader) head(j *patchJob, fp *filePatch) bool {
	stars, command := false, false
	for ; r.at < len(r.lines); r.at++ {
		s := r.lines[r.at]
		line := strings.TrimRight(s, "\r\n")
		switch {
		case fp.git && fp.found() && strings.HasPrefix(line, "diff --git "):
			fp.kind = patchGit
			return true
		case strings.HasPrefix(line, "diff --git "):
			fp.gitNames(j, line)
		case fp.git && line == "GIT binary patch":
			fp.kind, fp.binary = patchGit, true
			return true
		case fp.git && fp.gitLine(line):
		case strings.HasPrefix(line, "*** ") && stars && (j.want == patchUnknown || j.want == patchContext):
			r.at--
			fp.kind = patchContextOld
			if strings.HasSuffix(line, "*") {
				fp.kind = patchContext
			}
			r.contextEmpty(fp)
			return true
		case strings.HasPrefix(line, "*** "):
			fp.name(j, sideOld, s, s[4:])
		case strings.HasPrefix(line, "--- "):
			// Of a unified diff this is the old file, of a context diff the new one.
			if strings.HasPrefix(r.peek(1), "+++ ") {
				fp.name(j, sideOld, s, s[4:])
			} else {
				fp.name(j, sideNew, s, s[4:])
			}
		case strings.HasPrefix(line, "+++ "):
			fp.name(j, sideNew, s, s[4:])
		case strings.HasPrefix(line, "Index:"):
			fp.name(j, sideIndex, s, strings.TrimLeft(s[6:], " \t"))
		case strings.HasPrefix(line, "@@ -") && (j.file != "" || fp.isNamed()) && (j.want == patchUnknown || j.want == patchUnified):
			fp.kind = patchUnified
			fp.unifiedEmpty(line)
			return true
		case command && (j.file != "" || fp.isNamed()) && (strings.HasPrefix(line, "< ") || strings.HasPrefix(line, "> ")) &&
			(j.want == patchUnknown || j.want == patchNormal):
			r.at--
			fp.kind = patchNormal
			return true
		}
		stars = strings.HasPrefix(line, "********")
		_, _, ok := normalCommand(line)
		command = ok
		if ok && strings.HasPrefix(r.peek(1), "\\") {
			command = true
		}
	}
	if fp.git && fp.found() {
		fp.kind = patchGit
		return true
	}
	return false
}

// isNamed reports whether there is a name; /dev/null counts.
func (fp *filePatch) isNamed() bool {
	return fp.names != [3]string{} || fp.known != [3]bool{} || fp.heads > 0
}

// found reports whether git's header alone is worth a patch.
func (fp *filePatch) found() bool {
	return fp.rename || fp.copy || fp.binary || fp.hasMode[0] || fp.hasMode[1] || fp.empty[0] == 2 || fp.empty[1] == 2
}

// name takes a header's file name and time.
func (fp *filePatch) name(j *patchJob, side int, line, text string) {
	fp.stripCR = fp.stripCR || strings.HasSuffix(line, "\r\n") && !j.binary
	text = strings.TrimRight(text, "\r\n")
	name, rest := splitPatchName(text)
	fp.rest[side] = rest
	fp.heads++
	fp.stamp[side], fp.known[side] = patchTime(rest)
	if name == "/dev/null" {
		fp.names[side] = ""
		fp.stamp[side], fp.known[side] = time.Unix(0, 0), true
		return
	}
	if fp.known[side] {
		// The time may be local to anywhere: a day around the beginning counts as the beginning.
		if u := fp.stamp[side].Unix(); u > -25*3600 && u < 26*3600 {
			fp.stamp[side] = time.Unix(0, 0)
		}
	}
	if stripped, ok := stripPath(name, j.strip); ok {
		fp.names[side] = stripped
	} else {
		fp.names[side] = ""
	}
}

func (fp *filePatch) epoch(side int) bool { return fp.known[side] && fp.stamp[side].Unix() == 0 }

// splitPatchName cuts the time off a name: at a tab, or else at white space.
func splitPatchName(s string) (name, rest string) {
	if strings.HasPrefix(s, `"`) {
		if name, rest, ok := cUnquote(s); ok {
			return name, strings.TrimLeft(rest, " \t")
		}
	}
	if name, rest, ok := strings.Cut(s, "\t"); ok {
		return name, rest
	}
	if i := strings.IndexAny(s, " \v\f"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " ")
	}
	return s, ""
}

// cUnquote reads a name in double quotes, with the escapes of C, from the front of s.
func cUnquote(s string) (name, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
			if k := strings.IndexByte("abtnvfr", s[i]); k >= 0 {
				b.WriteByte('\a' + byte(k))
			} else if s[i] >= '0' && s[i] <= '3' && i+2 < len(s) {
				n, err := strconv.ParseUint(s[i:i+3], 8, 8)
				if err != nil {
					return "", "", false
				}
				b.WriteByte(byte(n))
				i += 2
			} else {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// patchTime reads the times that diff and others write.
func patchTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, layout := range []string{
		"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05Z07:00",
		"Mon Jan _2 15:04:05 2006", "Mon Jan _2 15:04:05 2006 -0700", "Mon, 02 Jan 2006 15:04:05 -0700", "Mon Jan _2 15:04:05 MST 2006",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// stripPath takes n leading parts off a name, all but the last when n is negative.
func stripPath(name string, n int) (string, bool) {
	start, left := 0, n
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		for i+1 < len(name) && name[i+1] == '/' {
			i++
		}
		if left--; n < 0 || left >= 0 {
			start = i + 1
		}
	}
	return name[start:], (n < 0 || left <= 0) && start < len(name)
}

// unifiedEmpty notes sides that the first hunk says are empty.
func (fp *filePatch) unifiedEmpty(line string) {
	old, rest, _ := strings.Cut(line[4:], " ")
	fp.sideEmpty(sideOld, old)
	if fresh, ok := strings.CutPrefix(rest, "+"); ok {
		fp.sideEmpty(sideNew, fresh)
	}
}

func (fp *filePatch) sideEmpty(side int, numbers string) {
	if strings.HasPrefix(numbers, "0") && (len(numbers) == 1 || !ascii.IsDigit(numbers[1])) {
		fp.empty[side] = max(fp.empty[side], 1)
		if fp.epoch(side) {
			fp.empty[side] = 2
		}
	}
}

// contextEmpty does the same for a context diff, whose second numbers are further on.
func (r *patchReader) contextEmpty(fp *filePatch) {
	fp.sideEmpty(sideOld, strings.TrimPrefix(r.peek(1), "*** "))
	for i := 2; ; i++ { // bounded: peek returns no text behind the last line
		line := r.peek(i)
		if line == "" || strings.HasPrefix(line, "***") {
			return
		}
		if rest, ok := strings.CutPrefix(line, "--- "); ok && (strings.HasSuffix(strings.TrimSpace(rest), "-") || ascii.IsDigit(rest[0])) {
			fp.sideEmpty(sideNew, rest)
			return
		}
	}
}

// gitNames reads "diff --git a/x b/y".
func (fp *filePatch) gitNames(j *patchJob, line string) {
	*fp = filePatch{git: true, firstHeadLine: fp.firstHeadLine}
	rest := line[len("diff --git "):]
	var old, fresh string
	if strings.HasPrefix(rest, `"`) {
		name, tail, ok := cUnquote(rest)
		if !ok {
			return
		}
		old, fresh = name, strings.TrimLeft(tail, " ")
		if n, _, ok := cUnquote(fresh); ok && strings.HasPrefix(fresh, `"`) {
			fresh = n
		}
	} else {
		// Names may hold blanks: the middle one is where both sides are the same but for a/ and b/.
		old, fresh, _ = strings.Cut(rest, " ")
		for i := range len(rest) {
			if rest[i] != ' ' {
				continue
			}
			a, b := rest[:i], rest[i+1:]
			if _, x, ok := strings.Cut(a, "/"); ok {
				if _, y, ok := strings.Cut(b, "/"); ok && x == y {
					old, fresh = a, b
					break
				}
			}
		}
	}
	for side, name := range []string{old, fresh} {
		if s, ok := stripPath(name, j.strip); ok {
			fp.names[side] = s
		}
	}
}

// gitIndex reads the hashes of both sides: those of nothing and of an empty file are known.
func (fp *filePatch) gitIndex(s string) bool {
	old, rest, ok := strings.Cut(s, "..")
	if !ok {
		return true
	}
	fresh, _, _ := strings.Cut(rest, " ")
	for side, hash := range []string{old, fresh} {
		switch {
		case hash != "" && strings.Trim(hash, "0") == "":
			fp.empty[side] = 2
		case len(hash) >= 7 && strings.HasPrefix("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", hash):
			fp.empty[side] = max(fp.empty[side], 1)
		}
	}
	return true
}

// gitLine reads a line of git's header.
func (fp *filePatch) gitLine(line string) bool {
	mode := func(side int, s string) bool {
		n, err := strconv.ParseUint(strings.TrimSpace(s), 8, 32)
		fp.mode[side], fp.hasMode[side] = fs.FileMode(n), err == nil
		return true
	}
	for prefix, use := range map[string]func(s string) bool{
		"old mode ":          func(s string) bool { return mode(sideOld, s) },
		"new mode ":          func(s string) bool { return mode(sideNew, s) },
		"deleted file mode ": func(s string) bool { fp.empty[sideNew] = 2; return mode(sideOld, s) },
		"new file mode ":     func(s string) bool { fp.empty[sideOld] = 2; return mode(sideNew, s) },
		"rename from ":       func(string) bool { fp.rename = true; return true },
		"rename to ":         func(string) bool { fp.rename = true; return true },
		"copy from ":         func(string) bool { fp.copy = true; return true },
		"copy to ":           func(string) bool { fp.copy = true; return true },
		"index ":             fp.gitIndex,
	} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return use(rest)
		}
	}
	return false
}
