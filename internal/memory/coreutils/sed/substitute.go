package sed

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// substitution reads s/regex/replacement/flags.
func (p *sedParser) substitution(c *sedInstruction) {
	delim := p.char()
	source, ok := p.delimited(delim, true)
	if !ok {
		p.fail(sedErrS)
	}
	replacement, ok := p.delimited(delim, false)
	if !ok {
		p.fail(sedErrS)
	}
	sub := &sedSubstitution{}
	if p.s.p.Reserve(sedPartSize*(1+strings.Count(replacement, "&")+strings.Count(replacement, `\\`))) != nil {
		panic(&sedFault{sedErrMemory, sedPanic})
	}
	sub.replacement(p.escapes([]byte(replacement), sedForReplacement, false), p.s.posix)
	fold, multiline := p.substitutionFlags(sub)
	sub.re = p.regexp(source, fold, multiline, sub.groups)
	if sub.execute && p.s.sandbox {
		p.fail(sedErrSandbox)
	}
	sub.simplify(p.s.extended, fold)
	c.subst = sub
}

// sedPartSize is about what a part of a replacement takes in memory, with the text before it.
const sedPartSize = 128

// replacement divides the text at groups and changes of case.
func (s *sedSubstitution) replacement(b []byte, posix bool) {
	var fold, keep sedCase
	var text []byte
	add := func(group int) {
		s.parts = append(s.parts, sedPart{text, group, fold}) // bounded: sedPartSize is charged for each
		text, fold = nil, keep
		s.groups = max(s.groups, group)
	}
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '&':
			add(0)
		case b[i] != '\\' || i+1 == len(b):
			text = append(text, b[i])
		default:
			i++
			ch := b[i]
			switch {
			case ascii.IsDigit(int(ch)):
				add(int(ch - '0'))
			case posix || strings.IndexByte("LUElu", ch) < 0:
				text = append(text, ch)
			default:
				if len(text) > 0 {
					add(-1)
				}
				fold, keep = nextCase(keep, ch)
			}
		}
	}
	if len(text) > 0 {
		add(-1)
	}
}

// nextCase returns what \L, \U, \E, \l and \u make of the case: for the next part, and for those after it.
func nextCase(keep sedCase, ch byte) (next, rest sedCase) {
	switch ch {
	case 'L':
		return caseLower, caseLower
	case 'U':
		return caseUpper, caseUpper
	case 'E':
		return caseAsIs, caseAsIs
	case 'l':
		return keep | caseFirstLower, keep
	}
	return keep | caseFirstUpper, keep
}

func (p *sedParser) substitutionFlags(s *sedSubstitution) (fold, multiline bool) {
	for {
		ch := p.char()
		switch {
		case (ch == 'i' || ch == 'I') && !p.s.posix:
			fold = true
		case (ch == 'm' || ch == 'M') && !p.s.posix:
			multiline = true
		case ch == 'e' && !p.s.posix:
			s.execute = true
		case ch == 'p':
			if s.print {
				p.fail(sedErrManyP)
			}
			s.print, s.printBefore = true, !s.execute
		case ch == 'g':
			if s.global {
				p.fail(sedErrManyG)
			}
			s.global = true
		case ch == 'w':
			p.substitutionFile(s)
			return fold, multiline
		case ascii.IsDigit(ch):
			if s.number > 0 {
				p.fail(sedErrManyN)
			}
			if s.number = p.integer(ch); s.number == 0 {
				p.fail(sedErrZero)
			}
		case ch == '}' || ch == '#':
			p.back(ch)
			return fold, multiline
		case ch == sedEOF || ch == '\n' || ch == ';':
			return fold, multiline
		case ch == '\r' && p.char() == '\n':
			return fold, multiline
		case ch == ' ' || ch == '\t':
		default:
			p.fail(sedErrOption)
		}
	}
}

func (p *sedParser) substitutionFile(s *sedSubstitution) {
	if p.s.sandbox {
		p.fail(sedErrSandbox)
	}
	name := p.restOfLine()
	if name == "" {
		p.fail(sedErrNoFile)
	}
	s.out = p.outputTo(name)
}

// simplify notes what is plain text, for which there is a shorter way.
func (s *sedSubstitution) simplify(extended, fold bool) {
	s.replaceFixed = true
	for _, part := range s.parts {
		if part.group >= 0 || part.fold != caseAsIs {
			s.replaceFixed = false
		}
	}
	if s.replaceFixed {
		for _, part := range s.parts {
			s.replaceText = append(s.replaceText, part.text...) // bounded: the replacement once more
		}
	}
	special := `\[.*^$` + "\n"
	if extended {
		special += "+?(){}|"
	}
	if source := s.re.source; source != "" && !fold && !strings.ContainsAny(source, special) && utf8.ValidString(source) {
		s.literal = []byte(source)
	}
}

// substitute is the s command on the pattern space.
func (s *sed) substitute(sub *sedSubstitution) {
	re := s.regexp(sub.re)
	if re == nil || !s.find(re, s.line, 0, s.groupsFor(sub)) {
		return
	}
	out := s.spare[:0]
	if !s.replaceIn(sub, re, &out) {
		s.spare = out
		return
	}
	s.adopt(out)
	s.replaced = true
	if s.charge(len(out)) {
		s.after(sub)
	}
}

// groupsFor returns room for the groups that the replacement needs.
func (s *sed) groupsFor(sub *sedSubstitution) []int {
	n := 2 * (sub.groups + 1)
	if cap(s.caps) < n {
		s.caps = make([]int, n) // bounded: the ten groups that a replacement can name
	}
	s.caps = s.caps[:n]
	return s.caps
}

// replaceIn builds the new pattern space, beginning with the match in s.caps. It returns false when
// the match that counts is not there.
func (s *sed) replaceIn(sub *sedSubstitution, re *sedRegexp, to *[]byte) (done bool) {
	line, out := s.line, *to
	start, last, count, again := 0, -1, 0, true
	for {
		begin, end := s.caps[0], s.caps[1]
		out = append(s.grow(out, end-start+len(sub.replaceText)), line[start:begin]...)
		switch {
		case begin == end && begin == last:
			// An empty match right behind another one does not count.
		case count+1 < sub.number:
			count++
			out = append(out, line[begin:end]...)
		default:
			count++
			done = true
			if sub.replaceFixed {
				out = append(out, sub.replaceText...)
			} else {
				out = s.appendReplacement(out, sub)
			}
			again = sub.global
		}
		start, last = end, end
		if begin == end {
			n := s.width(line[end:])
			out = append(out, line[end:end+n]...)
			if start += max(n, 1); n == 0 {
				break
			}
		}
		if s.ended != nil || !again || start > len(line) || !s.isWithinBounds(out) || !s.find(re, line, start, s.caps) {
			break
		}
	}
	if start < len(line) {
		out = append(s.grow(out, len(line)-start), line[start:]...)
	}
	*to = out
	return done
}

// width returns how long the character is at the beginning of b; 0 at the end.
func (s *sed) width(b []byte) int {
	if len(b) == 0 || s.bytes || b[0] < utf8.RuneSelf {
		return min(len(b), 1)
	}
	_, n := utf8.DecodeRune(b)
	return n
}

func (s *sed) appendReplacement(out []byte, sub *sedSubstitution) []byte {
	var later sedCase // asked for by \u before a group that was empty
	for i := range sub.parts {
		part := &sub.parts[i]
		fold := part.fold
		if fold&caseFirst == 0 {
			fold |= later
		}
		later = 0
		if len(part.text) > 0 {
			out = s.appendFolded(out, part.text, fold)
			fold &^= caseFirst
		}
		if part.group < 0 {
			continue
		}
		var text []byte
		if 2*part.group+1 < len(s.caps) && s.caps[2*part.group] >= 0 {
			text = s.line[s.caps[2*part.group]:s.caps[2*part.group+1]]
		}
		if len(text) == 0 {
			if part.fold&caseFirst != 0 {
				later = fold & caseFirst
			}
			continue
		}
		out = s.appendFolded(out, text, fold)
	}
	return out
}

func (s *sed) appendFolded(out, text []byte, fold sedCase) []byte {
	if fold == caseAsIs {
		if out = s.grow(out, len(text)); s.ended != nil {
			return out
		}
		return append(out, text...)
	}
	if out = s.grow(out, 2*len(text)); s.ended != nil { // A letter may be longer in the other case.
		return out
	}
	for len(text) > 0 {
		n := s.width(text)
		switch {
		case fold&caseFirstUpper != 0, fold&caseFirst == 0 && fold&caseUpper != 0:
			out = appendCase(out, text[:n], true)
		case fold&caseFirstLower != 0, fold&caseFirst == 0 && fold&caseLower != 0:
			out = appendCase(out, text[:n], false)
		default:
			out = append(out, text[:n]...)
		}
		fold &^= caseFirst
		text = text[n:]
	}
	return out
}

// after does what the flags of a substitution ask for once it has taken place.
func (s *sed) after(sub *sedSubstitution) {
	before := sub.printBefore && sub.execute
	if sub.print && before {
		s.writeLine(s.main)
	}
	if sub.execute {
		s.evaluate()
	}
	if sub.print && !before {
		s.writeLine(s.main)
	}
	if sub.out != nil {
		s.writeLine(sub.out)
	}
}

// shellOutput runs a command with the shell and returns its output.
func (s *sed) shellOutput(command string) []byte {
	s.flushAll()
	out := sedCapture{s: s}
	s.p.Run(shell.Spawn{Args: []string{"sh", "-c", command}, Stdout: &out})
	return out.b
}

// sedCapture holds a command's output.
type sedCapture struct {
	s *sed
	b []byte
}

// Write adds to what is held; it fails when that is too much.
func (c *sedCapture) Write(b []byte) (int, error) {
	if err := c.s.p.Reserve(len(b)); err != nil {
		return 0, err
	}
	c.b = append(c.b, b...)
	return len(b), nil
}

// appendCase appends a character in upper or lower case.
func appendCase(out, char []byte, upper bool) []byte {
	if len(char) == 1 {
		if upper {
			return append(out, ascii.ToUpper(char[0]))
		}
		return append(out, ascii.ToLower(char[0]))
	}
	r, _ := utf8.DecodeRune(char)
	if upper {
		return utf8.AppendRune(out, unicode.ToUpper(r))
	}
	return utf8.AppendRune(out, unicode.ToLower(r))
}
