package syntax

import "strings"

// delimiter returns the delimiter of a here-document, and whether it was quoted.
func delimiter(w *Word) (delim string, quoted bool) {
	var b strings.Builder
	s := w.Text
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			quoted = true
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		case '\'', '"':
			quoted = true
			j := i + 1
			for j < len(s) && s[j] != c {
				if c == '"' && s[j] == '\\' && j+1 < len(s) && strings.IndexByte(dqEscapes, s[j+1]) >= 0 {
					j++
				}
				b.WriteByte(s[j])
				j++
			}
			i = j
		case '$':
			if i+1 < len(s) && (s[i+1] == '\'' || s[i+1] == '"') {
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), quoted
}

// readHeredocs reads the bodies that begin behind the newline just taken.
func (p *Parser) readHeredocs() {
	list := p.pending
	p.pending = nil
	for _, r := range list {
		p.heredoc(r)
	}
}

func (p *Parser) heredoc(r *Redir) {
	var b strings.Builder
	first := p.line
	for {
		if p.pos >= len(p.src) && !p.fill() {
			p.noDelimiter(r)
			break
		}
		line, whole := p.rawLine(!r.Quoted)
		if r.Op == "<<-" {
			line = strings.TrimLeft(line, "\t")
		}
		if line == r.Delim {
			break
		}
		if !whole {
			p.lastLine = true
			if line == "" {
				p.noDelimiter(r)
				break
			}
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	r.Body = b.String()
	w := &Word{Line: first, Text: r.Body}
	if r.Quoted {
		w.Parts = []Part{&Quoted{r.Body}}
	} else {
		sub := &Parser{src: r.Body, line: first, opt: Options{Alias: p.opt.Alias, ExtGlob: p.opt.ExtGlob}, blankLeft: -1, depth: p.depth, Step: p.Step}
		w.Parts = []Part{&DQ{Parts: sub.parts(modeHere)}}
		p.deepest = max(p.deepest, sub.deepest)
	}
	r.Target = w
}

// noDelimiter notes that the input ended inside a here-document.
func (p *Parser) noDelimiter(r *Redir) {
	line := p.line
	if n := len(p.src); p.lastLine || n > 0 && p.src[n-1] == '\n' {
		line--
	}
	p.unended = append(p.unended, Unended{Line: line, Start: r.Line, Delim: r.Delim})
}

// rawLine takes a line; join says that a backslash at its end joins the next.
func (p *Parser) rawLine(join bool) (line string, whole bool) {
	for {
		i := strings.IndexByte(p.src[p.pos:], '\n')
		if i < 0 {
			line += p.src[p.pos:]
			p.pos = len(p.src)
			if p.fill() {
				continue
			}
			return line, false
		}
		line += p.src[p.pos : p.pos+i]
		p.pos += i + 1
		p.line++
		if join && hasOddBackslashes(line) && (p.pos < len(p.src) || p.fill()) {
			line = line[:len(line)-1]
			continue
		}
		return line, true
	}
}

func hasOddBackslashes(s string) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
