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

// allowedFields are the keys that a frontmatter may have, sorted.
var allowedFields = []string{"allowed-tools", "compatibility", "description", "license", "metadata", "name"}

// Validate says all that is wrong with the skill in dir, or with the one that dir, a
// SKILL.md, belongs to. The skill is valid, see [IsValid], when the reference validator
// of the format finds nothing; three things are stricter: what goes past the bounds of
// this package, a SKILL.md that is not UTF-8 or no regular file inside of dir, and keys
// of YAML that are not text, or empty. Warnings are about what other readers may not take.
func Validate(dir string) []Problem {
	tree, problem := openGiven(dir)
	if problem != nil {
		return []Problem{*problem}
	}
	defer tree.Close()
	name, text, err := tree.manifest()
	at := reader{file: shown(dir, name)}
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

// shown is the file as the user would name it.
func shown(dir, name string) string {
	if slices.Contains(manifests, filepath.Base(dir)) {
		return dir
	}
	return filepath.Join(dir, name)
}

// fields applies the rules of the format; dir is the name of the directory.
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
			names = append(names, cut(f.key, MaxName))
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
	name := normalize(f.node.Value)
	short := cut(name, MaxName)
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

// normalize brings a name into the form that is compared.
func normalize(name string) string { return norm.NFKC.String(trim(name)) }

func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// isSpace is the reference's notion, which counts four separators of ASCII.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c >= 0x1c && c <= 0x1f }

// isSafeName reports whether a name that breaks the rules of the format can still be
// shown and used as one element of a path.
func isSafeName(name string) bool {
	return name != "" && len(name) <= 255 && name[0] != '.' &&
		!strings.ContainsFunc(name, func(c rune) bool { return c == '/' || c == '\\' || !unicode.IsPrint(c) })
}
