package skill

import (
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// document is a parsed SKILL.md.
type document struct {
	fields []field // in the order of the file, with duplicates
	root   *yaml.Node
	front  string // the YAML
	body   string
}

// field is a key of the frontmatter with its value.
type field struct {
	key  string
	line int
	node *yaml.Node
}

// strict splits and parses as the reference validator does. A nil document comes with
// a problem.
func (r reader) strict(text string) (*document, []Problem) {
	front, body, problem := r.split(text)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	doc, problem := r.parse(front)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	if problem := r.fielded(doc); problem != nil {
		if refused := r.strictYAML(doc); len(refused) > 0 {
			return nil, refused
		}
		return nil, []Problem{*problem}
	}
	doc.body = trim(body)
	if exact, _, ok := splitLines(text); ok && exact != front {
		line := 1 + strings.Count(front, "\n")
		return doc, []Problem{r.warn(line, "", "the frontmatter ends at the --- inside of this line")}
	}
	return doc, nil
}

// lenient also accepts what other tools accept: a byte order mark, --- within values,
// and values with a colon that lack quotes.
func (r reader) lenient(text string) (*document, []Problem) {
	var problems []Problem
	if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
		problems = append(problems, r.warn(1, "", "starts with a byte order mark"))
		text = rest
	}
	strict, rest, problem := r.split(text)
	front, body, ok := splitLines(text)
	if !ok {
		if problem != nil {
			return nil, append(problems, *problem)
		}
		front, body = strict, rest
	}
	differs := problem == nil && strict != front
	if differs {
		line := 1 + strings.Count(strict, "\n")
		problems = append(problems, r.warn(line, "", "strict readers end the frontmatter at the --- inside of this line"))
	}
	doc, more, problem := r.mend(front)
	if problem != nil && differs {
		// A file that is valid for the strict reader must not be skipped.
		if again, failed := r.parse(strict); failed == nil {
			doc, body, problem = again, rest, nil
		}
	}
	if problem != nil {
		return nil, append(problems, *problem)
	}
	problems = append(problems, more...)
	if p := r.fielded(doc); p != nil {
		return nil, append(problems, *p)
	}
	if p := r.ambiguous(doc.root); p != nil {
		return nil, append(problems, *p)
	}
	doc.body = trim(body)
	return doc, problems
}

// mend parses the YAML. If that fails, it tries again with quotes around values that
// contain a colon.
func (r reader) mend(front string) (*document, []Problem, *Problem) {
	doc, problem := r.parse(front)
	if problem == nil {
		return doc, nil, nil
	}
	quoted, changed := quoteColons(front)
	if !changed {
		return nil, nil, problem
	}
	if doc, failed := r.parse(quoted); failed == nil {
		return doc, []Problem{r.warn(problem.Line, "", "%s; read with its values in quotes", problem.Text)}, nil
	}
	return nil, nil, problem
}

const fence = "---"

// split cuts at the first two ---, wherever they are, as the reference does.
func (r reader) split(text string) (front, body string, problem *Problem) {
	rest, ok := strings.CutPrefix(text, fence)
	if !ok {
		p := r.fail(1, "", "SKILL.md must start with YAML frontmatter (---)")
		return "", "", &p
	}
	if front, body, ok = strings.Cut(rest, fence); !ok {
		p := r.fail(0, "", "SKILL.md frontmatter not properly closed with ---")
		return "", "", &p
	}
	return front, body, nil
}

// splitLines cuts at lines that consist of --- only.
func splitLines(text string) (front, body string, ok bool) {
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, " \t") != fence {
		return "", "", false
	}
	at := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == fence {
			// Keep the rest of the first line, so that line numbers of the YAML are those of
			// the file.
			return first[len(fence):] + "\n" + rest[:at], rest[at+len(line):], true
		}
		at += len(line)
	}
	return "", "", false
}

// parse reads the YAML of a frontmatter, whose line 1 is that of the file. The root
// may be of any kind, or missing.
func (r reader) parse(front string) (*document, *Problem) {
	if len(front) > MaxFrontmatter {
		p := r.fail(1, "", "the frontmatter has more than %d bytes", MaxFrontmatter)
		return nil, &p
	}
	top, err := parseNodes(front)
	if err != nil {
		line, text := yamlError(err)
		p := r.fail(line, "", "invalid YAML in frontmatter: %s", cutText(text, MaxName*4))
		return nil, &p
	}
	doc := &document{root: top, front: front}
	if top.Kind != yaml.MappingNode {
		return doc, nil
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key := top.Content[i]
		doc.fields = append(doc.fields, field{key: key.Value, line: key.Line, node: top.Content[i+1]})
	}
	return doc, nil
}

// fielded adds a problem unless the document is a mapping.
func (r reader) fielded(d *document) *Problem {
	if d.root.Kind == yaml.MappingNode {
		return nil
	}
	p := r.fail(1, "", "SKILL.md frontmatter must be a YAML mapping")
	return &p
}

var plainLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^([A-Za-z][A-Za-z0-9_-]*):[ \t]+([^'"|>\[{&*!#%@\x60 \t\n].*)$`)
})

// quoteColons adds quotes to one-line values that contain a colon.
func quoteColons(front string) (quoted string, changed bool) {
	quoted = plainLine().ReplaceAllStringFunc(front, func(line string) string {
		m := plainLine().FindStringSubmatch(line)
		if !strings.Contains(m[2], ":") {
			return line
		}
		changed = true
		return m[1] + ": '" + strings.ReplaceAll(strings.TrimRight(m[2], " \t"), "'", "''") + "'"
	})
	return quoted, changed
}

// find returns the first field with that name.
func (d *document) find(key string) (field, bool) {
	for _, f := range d.fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

// scalar returns the text of a field, also of scalars that are not strings. It is ""
// if the field is missing.
func (d *document) scalar(key string) string {
	if f, ok := d.find(key); ok && f.node.Kind == yaml.ScalarNode {
		return f.node.Value
	}
	return ""
}

// words returns the elements of a list, or the words of a string. Spaces within
// parentheses belong to a word.
func (d *document) words(key string) []string {
	f, _ := d.find(key)
	if f.node == nil || f.node.Kind != yaml.SequenceNode {
		return splitWords(d.scalar(key))
	}
	var out []string
	for _, n := range f.node.Content {
		if n.Kind == yaml.ScalarNode && trim(n.Value) != "" {
			out = append(out, trim(n.Value))
		}
	}
	return out
}

func splitWords(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
		return depth == 0 && isSpace(c)
	})
}

// strings returns the pairs of a mapping whose values are scalars.
func (d *document) strings(key string) map[string]string {
	f, _ := d.find(key)
	if f.node == nil || f.node.Kind != yaml.MappingNode {
		return nil
	}
	out := map[string]string{}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		if k, v := f.node.Content[i], f.node.Content[i+1]; k.Kind == yaml.ScalarNode && v.Kind == yaml.ScalarNode {
			out[k.Value] = v.Value
		}
	}
	return out
}
