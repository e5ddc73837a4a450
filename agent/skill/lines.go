package skill

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a line and a column, from 1.
type place struct{ line, column int }

// scan finds, line by line, faults that the parsed nodes do not show.
type scan struct {
	nodes map[place]yaml.Style
	lines map[int]bool // on which a node begins
	quote rune         // of the scalar that contains the place; 0: none
	block bool         // the line belongs to a block scalar
}

// lines finds the first of these faults, which strictyaml refuses: a tab outside quotes,
// block scalars and comments, since its scanner does not treat a tab as a space and ends
// plain text there; a tag without a name; a comment that touches a block indicator; and
// a line separator at a place where lines matter.
func (r reader) lines(d *document) []Problem {
	s := scan{nodes: map[place]yaml.Style{}, lines: map[int]bool{}}
	walkNodes(d.root, func(n *yaml.Node) bool {
		s.lines[n.Line] = true
		at := place{n.Line, n.Column}
		s.nodes[at] |= n.Style // a mapping begins at its first key
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

// line returns why strictyaml refuses a line, or "".
func (s *scan) line(line int, text []rune) string {
	if s.block = s.block && !s.lines[line]; s.block {
		return checkSeparators(text) // up to the line of the next node, all lines belong to the scalar
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
			return refusedTag // the nodes do not show it
		case c == '\t':
			return "a tab where only spaces are allowed"
		case c == '#' && (i == 0 || text[i-1] == ' '):
			return checkSeparators(text[i:])
		case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			s.block = true
			if rest := strings.TrimLeft(string(text[i+1:]), "+-0123456789"); strings.HasPrefix(rest, "#") {
				return "a comment needs a space before it"
			}
		}
	}
	return ""
}

// checkSeparators refuses line separators before the end of a line: some readers treat what
// follows as a new line.
func checkSeparators(text []rune) string {
	if strings.ContainsAny(strings.TrimRight(string(text), separators), separators) {
		return "a line separator that ends no line"
	}
	return ""
}
