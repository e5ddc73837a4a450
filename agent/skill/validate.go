package skill

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"
)

// allowedFields are the possible keys of a frontmatter, sorted.
var allowedFields = []string{"allowed-tools", "compatibility", "description", "license", "metadata", "name"}

// Validate returns all problems of the skill in dir; dir may also name its SKILL.md. The
// skill is valid, see [IsValid], if the reference validator of the format reports no
// errors. Validate is stricter in three cases: a file exceeds a bound of this package;
// SKILL.md is not UTF-8, or not a regular file inside dir; a key of the YAML is empty or
// not text. A warning means that other readers may refuse the skill.
func Validate(dir string) []Problem {
	tree, problem := openGiven(dir)
	if problem != nil {
		return []Problem{*problem}
	}
	defer tree.Close()
	name, text, err := tree.manifest()
	at := reader{file: displayName(dir, name)}
	if err != nil {
		return []Problem{at.fail(0, "", "%v", err)}
	}
	doc, problems := at.strict(text)
	if doc == nil {
		return problems
	}
	problems = append(problems, at.strictYAML(doc)...)
	return append(problems, at.fields(doc, tree.name())...)
}

// displayName returns the name of the file relative to the user's argument.
func displayName(dir, name string) string {
	if slices.Contains(manifests, filepath.Base(dir)) {
		return dir
	}
	return filepath.Join(dir, name)
}

// fields checks the rules of the format; dir is the name of the directory.
func (r reader) fields(d *document, dir string) []Problem {
	problems := r.unexpected(d)
	if f, ok := d.find("name"); ok {
		problems = append(problems, r.name(f, dir)...)
	} else {
		problems = append(problems, r.fail(0, "name", "missing required field in frontmatter: name"))
	}
	if f, ok := d.find("description"); ok {
		problems = append(problems, r.description(f)...)
	} else {
		problems = append(problems, r.fail(0, "description", "missing required field in frontmatter: description"))
	}
	if f, ok := d.find("compatibility"); ok {
		problems = append(problems, r.compatibility(f)...)
	}
	if f, ok := d.find("allowed-tools"); ok && f.node.Kind != yaml.ScalarNode {
		problems = append(problems, r.warn(f.line, f.key, "field 'allowed-tools' should be one string with spaces between the tools"))
	}
	return problems
}

func (r reader) unexpected(d *document) []Problem {
	var names []string
	line := 0
	for _, f := range d.fields {
		if !slices.Contains(allowedFields, f.key) && len(names) < maxProblems {
			names = append(names, cutText(f.key, MaxName))
			if line == 0 {
				line = f.line
			}
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	return []Problem{r.fail(line, "", "unexpected fields in frontmatter: %s; only %s are allowed",
		strings.Join(slices.Compact(names), ", "), strings.Join(allowedFields, ", "))}
}

func (r reader) name(f field, dir string) []Problem {
	if !isText(f.node) || trim(f.node.Value) == "" {
		return []Problem{r.fail(f.line, f.key, "field 'name' must be a non-empty string")}
	}
	name := normalizeName(f.node.Value)
	short := cutText(name, MaxName)
	var problems []Problem
	fail := func(format string, args ...any) { problems = append(problems, r.fail(f.line, f.key, format, args...)) }
	if n := utf8.RuneCountInString(name); n > MaxName {
		fail("skill name '%s' exceeds %d character limit (%d characters)", short, MaxName, n)
	}
	if name != strings.ToLower(name) {
		fail("skill name '%s' must be lowercase", short)
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") {
		fail("skill name cannot start or end with a hyphen")
	}
	if strings.Contains(name, "--") {
		fail("skill name cannot contain consecutive hyphens")
	}
	if strings.ContainsFunc(name, func(c rune) bool { return c != '-' && !unicode.IsLetter(c) && !unicode.IsNumber(c) }) {
		fail("skill name '%s' contains invalid characters: only letters, digits and hyphens are allowed", short)
	}
	if norm.NFKC.String(dir) != name {
		fail("directory name '%s' must match skill name '%s'", dir, short)
	}
	return problems
}

func (r reader) description(f field) []Problem {
	if !isText(f.node) || trim(f.node.Value) == "" {
		return []Problem{r.fail(f.line, f.key, "field 'description' must be a non-empty string")}
	}
	if n := utf8.RuneCountInString(f.node.Value); n > MaxDescription {
		return []Problem{r.fail(f.line, f.key, "description exceeds %d character limit (%d characters)", MaxDescription, n)}
	}
	return nil
}

func (r reader) compatibility(f field) []Problem {
	if !isText(f.node) {
		return []Problem{r.fail(f.line, f.key, "field 'compatibility' must be a string")}
	}
	if n := utf8.RuneCountInString(f.node.Value); n > MaxCompatibility {
		return []Problem{r.fail(f.line, f.key, "compatibility exceeds %d character limit (%d characters)", MaxCompatibility, n)}
	}
	return nil
}

// normalizeName returns the form of a name in which names are compared.
func normalizeName(name string) string { return norm.NFKC.String(trim(name)) }

func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// isSpace reports whether r is a space for the reference validator, for which four ASCII
// separators are spaces too.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }

// isSafeName reports whether an invalid name is still safe to show and to use as a path
// component.
func isSafeName(name string) bool {
	return name != "" && len(name) <= 255 && name[0] != '.' &&
		!strings.ContainsFunc(name, func(c rune) bool { return c == '/' || c == '\\' || !unicode.IsPrint(c) })
}
