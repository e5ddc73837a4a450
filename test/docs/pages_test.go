// Package docs_test checks the documentation: links, paths, commands and flags, generated tables and the
// README.
package docs_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// top is the module's directory, relative to this package.
const top = "../.."

var update = flag.Bool("update", false, "write the generated parts of the documents")

// page is a Markdown file: its name relative to the top, and its text without code blocks.
type page struct {
	name, text, prose string
}

var codeBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")

// pages returns all Markdown files of the project except test data and examples.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	err := filepath.WalkDir(top, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata", "bin", "dist", "examples"}, e.Name()) {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(name, ".md") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, name)
		all = append(all, page{rel, string(data), codeBlock.ReplaceAllString(string(data), "")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// anchors returns the anchors of the page's headings, as GitHub makes them.
func (p page) anchors() []string {
	var all []string
	for line := range strings.Lines(p.prose) {
		heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(strings.ReplaceAll(heading, "`", ""))))
	}
	return all
}
