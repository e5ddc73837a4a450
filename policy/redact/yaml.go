package redact

import (
	"encoding/json"
	"strings"
)

// maxYAMLDepth bounds the nesting of a document.
const maxYAMLDepth = 16

// yamlNode is a mapping, a sequence or a scalar of a YAML document.
type yamlNode struct {
	line  int
	key   string // in a mapping
	text  string // of a scalar
	kind  yamlKind
	nodes []*yamlNode
}

// yamlKind is the kind of a node.
type yamlKind int

const (
	yamlScalar yamlKind = iota
	yamlMapping
	yamlSequence
)

// child returns the scalar of a mapping with a key, or "".
func (n *yamlNode) child(key string) string {
	for _, c := range n.nodes {
		if c.key == key && c.kind == yamlScalar {
			return c.text
		}
	}
	return ""
}

// yamlLine is a line with content.
type yamlLine struct {
	number, indent int
	text           string
}

// yaml reads the part of YAML that configuration files of package managers use: block mappings and sequences whose scalars stand on
// one line. Everything else, such as anchors, tags, flow collections and scalars of several lines, is a fault.
type yaml struct {
	lines []yamlLine
	pos   int
}

func parseYAML(text string) (*yamlNode, error) {
	y := &yaml{}
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case trimmed == "" || trimmed[0] == '#', i == 0 && strings.TrimRight(line, " ") == "---":
			continue
		case !isPrintable(line) || strings.Contains(line, "\t"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "..."), line[0] == '%':
			return nil, lineFault(i+1, errSyntax)
		}
		y.lines = append(y.lines, yamlLine{i + 1, len(line) - len(trimmed), strings.TrimRight(trimmed, " ")})
	}
	top := &yamlNode{kind: yamlMapping}
	if len(y.lines) == 0 {
		return top, nil
	}
	if y.lines[0].indent != 0 || !y.mapping(top, 0, 0) || y.pos < len(y.lines) {
		return nil, lineFault(y.lines[min(y.pos, len(y.lines)-1)].number, errSyntax)
	}
	return top, nil
}

// peek returns the next line if it is indented by at least indent.
func (y *yaml) peek(indent int) (yamlLine, bool) {
	if y.pos < len(y.lines) && y.lines[y.pos].indent >= indent {
		return y.lines[y.pos], true
	}
	return yamlLine{}, false
}

// mapping reads the keys that are indented by indent.
func (y *yaml) mapping(into *yamlNode, indent, depth int) bool {
	if into.kind = yamlMapping; depth > maxYAMLDepth {
		return false
	}
	seen := map[string]bool{}
	for {
		l, ok := y.peek(indent)
		if !ok {
			return true
		}
		if l.indent != indent {
			return false
		}
		key, rest, ok := yamlKey(l.text)
		if !ok || seen[key] {
			return false
		}
		seen[key] = true
		n := &yamlNode{line: l.number, key: key}
		into.nodes = append(into.nodes, n)
		y.pos++
		if !y.value(n, rest, indent, depth) {
			return false
		}
	}
}

// value reads what follows a key with an indent: a scalar on its line, or deeper lines.
func (y *yaml) value(n *yamlNode, rest string, indent, depth int) bool {
	if rest != "" && rest[0] != '#' {
		text, ok := yamlText(rest)
		n.text = text
		return ok
	}
	l, ok := y.peek(indent)
	switch {
	case ok && isYAMLItem(l.text): // a sequence may have the indent of its key
		return y.sequence(n, l.indent, depth+1)
	case ok && l.indent > indent:
		return y.mapping(n, l.indent, depth+1)
	}
	return true // an empty value
}

func isYAMLItem(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }

func (y *yaml) sequence(into *yamlNode, indent, depth int) bool {
	if into.kind = yamlSequence; depth > maxYAMLDepth {
		return false
	}
	for {
		l, ok := y.peek(indent)
		if !ok || l.indent == indent && !isYAMLItem(l.text) {
			return true // the next key of the mapping
		}
		if l.indent != indent {
			return false
		}
		n := &yamlNode{line: l.number}
		into.nodes = append(into.nodes, n)
		item := strings.TrimLeft(l.text[1:], " ")
		if item == "" {
			return false
		}
		if _, _, isKey := yamlKey(item); isKey { // a mapping whose first key stands on this line
			deeper := indent + len(l.text) - len(item)
			y.lines[y.pos] = yamlLine{l.number, deeper, item}
			if !y.mapping(n, deeper, depth+1) {
				return false
			}
			continue
		}
		if n.text, ok = yamlText(item); !ok {
			return false
		}
		y.pos++
	}
}

// yamlKey splits "key: value". Keys with quotes end at their quote.
func yamlKey(line string) (key, rest string, ok bool) {
	end := 0
	if q := line[0]; q == '"' || q == '\'' {
		i := strings.IndexByte(line[1:], q)
		if i < 0 {
			return "", "", false
		}
		end = i + 2
		if key, ok = yamlText(line[:end]); !ok {
			return "", "", false
		}
		rest = strings.TrimLeft(line[end:], " ")
		if !strings.HasPrefix(rest, ":") {
			return "", "", false
		}
		rest = rest[1:]
	} else {
		end = strings.Index(line+" ", ": ")
		if end < 1 {
			return "", "", false
		}
		if key, ok = yamlText(line[:end]); !ok {
			return "", "", false
		}
		rest = line[end+1:]
	}
	if rest != "" && rest[0] != ' ' || key == "" || isYAMLItem(line) {
		return "", "", false
	}
	return key, strings.TrimLeft(rest, " "), true
}

// yamlText reads a scalar with what follows it on the line. Texts whose meaning is not that of a plain string in each version of
// YAML are refused.
func yamlText(s string) (string, bool) {
	switch s[0] {
	case '"':
		end := 1
		for end < len(s) && s[end] != '"' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(s) || !isYAMLComment(s[end+1:]) {
			return "", false
		}
		var out string
		err := json.Unmarshal([]byte(s[:end+1]), &out) // its escapes are a part of YAML's
		return out, err == nil && isPrintable(out)
	case '\'':
		end := strings.IndexByte(s[1:], '\'')
		if end < 0 || !isYAMLComment(s[end+2:]) { // also a doubled quote
			return "", false
		}
		return s[1 : end+1], true
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = strings.TrimRight(s[:i], " ")
	}
	if strings.IndexByte("{}[]&*!|>%@`,?#", s[0]) >= 0 || isYAMLItem(s) || strings.Contains(s, ": ") || strings.HasSuffix(s, ":") {
		return "", false
	}
	return s, true
}

// isYAMLComment reports whether nothing but a comment follows a scalar.
func isYAMLComment(rest string) bool {
	trimmed := strings.TrimLeft(rest, " ")
	return trimmed == "" || trimmed[0] == '#' && trimmed != rest
}
