package skill

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a line and a column, from 1.
type place struct{ line, column int }

// tabs finds the first tab outside of quotes, block scalars and comments: strictyaml's
// scanner takes no tab for a space, and ends plain text at one.
func (r reader) tabs(d *document) []Problem {
	scalars, lines := map[place]yaml.Style{}, map[int]bool{}
	each(d.root, func(n *yaml.Node) bool {
		lines[n.Line] = true
		if n.Kind == yaml.ScalarNode {
			scalars[place{n.Line, n.Column}] = n.Style
		}
		return true
	})
	line, quote, block := 0, rune(0), false
	for text := range strings.Lines(d.front) {
		line++
		if block = block && !lines[line]; block {
			continue // up to the line of the next node, all of it is the scalar's
		}
		runes := []rune(strings.TrimRight(text, "\n"))
		for i := 0; i < len(runes); i++ {
			c := runes[i]
			style := scalars[place{line, i + 1}]
			switch {
			case quote == '"' && c == '\\', quote == '\'' && c == '\'' && i+1 < len(runes) && runes[i+1] == '\'':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
				quote = c
			case c == '\t':
				return []Problem{r.fail(line, "", "invalid YAML in frontmatter: a tab where only spaces are allowed")}
			case c == '#' && (i == 0 || runes[i-1] == ' '):
				i = len(runes)
			case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
				block = true
			}
		}
	}
	return nil
}
