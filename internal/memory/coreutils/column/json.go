package column

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// writeJSON writes the table as an array of objects.
func (t *columnTable) writeJSON() {
	_, _ = t.out.WriteString("{\n   " + columnQuoted(t.title, false) + ": [\n")
	var roots []int
	for i := range t.rows {
		if t.tree == nil || t.tree.parent[i] < 0 {
			roots = append(roots, i)
		}
	}
	t.writeObjects(roots, "      ")
	_, _ = t.out.WriteString("   ]\n}\n")
}

// writeObjects writes lines, with those below them inside.
func (t *columnTable) writeObjects(rows []int, indent string) {
	plain := program.IsByteLocale(t.p)
	for n, row := range rows {
		if t.p.Spend(1+len(t.shown)+len(indent)>>4) != nil {
			return
		}
		if n == 0 {
			_, _ = t.out.WriteString(indent)
		}
		_, _ = t.out.WriteString("{\n")
		for m, i := range t.shown {
			if m > 0 {
				_, _ = t.out.WriteString(",\n")
			}
			value := "null"
			if text, _ := t.cell(t.rows[row], i); text != "" {
				value = columnQuoted(text, plain)
			}
			name := columnQuoted(strings.ToLower(t.names[i]), false)
			_, _ = t.out.WriteString(indent + "   " + name + ": " + value)
		}
		if t.tree != nil && len(t.tree.children[row]) > 0 {
			_, _ = t.out.WriteString(",\n" + indent + "   \"children\": [\n")
			t.writeObjects(t.tree.children[row], indent+"      ")
			_, _ = t.out.WriteString(indent + "   ]")
		}
		_, _ = t.out.WriteString("\n" + indent + "}")
		if n < len(rows)-1 {
			_ = t.out.WriteByte(',')
		} else {
			_ = t.out.WriteByte('\n')
		}
	}
}

// columnQuoted returns a text as JSON has it. Plain writes bytes beyond ASCII as the C locale shows them.
func columnQuoted(s string, plain bool) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\b':
			b.WriteString(`\b`)
		case c == '\f':
			b.WriteString(`\f`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		case c >= utf8.RuneSelf && plain:
			fmt.Fprintf(&b, `\\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
