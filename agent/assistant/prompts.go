package assistant

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// maxPrompts is how many prompts an assistant has at most.
const maxPrompts = 256

// parsePrompts reads prompts.yml: a list of {role, content}. It looks at the nodes one by one, so no alias is
// expanded.
func parsePrompts(file string, data []byte) ([]message.Message, []jsonc.Problem) {
	p := &prompts{file: file}
	if bytes.IndexByte(data, 0) >= 0 {
		p.fail(0, "", "found a NUL character, expected text")
		return nil, p.problems
	}
	top := p.parse(data)
	if top == nil {
		return nil, p.problems
	}
	if top.Kind != yaml.SequenceNode || !p.isPlain(top, "") {
		p.fail(top.Line, "", "found %s, expected a list of prompts such as - {role: system, content: ...}", yamlKind(top))
		return nil, p.problems
	}
	if len(top.Content) > maxPrompts {
		p.fail(top.Line, "", "found %d prompts, expected at most %d", len(top.Content), maxPrompts)
		return nil, p.problems
	}
	var out []message.Message
	for i, n := range top.Content {
		if m, ok := p.prompt(n, jsonc.IndexKey("", i)); ok {
			out = append(out, m)
		}
	}
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return out, nil
}

type prompts struct {
	file     string
	problems []jsonc.Problem
}

func (p *prompts) fail(line int, key, format string, args ...any) {
	if len(p.problems) < jsonc.MaxProblems {
		p.problems = append(p.problems, jsonc.Problem{File: p.file, Line: line, Key: key, Text: fmt.Sprintf(format, args...)})
	}
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`) })

// parse returns the only document of the file, or nil and a problem.
func (p *prompts) parse(data []byte) *yaml.Node {
	var top, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	err := dec.Decode(&top)
	switch {
	case errors.Is(err, io.EOF):
		p.fail(1, "", "found an empty file, expected a list of prompts")
		return nil
	case err == nil:
		if err = dec.Decode(&more); err == nil {
			p.fail(more.Line, "", "found a second document, expected one")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		m := yamlLine().FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(m[1]) // 0: unknown
		text := strings.Map(func(r rune) rune {
			if r == '\n' {
				return ' '
			}
			return r
		}, err.Error()[len(m[0]):])
		p.fail(line, "", "found broken YAML (%s), expected a list of prompts", strings.Trim(jsonc.Clip(text), `"`))
		return nil
	}
	if len(top.Content) != 1 {
		p.fail(1, "", "found an empty file, expected a list of prompts")
		return nil
	}
	return top.Content[0]
}

// isPlain reports whether a node has neither alias nor anchor nor explicit tag.
func (p *prompts) isPlain(n *yaml.Node, key string) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		p.fail(n.Line, key, "found an alias or an anchor, expected the text itself")
		return false
	}
	if n.Style&yaml.TaggedStyle != 0 {
		p.fail(n.Line, key, "found a tag, expected none")
		return false
	}
	return true
}

func (p *prompts) prompt(n *yaml.Node, key string) (message.Message, bool) {
	before := len(p.problems)
	if p.isPlain(n, key) && n.Kind != yaml.MappingNode {
		p.fail(n.Line, key, "found %s, expected role and content", yamlKind(n))
	}
	if len(p.problems) > before {
		return message.Message{}, false
	}
	texts := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		at := jsonc.JoinKey(key, cutText(name.Value))
		_, twice := texts[name.Value]
		switch {
		case name.Kind != yaml.ScalarNode || name.Value != "role" && name.Value != "content":
			p.fail(name.Line, at, "found an unknown key, expected one of role, content")
		case twice:
			p.fail(name.Line, at, "found a second time, expected once")
		default:
			texts[name.Value] = p.text(n.Content[i+1], at)
		}
	}
	role := message.Role(texts["role"])
	known := []message.Role{message.System, message.User, message.Assistant}
	for _, name := range []string{"role", "content"} {
		if _, ok := texts[name]; !ok {
			p.fail(n.Line, key, "found no %s, expected role and content", name)
		}
	}
	if len(p.problems) == before && !slices.Contains(known, role) {
		p.fail(n.Line, key+".role", "found %s, expected system, user or assistant", jsonc.Clip(string(role)))
	}
	if len(p.problems) == before && strings.TrimSpace(texts["content"]) == "" {
		p.fail(n.Line, key+".content", "found no text, expected a prompt")
	}
	return message.New(role, texts["content"]), len(p.problems) == before
}

// text returns the text of a scalar that is a string.
func (p *prompts) text(n *yaml.Node, key string) string {
	if p.isPlain(n, key) && (n.Kind != yaml.ScalarNode || n.Tag != "!!str") {
		p.fail(n.Line, key, "found %s, expected a text", yamlKind(n))
	}
	return n.Value
}

// yamlKind describes the kind of a node for messages.
func yamlKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return jsonc.Clip(n.Value)
	case yaml.DocumentNode:
	}
	return "nothing"
}
