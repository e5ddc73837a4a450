package sed

import (
	"bytes"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// sedSkimmer passes over lines that the script does nothing with, many at once: those that do
// not match the only expression that leads to a command.
type sedSkimmer struct {
	lead *regex.Matcher
	sub  *sedSubstitution // to be done on whole blocks; nil for none
}

// newSkimmer returns the skimmer of the script; nil when it is not that simple.
func (s *sed) newSkimmer() *sedSkimmer {
	if len(s.prog.list) == 0 || s.unbuffered || s.delim == 0 {
		return nil
	}
	c := &s.prog.list[0]
	whole := len(s.prog.list) == 1 || c.name == '{' && c.target == len(s.prog.list)
	if !whole || c.a2 != nil || c.not {
		return nil
	}
	var re *sedRegexp
	switch {
	case c.a1 != nil && c.a1.kind == sedRegex:
		re = c.a1.re
	case c.a1 == nil && c.name == 's':
		re = c.subst.re
		if sub := c.subst; sub.literal != nil && sub.replaceFixed && sub.number < 2 && !sub.print && !sub.execute && sub.out == nil && !s.quiet {
			return &sedSkimmer{sub: sub}
		}
	}
	if re == nil || re.empty || strings.ContainsAny(re.source, "\n\x00") {
		return nil
	}
	compiled, err := regex.Compile(re.source, re.flags|regex.Multiline|regex.NoNewline)
	if err != nil {
		return nil
	}
	return &sedSkimmer{lead: compiled.Matcher(s.p.Spend)}
}

// skim goes on to the next line that the script is for, as far as lines are at hand.
func (k *sedSkimmer) skim(s *sed) {
	in := &s.input
	if in.in == nil {
		return
	}
	n := bytes.LastIndexByte(in.buf[in.r:in.w], s.delim) + 1
	if n == 0 {
		return
	}
	block := in.buf[in.r : in.r+n]
	if k.sub != nil {
		k.replace(s, block)
	} else {
		begin, _, ok := k.lead.Line(block, 0)
		if k.lead.Err() != nil {
			return
		}
		if ok {
			block = block[:begin]
		}
		if !s.quiet {
			_, _ = s.main.Write(block)
		}
	}
	in.r += len(block)
	in.number += bytes.Count(block, []byte{s.delim})
	s.spend(len(block) >> 6)
}

// replace writes the block with its texts replaced.
func (k *sedSkimmer) replace(s *sed, block []byte) {
	text := k.sub.literal
	for len(block) > 0 {
		n := bytes.Index(block, text)
		if n < 0 {
			break
		}
		_, _ = s.main.Write(block[:n])
		_, _ = s.main.Write(k.sub.replaceText)
		block = block[n+len(text):]
		if !k.sub.global {
			end := bytes.IndexByte(block, s.delim) + 1
			_, _ = s.main.Write(block[:end])
			block = block[end:]
		}
	}
	_, _ = s.main.Write(block)
}
