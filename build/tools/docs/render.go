package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// The sources belong to the project, so HTML in them (comments) may pass.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))

// render replaces the Markdown of p by HTML and sets its title, its anchors and its sections for the
// search.
func (s *site) render(p *page) error {
	source := p.body
	ids := &slugs{used: map[string]int{}}
	root := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	current := section{URL: p.output}
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Heading:
			heading := textOf(n, source)
			id := ids.next(heading)
			n.SetAttributeString("id", []byte(id))
			p.ids[id] = true
			if p.Title == "" {
				p.Title = heading
			}
			p.addSection(current)
			current = section{Page: p.Title, Heading: heading, URL: p.output + "#" + id}
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			address, err := s.link(p, string(n.Destination))
			n.Destination = []byte(address)
			return ast.WalkContinue, err
		case *ast.Image:
			address, err := s.link(p, string(n.Destination))
			n.Destination = []byte(address)
			return ast.WalkContinue, err
		case *ast.Text:
			current.Text += string(n.Segment.Value(source)) + " "
		case *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				current.Text += string(line.Value(source)) + " "
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	p.addSection(current)
	if p.Title == "" {
		return fmt.Errorf("no heading")
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, root); err != nil {
		return err
	}
	p.body = b.Bytes()
	return nil
}

// maxSectionText bounds the text of one section in the search index.
const maxSectionText = 4000

func (p *page) addSection(s section) {
	s.Text = strings.Join(strings.Fields(s.Text), " ")
	if s.Heading == "" {
		return
	}
	if len(s.Text) > maxSectionText {
		s.Text = strings.ToValidUTF8(s.Text[:maxSectionText], "")
	}
	p.sections = append(p.sections, s)
}

func textOf(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// slugs makes the same anchors as GitHub, so that links work there and in the site.
type slugs struct{ used map[string]int }

func (s *slugs) next(heading string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	n := s.used[slug]
	s.used[slug]++
	if n > 0 {
		return fmt.Sprintf("%s-%d", slug, n)
	}
	return slug
}

// Generate implements parser.IDs. Headings get their anchors in render.
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte { return value }

// Put implements parser.IDs.
func (s *slugs) Put([]byte) {}
