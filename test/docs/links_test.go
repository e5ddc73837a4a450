package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func Test_Relative_Links_Lead_To_Files_And_Headings(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.prose, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := p.name
			if file != "" {
				target = filepath.Join(filepath.Dir(p.name), file)
			}
			if _, err := os.Stat(filepath.Join(top, target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", p.name, m[1])
				continue
			}
			i := slices.IndexFunc(all, func(p page) bool { return p.name == target })
			if anchor != "" && (i < 0 || !slices.Contains(all[i].anchors(), anchor)) {
				t.Errorf("%s links to %s, but %s has no such heading", p.name, m[1], target)
			}
		}
	}
}

func Test_Every_Page_Below_Docs_Can_Be_Reached_From_The_README(t *testing.T) {
	t.Parallel()
	all := pages(t)
	reached := map[string]bool{"README.md": true}
	for queue := []string{"README.md"}; len(queue) > 0; queue = queue[1:] {
		i := slices.IndexFunc(all, func(p page) bool { return p.name == queue[0] })
		if i < 0 {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(all[i].prose, -1) {
			file, _, _ := strings.Cut(m[1], "#")
			target := filepath.Join(filepath.Dir(queue[0]), file)
			if file != "" && !reached[target] {
				reached[target] = true
				queue = append(queue, target)
			}
		}
	}
	for _, p := range all {
		if strings.HasPrefix(p.name, "docs/") && !reached[p.name] {
			t.Errorf("no link leads from README.md to %s", p.name)
		}
	}
}

var (
	span     = regexp.MustCompile("`([^`\n]+)`")
	treePath = regexp.MustCompile(`^(agent|backend|build|cmd|docs|examples|internal|memory|policy|sandbox|sandboxtest|server|test|\.ci)/[\w./*-]*$`)
	testName = regexp.MustCompile(`\bTest_\w+$`)
)

func Test_Paths_And_Tests_That_Documents_Name_Exist(t *testing.T) {
	t.Parallel()
	tests := testNames(t)
	for _, p := range pages(t) {
		if p.name == "CHANGELOG.md" {
			continue // the document describes the past
		}
		for _, m := range span.FindAllStringSubmatch(p.prose, -1) {
			name := m[1]
			if test := testName.FindString(name); test != "" {
				if !tests[test] {
					t.Errorf("%s names %s, which does not exist", p.name, test)
				}
				name, _, _ = strings.Cut(name, ".Test_")
			}
			if !treePath.MatchString(name) {
				continue
			}
			// The name of a package may be followed by one of its identifiers.
			found := false
			for _, path := range []string{name, regexp.MustCompile(`\.[A-Za-z]\w*$`).ReplaceAllString(name, "")} {
				files, err := filepath.Glob(filepath.Join(top, path))
				found = found || err == nil && len(files) > 0
			}
			// Files that the build creates are missing in a fresh checkout.
			if !found && !strings.HasPrefix(name, "internal/guest/program/bin/") {
				t.Errorf("%s names %s, which does not exist", p.name, m[1])
			}
		}
	}
}

var pageName = regexp.MustCompile(`\bdocs/[\w/-]+\.md\b`)

func Test_Pages_That_Code_Names_Exist(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(top, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{".git", "testdata", "bin", "dist", "configimport"}, e.Name()) {
			return filepath.SkipDir
		}
		if !slices.Contains([]string{".go", ".sh", ".yml", ".yaml"}, filepath.Ext(name)) {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, page := range pageName.FindAllString(string(data), -1) {
			if _, err := os.Stat(filepath.Join(top, page)); err != nil {
				t.Errorf("%s names %s, which does not exist", strings.TrimPrefix(name, top+"/"), page)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Words that the glossary of CONTRIBUTING.md replaces, or that hide the actor.
var avoided = regexp.MustCompile(`(?i)\b(nobody\b|somebody\b|walls\b|(?:the|a|one|every|which|their|our) wall[^-\w]|(?:is|are|was|be) told\b)`)

func Test_Pages_Use_The_Words_Of_The_Glossary(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for line := range strings.Lines(span.ReplaceAllString(p.prose, "")) {
			if word := avoided.FindString(line); word != "" {
				t.Errorf("%s says %q: %s", p.name, word, strings.TrimSpace(line))
			}
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test_\w+)\(`)

// testNames returns the names of all tests of the project.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(top, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		data, err := os.ReadFile(name)
		for _, m := range testFunction.FindAllSubmatch(data, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
