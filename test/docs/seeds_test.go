package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// seedRow is one requirement of a seed.
type seedRow struct {
	what, where string
	tests       []string
	why         string
}

// seedsFile contains the rows.
const seedsFile = "testdata/seeds.txt"

func Test_Every_Row_Of_The_Seeds_Has_Its_Test(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(seedsFile)
	if err != nil {
		t.Fatal(err)
	}
	names := testNames(t)
	var out strings.Builder
	for i, line := range strings.Split(string(data), "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			fmt.Fprintf(&out, "\n## %s\n\n| | where | tests | |\n|---|---|---|---|\n", heading)
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		row, err := parseSeedRow(line)
		if err == nil {
			err = row.check(names)
		}
		if err != nil {
			t.Errorf("%s:%d: %v", seedsFile, i+1, err)
			continue
		}
		out.WriteString(row.markdown())
	}
	checkGenerated(t, "docs/seeds.md", "rows", strings.TrimPrefix(out.String(), "\n"))
}

// parseSeedRow reads a line of the file.
func parseSeedRow(line string) (seedRow, error) {
	parts := strings.Split(line, " | ")
	if len(parts) < 3 || len(parts) > 4 {
		return seedRow{}, fmt.Errorf("found %d fields, expected three or four", len(parts))
	}
	r := seedRow{what: parts[0], where: parts[1]}
	for name := range strings.SplitSeq(parts[2], ",") {
		r.tests = append(r.tests, strings.TrimSpace(name))
	}
	if len(parts) == 4 {
		r.why = parts[3]
	}
	return r, nil
}

// scriptFile returns the path of a script of the command's tests in the tree.
func scriptFile(name string) (string, error) {
	found, err := filepath.Glob(filepath.Join(top, "test/e2e/command/testdata/script/*", name+".txtar"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%d scripts are named %s; expected one", len(found), name)
	}
	return filepath.Rel(top, found[0])
}

// check returns an error for a row whose test or place does not exist. The test of the page checks commands and flags.
func (r seedRow) check(names map[string]bool) error {
	for _, name := range r.tests {
		if script, ok := strings.CutPrefix(name, "script "); ok {
			if _, err := scriptFile(script); err != nil {
				return err
			}
		} else if !names[name] {
			return fmt.Errorf("there is no test %q", name)
		}
	}
	kind, name, _ := strings.Cut(r.where, ":")
	switch {
	case strings.HasPrefix(r.where, "`agent-sandbox ") && strings.HasSuffix(r.where, "`"):
		return nil
	case kind == "file":
		_, err := os.Stat(filepath.Join(top, name))
		return err
	case kind == "go":
		return hasSymbol(name)
	case kind == "key":
		return hasKey(filepath.Join(top, "policy/schema.json"), name)
	case kind == "package":
		return hasKey(filepath.Join(top, "agent/assistant/schema/assistant.json"), name)
	}
	return fmt.Errorf("found %q, expected a command, go:, key:, package: or file:", r.where)
}

// packages returns the directories of the packages in the rows.
var packages = map[string]string{
	"agent": "agent", "event": "agent/event", "hook": "internal/agent/hook", "sandbox": "sandbox", "kube": "backend/kube",
	"memory": "memory", "shell": "memory/shell", "vfs": "memory/vfs",
}

// hasSymbol returns an error unless PACKAGE.Name, or PACKAGE.Type.Member, is declared.
func hasSymbol(name string) error {
	parts := strings.Split(name, ".")
	files, err := filepath.Glob(filepath.Join(top, packages[parts[0]], "*.go"))
	if err != nil {
		return err
	}
	last := regexp.QuoteMeta(parts[len(parts)-1])
	declared := regexp.MustCompile(`(?m)^(type|func|const|var) ` + last + `\b|^func \([^)]*\) ` + last + `\(|^\t` + last + `\b( +[\w*\[\]{}.()]+| =)`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(file, "_test.go") && declared.Match(data) {
			return nil
		}
	}
	return fmt.Errorf("%s is not declared", name)
}

// hasKey returns an error unless a JSON schema has the key A.B.
func hasKey(file, key string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		return err
	}
	for name := range strings.SplitSeq(key, ".") {
		if root = findProperty(root, name); root == nil {
			return fmt.Errorf("%s has no key %s", file, key)
		}
	}
	return nil
}

// findProperty returns the schema of the property, of an object anywhere in v.
func findProperty(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok && properties[name] != nil {
			return properties[name]
		}
		for _, sub := range v {
			if found := findProperty(sub, name); found != nil {
				return found
			}
		}
	case []any:
		for _, sub := range v {
			if found := findProperty(sub, name); found != nil {
				return found
			}
		}
	}
	return nil
}

// markdown returns the row of the page.
func (r seedRow) markdown() string {
	where := r.where
	switch kind, name, _ := strings.Cut(where, ":"); kind {
	case "go", "file":
		where = "`" + name + "`"
	case "key":
		where = "`" + name + "` in the configuration"
	case "package":
		where = "`" + name + "` in a package"
	}
	var tests []string
	for _, name := range r.tests {
		if script, ok := strings.CutPrefix(name, "script "); ok {
			name, _ = scriptFile(script)
		}
		tests = append(tests, "`"+name+"`")
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", r.what, where, strings.Join(tests, ", "), r.why)
}
