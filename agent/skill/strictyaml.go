package skill

import (
	"go.yaml.in/yaml/v3"
)

// strictYAML finds YAML that the reference's parser, strictyaml, refuses: flow style,
// tags, anchors, duplicate keys, uneven indentation and tabs.
func (r reader) strictYAML(d *document) []Problem {
	problems := r.lines(d)
	walkNodes(d.root, func(n *yaml.Node) bool {
		if text := explainRefusal(n); text != "" {
			problems = append(problems, r.fail(n.Line, "", "invalid YAML in frontmatter: %s", text))
		}
		if n.Kind == yaml.MappingNode {
			problems = append(problems, r.mapping(n)...)
		}
		return len(problems) < maxProblems
	})
	return problems
}

// maxProblems bounds the problems of one kind that are reported.
const maxProblems = 20

const refusedTag = "tags are not allowed"

// explainRefusal returns why strictyaml refuses a node, or "".
func explainRefusal(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return "anchors and aliases are not allowed"
	case n.Style&yaml.TaggedStyle != 0:
		return refusedTag
	case n.Style&yaml.FlowStyle != 0 && n.Kind == yaml.SequenceNode:
		return "flow style is not allowed: write the list as lines that start with -"
	case n.Style&yaml.FlowStyle != 0:
		return "flow style is not allowed: write the mapping as lines"
	}
	return ""
}

// mapping checks the keys of a mapping, and that the mappings in it start at the same
// column.
func (r reader) mapping(n *yaml.Node) []Problem {
	problems := r.keys(n)
	column := 0
	for i := 1; i < len(n.Content); i += 2 {
		v := n.Content[i]
		if v.Kind != yaml.MappingNode || v.Style&yaml.FlowStyle != 0 {
			continue
		}
		if column == 0 {
			column = v.Column
		}
		if v.Column != column {
			problems = append(problems, r.fail(v.Line, "", "invalid YAML in frontmatter: mappings are indented unevenly"))
		}
	}
	return problems
}

// keys finds duplicate keys and keys that are not text.
func (r reader) keys(n *yaml.Node) []Problem {
	var problems []Problem
	seen := map[string]bool{}
	for i := 0; i < len(n.Content) && len(problems) < maxProblems; i += 2 {
		k := n.Content[i]
		switch {
		case k.Kind != yaml.ScalarNode || k.Tag == "!!merge":
			problems = append(problems, r.fail(k.Line, "", "invalid YAML in frontmatter: a key must be text"))
		case seen[k.Value]:
			problems = append(problems, r.fail(k.Line, "", "invalid YAML in frontmatter: duplicate key %q", cutText(k.Value, MaxName)))
		}
		seen[k.Value] = true
	}
	return problems
}

// ambiguous finds YAML that readers interpret differently or expand: duplicate keys,
// keys that are not text, aliases. The lenient reader skips such skills, too.
func (r reader) ambiguous(root *yaml.Node) *Problem {
	var found *Problem
	walkNodes(root, func(n *yaml.Node) bool {
		var problems []Problem
		if n.Kind == yaml.MappingNode {
			problems = r.keys(n)
		}
		if n.Kind == yaml.AliasNode {
			problems = []Problem{r.fail(n.Line, "", "invalid YAML in frontmatter: %s", explainRefusal(n))}
		}
		if len(problems) > 0 {
			found = &problems[0]
		}
		return found == nil
	})
	return found
}

// walkNodes calls do for n and the nodes below it until do returns false. It does not
// follow aliases.
func walkNodes(n *yaml.Node, do func(*yaml.Node) bool) bool {
	if !do(n) {
		return false
	}
	for _, c := range n.Content {
		if !walkNodes(c, do) {
			return false
		}
	}
	return true
}
