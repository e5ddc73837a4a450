package jq

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/jq/interpreter"
)

// yqMostDepth bounds how deep a document is nested.
const yqMostDepth = 1000

var errYAMLTooDeep = errors.New("document is nested too deeply")

// value returns what a YAML node means, with what aliases stand for.
func (j *yqJob) value(n *yaml.Node, depth int) (interpreter.Value, error) {
	if depth > yqMostDepth {
		return nil, errYAMLTooDeep
	}
	// An alias of aliases grows without end.
	if err := j.p.Spend(1); err != nil {
		return nil, err
	}
	if err := j.memory.Take(64 + len(n.Value)); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil
		}
		return j.value(n.Content[0], depth+1)
	case yaml.AliasNode:
		return j.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]interpreter.Value, len(n.Content))
		for i, c := range n.Content {
			v, err := j.value(c, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return interpreter.NewArray(list...), nil
	case yaml.MappingNode:
		o := interpreter.NewObject()
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := j.value(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			o = o.With(n.Content[i].Value, v)
		}
		return o, nil
	case yaml.ScalarNode:
	}
	return yqScalar(n), nil
}

func yqScalar(n *yaml.Node) interpreter.Value {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int", "!!float":
		if v, ok := interpreter.ParseJSON(n.Value); ok {
			return v
		}
		var f float64
		if n.Decode(&f) == nil {
			if v, ok := interpreter.ParseJSON(strconv.FormatFloat(f, 'g', -1, 64)); ok {
				return v
			}
		}
	}
	return n.Value
}

// node returns a value as a YAML node. old is what stood in its place, nil for nothing: its
// comments and style are retained as far as the value is the same kind of thing.
func (j *yqJob) node(v interpreter.Value, old *yaml.Node, depth int) (*yaml.Node, error) {
	if depth > yqMostDepth {
		return nil, errYAMLTooDeep
	}
	// Values share their parts, nodes do not: there may be no end of them.
	if err := j.p.Spend(1); err != nil {
		return nil, err
	}
	if err := j.memory.Take(256); err != nil {
		return nil, err
	}
	for old != nil && (old.Kind == yaml.AliasNode || old.Kind == yaml.DocumentNode) {
		switch {
		case old.Kind == yaml.AliasNode:
			old = old.Alias
		case len(old.Content) > 0:
			old = old.Content[0]
		default:
			old = nil
		}
	}
	n := &yaml.Node{}
	switch v := v.(type) {
	case *interpreter.Object:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		for _, k := range v.Keys() {
			x, _ := v.Get(k)
			key := &yaml.Node{Kind: yaml.ScalarNode}
			key.SetString(k)
			oldKey, oldValue := yamlEntry(old, k)
			if oldKey != nil {
				keepLook(key, oldKey)
			}
			value, err := j.node(x, oldValue, depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, key, value)
		}
	case *interpreter.Array:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		for i := range v.Len() {
			var oldItem *yaml.Node
			if old != nil && old.Kind == yaml.SequenceNode && i < len(old.Content) {
				oldItem = old.Content[i]
			}
			item, err := j.node(v.At(i), oldItem, depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, item)
		}
	case string:
		n.SetString(v)
	default:
		n.Kind, n.Value = yaml.ScalarNode, interpreter.ScalarText(v)
		if old != nil && old.Kind == yaml.ScalarNode && interpreter.Compare(yqScalar(old), v) == 0 {
			n.Value = old.Value // 0x1F, 1_000 and ~ stay as they were written.
		}
	}
	if old != nil && old.Kind == n.Kind {
		keepLook(n, old)
	}
	return n, nil
}

// yamlEntry returns the nodes of an entry, nil when there is none.
func yamlEntry(old *yaml.Node, key string) (k, v *yaml.Node) {
	if old == nil || old.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(old.Content); i += 2 {
		if old.Content[i].Value == key {
			return old.Content[i], old.Content[i+1]
		}
	}
	return nil, nil
}

// keepLook takes over the comments and the style of a node.
func keepLook(n, old *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = old.HeadComment, old.LineComment, old.FootComment
	text := func(n *yaml.Node) bool { return n.ShortTag() == "!!str" }
	if n.Kind != yaml.ScalarNode || text(n) && text(old) {
		n.Style = old.Style
	}
}

// yqExpression replaces env(X) and strenv(X), which take a bare name.
func yqExpression(s string) string {
	for _, f := range []string{"strenv(", "env("} {
		for from := 0; ; {
			i := strings.Index(s[from:], f)
			if i < 0 {
				break
			}
			i += from
			end := strings.IndexByte(s[i:], ')')
			name := ""
			if end > 0 {
				name = s[i+len(f) : i+end]
			}
			isName := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
				return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
			})
			before := i > 0 && slices.Contains([]byte("$._\""), s[i-1]) || i > 0 && s[i-1]|0x20 >= 'a' && s[i-1]|0x20 <= 'z'
			if !isName || before {
				from = i + len(f)
				continue
			}
			to := `$ENV["` + name + `"]`
			if f == "env(" {
				to = "(" + to + "|(try fromjson catch .))"
			}
			s = s[:i] + to + s[i+end+1:]
			from = i + len(to)
		}
	}
	return s
}
