package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed page.html
var pageHTML string

//go:embed search.js
var searchJS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// chapters are the pages in the order of the navigation; pages that are not named follow under "More".
var chapters = []struct {
	title string
	pages []string
}{
	{"Start", []string{"README.md", "docs/getting-started.md", "docs/configuration.md", "docs/faq.md"}},
	{"Backends", []string{"docs/bwrap.md", "docs/docker.md", "docs/kubernetes.md", "docs/memory.md"}},
	{"Agents", []string{"docs/repositories.md", "docs/assistants.md", "docs/mcp.md", "docs/import.md"}},
	{"Security", []string{"docs/security.md", "docs/threat-model.md", "SECURITY.md"}},
	{"Development", []string{"CONTRIBUTING.md", "docs/layout.md", "docs/design.md", "docs/benchmarks.md", "CHANGELOG.md"}},
}

// page is one Markdown file and its HTML page.
type page struct {
	source   string // relative to the top, with slashes
	output   string // relative to the site
	Title    string
	body     []byte
	ids      map[string]bool
	sections []section
}

// section is an entry of the search index.
type section struct {
	Page    string `json:"p"`
	Heading string `json:"h"`
	URL     string `json:"u"`
	Text    string `json:"x"`
}

// writeSite renders the Markdown files below top into out, which it replaces. A broken relative link or anchor is an error.
func writeSite(top, out string) error {
	if out == "" {
		return fmt.Errorf("no output directory; expected -o DIR")
	}
	pages, err := readPages(top)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	s := site{top: top, out: out, pages: map[string]*page{}}
	for _, p := range pages {
		s.pages[p.source] = p
	}
	for _, p := range pages {
		if err := s.render(p); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
	}
	s.checkAnchors()
	if len(s.broken) > 0 {
		return fmt.Errorf("broken links:\n  %s", strings.Join(s.broken, "\n  "))
	}
	var sections []section
	for _, p := range pages {
		if err := s.write(p); err != nil {
			return err
		}
		sections = append(sections, p.sections...)
	}
	index, err := json.Marshal(sections)
	if err != nil {
		return err
	}
	return s.writeFile("search.js", []byte("const sections = "+string(index)+";\n"+searchJS))
}

// readPages returns the Markdown files of the project in the order of the navigation.
func readPages(top string) ([]*page, error) {
	var sources []string
	for _, c := range chapters {
		sources = append(sources, c.pages...)
	}
	err := filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(name)
		skip := e.Name() == ".git" || e.Name() == ".github" || e.Name() == "node_modules" || e.Name() == "testdata" || rel == "dist" || rel == "bin" || rel == "examples"
		if e.IsDir() && skip {
			return fs.SkipDir
		}
		if strings.HasSuffix(rel, ".md") && !e.IsDir() && !slices.Contains(sources, rel) {
			sources = append(sources, rel)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var pages []*page
	for _, source := range sources {
		body, err := os.ReadFile(filepath.Join(top, source))
		if err != nil {
			return nil, err
		}
		pages = append(pages, &page{source: source, output: outputOf(source), body: body, ids: map[string]bool{}})
	}
	return pages, nil
}

// outputOf returns the address of a page within the site.
func outputOf(source string) string {
	if source == "README.md" {
		return "index.html"
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(source, "docs/"), ".md")) + ".html"
}

// site is the state of one build.
type site struct {
	top, out string
	pages    map[string]*page
	anchors  [][3]string // from, to, id
	broken   []string
}

// link returns the address within the site of a destination in page p, and copies files that are not pages.
func (s *site) link(p *page, destination string) (string, error) {
	if strings.Contains(destination, "://") || strings.HasPrefix(destination, "mailto:") {
		return destination, nil
	}
	file, id, _ := strings.Cut(destination, "#")
	source := p.source
	if file != "" {
		source = path.Join(path.Dir(p.source), file)
	}
	if id != "" {
		s.anchors = append(s.anchors, [3]string{p.source, source, id})
	}
	target, isPage := s.pages[source]
	if isPage {
		address := relative(p.output, target.output)
		if id != "" {
			address += "#" + id
		}
		return address, nil
	}
	info, err := os.Stat(filepath.Join(s.top, source))
	switch {
	case err != nil:
		s.broken = append(s.broken, p.source+": "+destination)
		return destination, nil
	case info.IsDir():
		return "", nil
	}
	copied := path.Join("files", source)
	if strings.HasPrefix(source, "docs/") {
		copied = strings.TrimPrefix(source, "docs/")
	}
	if strings.HasSuffix(copied, ".go") {
		copied += ".txt" // a .go file there would be a package of the module
	}
	data, err := os.ReadFile(filepath.Join(s.top, source))
	if err != nil {
		return "", err
	}
	return relative(p.output, copied), s.writeFile(copied, data)
}

// relative returns the address of to as seen from the page from.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

func (s *site) checkAnchors() {
	for _, a := range s.anchors {
		if target, ok := s.pages[a[1]]; ok && !target.ids[a[2]] {
			s.broken = append(s.broken, a[0]+": "+a[1]+"#"+a[2])
		}
	}
}

// navigation is one chapter of the sidebar.
type navigation struct {
	Title string
	Pages []entry
}

type entry struct {
	Title, URL string
	Current    bool
}

func (s *site) navigation(current *page) []navigation {
	var all []navigation
	named := map[string]bool{}
	add := func(title string, sources []string) {
		n := navigation{Title: title}
		for _, source := range sources {
			named[source] = true
			p := s.pages[source]
			n.Pages = append(n.Pages, entry{p.Title, relative(current.output, p.output), p == current})
		}
		all = append(all, n)
	}
	for _, c := range chapters {
		add(c.title, c.pages)
	}
	var design, more []string
	for source := range s.pages {
		switch {
		case named[source]:
		case strings.HasPrefix(source, "docs/design/"):
			design = append(design, source)
		default:
			more = append(more, source)
		}
	}
	slices.Sort(design)
	slices.Sort(more)
	add("Design", design)
	add("More", more)
	return all
}

func (s *site) write(p *page) error {
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, map[string]any{
		"Title": p.Title, "Root": strings.Repeat("../", strings.Count(p.output, "/")),
		"Navigation": s.navigation(p), "Body": template.HTML(p.body),
	})
	if err != nil {
		return err
	}
	return s.writeFile(p.output, b.Bytes())
}

func (s *site) writeFile(name string, data []byte) error {
	name = filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
