package skill

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// separators are line ends for the parser, as in YAML 1.1; since YAML 1.2 they are text.
const separators = "\u0085\u2028\u2029"

var leadingTab = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^( +)\t`)
})

// parseNodes parses one YAML document. The root of an empty one has no kind.
func parseNodes(text string) (*yaml.Node, error) {
	var hide, show []string
	spare := '\U000F0000' // the first of 65,534 for private use, more than a frontmatter holds
	for _, c := range "\t" + separators {
		for strings.ContainsRune(text, spare) {
			spare++
		}
		hide = append(hide, string(c), string(spare))
		show = append(show, string(spare), string(c))
		spare++
	}
	text = strings.NewReplacer(hide[2:]...).Replace(text)
	root, err := decodeDocument(text)
	if err != nil {
		// The parser refuses a block whose first line has a tab after its indentation.
		again, failed := decodeDocument(leadingTab().ReplaceAllString(text, "${1}"+hide[1]))
		if failed != nil {
			return nil, err
		}
		root = again
	}
	back := strings.NewReplacer(show...)
	walkNodes(root, func(n *yaml.Node) bool {
		n.Value = back.Replace(n.Value)
		return true
	})
	return root, nil
}

// decodeDocument returns the only document, or an empty node if there is none.
func decodeDocument(text string) (*yaml.Node, error) {
	var top, more yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text))
	err := dec.Decode(&top)
	if err == nil {
		if err = dec.Decode(&more); err == nil {
			err = errors.New("there is a second document")
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(top.Content) != 1 {
		return &yaml.Node{}, nil
	}
	return top.Content[0], nil
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)
})

// yamlError removes the line number from the parser's message.
func yamlError(err error) (line int, text string) {
	text = err.Error()
	m := yamlLine().FindStringSubmatch(text)
	line, _ = strconv.Atoi(m[1]) // 0: unknown
	return line, text[len(m[0]):]
}

// isText reports whether strictyaml takes a node as text: it treats a plain = and << as
// indicators of YAML 1.1.
func isText(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	sign := n.Value == "=" || n.Value == "<<"
	const marked = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return !sign || n.Style&marked != 0
}
