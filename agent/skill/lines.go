package skill

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a line and a column, from 1.
type place struct{ line, column int }

// scan looks for what the nodes of a document do not tell, line by line.
type scan struct {
	nodes map[place]yaml.Style
	lines map[int]bool // on which a node begins
	quote rune         // of the scalar that the place is in; 0: of none
	block bool         // the line belongs to a block scalar
}

// lines finds the first of these that strictyaml refuses: a tab outside of quotes, block
// scalars and comments, for its scanner takes no tab for a space, and ends plain text at
// one; tags that have no name; a comment that touches the sign of a block; a separator
// of lines where lines count.
func (r reader) lines(d *document) []Problem {
	s := scan{nodes: map[place]yaml.Style{}, lines: map[int]bool{}}
	each(d.root, func(n *yaml.Node) bool {
		s.lines[n.Line] = true
		at := place{n.Line, n.Column}
		s.nodes[at] |= n.Style // a mapping begins where its first key does
		return true
	})
	line := 0
	for text := range strings.Lines(d.front) {
		line++
		if refused := s.line(line, []rune(strings.TrimRight(text, "\n"))); refused != "" {
			return []Problem{r.fail(line, "", "invalid YAML in frontmatter: %s", refused)}
		}
	}
	return nil
}

// line says why strictyaml refuses a line, or nothing.
func (s *scan) line(line int, text []rune) string {
	if s.block = s.block && !s.lines[line]; s.block {
		return separated(text) // up to the line of the next node, all of it is the scalar's
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		style, begins := s.nodes[place{line, i + 1}]
		switch {
		case s.quote == '"' && c == '\\', s.quote == '\'' && c == '\'' && i+1 < len(text) && text[i+1] == '\'':
			i++
		case s.quote != 0:
			if c == s.quote {
				s.quote = 0
			}
		case style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
			s.quote = c
		case begins && c == '!' && style&yaml.TaggedStyle == 0:
			return refusedTag // it leaves no other trace
		case c == '\t':
			return "a tab where only spaces are allowed"
		case c == '#' && (i == 0 || text[i-1] == ' '):
			return separated(text[i:])
		case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			s.block = true
			if rest := strings.TrimLeft(string(text[i+1:]), "+-0123456789"); strings.HasPrefix(rest, "#") {
				return "a comment needs a space before it"
			}
		}
	}
	return ""
}

// separated refuses separators of lines before the end of a line: what follows is at the
// beginning of a line for some readers.
func separated(text []rune) string {
	if strings.ContainsAny(strings.TrimRight(string(text), separators), separators) {
		return "a line separator that ends no line"
	}
	return ""
}
