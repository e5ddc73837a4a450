package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
)

// write writes a file and creates its directories.
func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// front returns a SKILL.md with these lines in its frontmatter.
func front(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\n# Body\n"
}

const says = "description: A test skill"

// texts joins the errors, or the warnings.
func texts(problems []skill.Problem, of skill.Severity) string {
	var out []string
	for _, p := range problems {
		if p.Severity == of {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

func Test_Strict_Validation_Has_The_Verdicts_Of_The_Reference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, dir, content string
		want               []string // a part of each error, in order; none: valid
	}{
		{"a valid skill", "my-skill", front("name: my-skill", says), nil},
		{"all fields", "my-skill", front("name: my-skill", says, "license: MIT", "compatibility: Requires git", "metadata:", "  author: Me", "  version: 1.0", "allowed-tools: Bash(jq:*) Read"), nil},
		{"a body is not needed", "my-skill", "---\nname: my-skill\n" + says + "\n---", nil},
		{"Windows line ends", "my-skill", strings.ReplaceAll(front("name: my-skill", says), "\n", "\r\n"), nil},

		{"no frontmatter", "my-skill", "# Title\n", []string{"must start with YAML frontmatter (---)"}},
		{"an empty file", "my-skill", "", []string{"must start with YAML frontmatter (---)"}},
		{"a byte order mark before it", "my-skill", "\ufeff" + front("name: my-skill", says), []string{"must start with YAML frontmatter (---)"}},
		{"frontmatter without an end", "my-skill", "---\nname: my-skill\n", []string{"not properly closed with ---"}},
		{"YAML that is none", "my-skill", front("name: [invalid", "description: broken"), []string{"invalid YAML in frontmatter"}},
		{"a list", "my-skill", front("- just", "- a", "- list"), []string{"must be a YAML mapping"}},
		{"plain text", "my-skill", front("hello"), []string{"must be a YAML mapping"}},
		{"empty frontmatter", "my-skill", "---\n---\n", []string{"must be a YAML mapping"}},
		{"only a comment", "my-skill", front("# nothing"), []string{"must be a YAML mapping"}},
		{"a colon in a plain value", "my-skill", front("name: my-skill", "description: Use when: asked"), []string{"invalid YAML"}},
		{"a second document", "my-skill", front("name: my-skill", says, "...", "a: b"), []string{"invalid YAML"}},
		{"a key that stands twice", "my-skill", front("name: my-skill", "name: my-skill", says), []string{`duplicate key "name"`}},
		{"a key of metadata that stands twice", "my-skill", front("name: my-skill", says, "metadata:", "  a: 1", "  a: 2"), []string{`duplicate key "a"`}},
		{"a flow list", "my-skill", front("name: my-skill", says, "allowed-tools: [Read, Grep]"), []string{"flow style is not allowed"}},
		{"a flow mapping", "my-skill", front("name: my-skill", says, "metadata: {a: b}"), []string{"flow style is not allowed"}},
		{"an empty flow mapping", "my-skill", front("name: my-skill", says, "metadata: {}"), []string{"flow style is not allowed"}},
		{"a tag", "my-skill", front("name: !!str my-skill", says), []string{"tags are not allowed"}},
		{"a tag without a name", "my-skill", front("name: my-skill", says, "license: ! MIT"), []string{"tags are not allowed"}},
		{"a tag without a name and a value", "my-skill", front("name: my-skill", says, "license: !"), []string{"tags are not allowed"}},
		{"a list in flow style", "my-skill", front("[a]"), []string{"flow style is not allowed"}},
		{"an anchor and nothing else", "my-skill", front("&a"), []string{"anchors and aliases are not allowed"}},
		{"a tag and nothing else", "my-skill", front("!x"), []string{"tags are not allowed"}},
		{"flow style in a list", "my-skill", front("- [a]"), []string{"flow style is not allowed"}},
		{"an anchor", "my-skill", front("name: &a my-skill", says), []string{"anchors and aliases are not allowed"}},
		{"an anchor and an alias", "my-skill", front("name: &a my-skill", "description: *a"), []string{"anchors and aliases", "anchors and aliases", "field 'description' must be a non-empty string"}},
		{"mappings that are indented unevenly", "my-skill", front("name: my-skill", says, "metadata:", "  a:", "    b: c", "  d:", "      e: f"), []string{"indented unevenly"}},
		{"a tab before a value", "my-skill", front("name:\tmy-skill", says), []string{"a tab where only spaces are allowed"}},
		{"a tab behind a value", "my-skill", front("name: my-skill\t", says), []string{"a tab where only spaces are allowed"}},
		{"a tab behind a block", "my-skill", front("name: my-skill", "description: |", "  a\tb", "license:\tMIT"), []string{"a tab where only spaces are allowed"}},
		{"tabs in quotes, blocks and comments", "my-skill", front("# a\tb", "name: my-skill #\tc", "description: >", "  a\tb", "", "  \tc", "license: 'a\t''b'", "compatibility: \"a\\\"\t\" #\tx"), nil},
		{"a block whose first line begins with a tab", "my-skill", front("name: my-skill", "description: |", "  \ta", "license: >", "", "  \ta", "metadata:", "  a: |", "    \ta"), nil},
		{"a block whose first line is a tab", "my-skill", front("name: my-skill", "description: |", "\ta"), []string{"invalid YAML"}},
		{"a comment right behind the sign of a block", "my-skill", front("name: my-skill", "description: >#c", "  a"), []string{"a comment needs a space before it"}},
		{"a comment right behind the indentation of a block", "my-skill", front("name: my-skill", "description: |2-#c", "  a"), []string{"a comment needs a space before it"}},
		{"a line separator in plain text and in quotes", "my-skill", front("name: my-skill", "description: a\u2028b", "license: a\u0085b", "compatibility: 'a\u2029b'"), nil},
		{"a line separator in a block", "my-skill", front("name: my-skill", "description: |", "  a\u2028b"), []string{"a line separator that ends no line"}},
		{"a line separator in a comment", "my-skill", front("name: my-skill", says+" # a\u0085b"), []string{"a line separator that ends no line"}},
		{"a line separator at the end of a comment", "my-skill", front("name: my-skill", says+" # a\u0085"), nil},
		{"a line separator for a line end", "my-skill", front("name: my-skill", "\u2028"+says), []string{"unexpected fields", "missing required field in frontmatter: description"}},
		{"a value that holds ---", "my-skill", front("name: my-skill", "description: one --- two"), nil},
		{"a name that holds ---", "my-skill", front("name: my---skill", says), []string{"directory name", "missing required field in frontmatter: description"}},

		{"an unknown field", "my-skill", front("name: my-skill", says, "version: 1", "author: me"), []string{"unexpected fields in frontmatter: author, version; only allowed-tools,"}},
		{"no name", "my-skill", front(says), []string{"missing required field in frontmatter: name"}},
		{"no description", "my-skill", front("name: my-skill"), []string{"missing required field in frontmatter: description"}},
		{"neither", "my-skill", front("license: MIT"), []string{"missing required field in frontmatter: name", "missing required field in frontmatter: description"}},
		{"an empty name", "my-skill", front("name:", says), []string{"field 'name' must be a non-empty string"}},
		{"a name of spaces", "my-skill", front(`name: "  "`, says), []string{"field 'name' must be a non-empty string"}},
		{"a name that is a list", "my-skill", front("name:", "  - my-skill", says), []string{"field 'name' must be a non-empty string"}},
		{"a name with spaces around it", "my-skill", front(`name: " my-skill "`, says), nil},
		{"a name of 64 characters", strings.Repeat("a", 64), front("name: "+strings.Repeat("a", 64), says), nil},
		{"a name of 65 characters", strings.Repeat("a", 65), front("name: "+strings.Repeat("a", 65), says), []string{"exceeds 64 character limit (65 characters)"}},
		{"a name of 64 characters that are many bytes", strings.Repeat("技", 64), front("name: "+strings.Repeat("技", 64), says), nil},
		{"a name in upper case", "MySkill", front("name: MySkill", says), []string{"must be lowercase"}},
		{"a hyphen first", "-my", front("name: -my", says), []string{"cannot start or end with a hyphen"}},
		{"a hyphen last", "my-", front("name: my-", says), []string{"cannot start or end with a hyphen"}},
		{"two hyphens", "my--skill", front("name: my--skill", says), []string{"cannot contain consecutive hyphens"}},
		{"an underscore", "my_skill", front("name: my_skill", says), []string{"contains invalid characters"}},
		{"a space", "my skill", front("name: my skill", says), []string{"contains invalid characters"}},
		{"several faults of a name", "x", front("name: -My_", says), []string{"must be lowercase", "start or end with a hyphen", "invalid characters", "must match"}},
		{"another directory", "wrong-name", front("name: correct-name", says), []string{"directory name 'wrong-name' must match skill name 'correct-name'"}},
		{"a name that YAML takes for a number", "123", front("name: 123", says), nil},
		{"a name that YAML takes for a boolean", "true", front("name: true", says), nil},
		{"a name that YAML takes for nothing", "null", front("name: null", says), nil},
		{"a Chinese name", "技能", front("name: 技能", says), nil},
		{"a Russian name with a hyphen", "мой-навык", front("name: мой-навык", says), nil},
		{"a Russian name in lower case", "навык", front("name: навык", says), nil},
		{"a Russian name in upper case", "НАВЫК", front("name: НАВЫК", says), []string{"must be lowercase"}},
		{"a decomposed name in a composed directory", "caf\u00e9", front("name: cafe\u0301", says), nil},
		{"a composed name in a decomposed directory", "cafe\u0301", front("name: caf\u00e9", says), nil},
		{"a ligature that normalizes to letters", "fish", front("name: \ufb01sh", says), nil},

		{"an empty description", "my-skill", front("name: my-skill", `description: ""`), []string{"field 'description' must be a non-empty string"}},
		{"a description that is a mapping", "my-skill", front("name: my-skill", "description:", "  a: b"), []string{"field 'description' must be a non-empty string"}},
		{"a description of 1024 characters", "my-skill", front("name: my-skill", "description: "+strings.Repeat("é", 1024)), nil},
		{"a description of 1025 characters", "my-skill", front("name: my-skill", "description: "+strings.Repeat("x", 1025)), []string{"description exceeds 1024 character limit (1025 characters)"}},
		{"a folded description", "my-skill", front("name: my-skill", "description: > # when", "  one", "  two"), nil},
		{"a compatibility of 500 characters", "my-skill", front("name: my-skill", says, "compatibility: "+strings.Repeat("x", 500)), nil},
		{"a compatibility of 501 characters", "my-skill", front("name: my-skill", says, "compatibility: "+strings.Repeat("x", 501)), []string{"compatibility exceeds 500 character limit (501 characters)"}},
		{"a compatibility that is a list", "my-skill", front("name: my-skill", says, "compatibility:", "  - git"), []string{"field 'compatibility' must be a string"}},
		{"an empty compatibility", "my-skill", front("name: my-skill", says, "compatibility:"), nil},
		{"signs of YAML that are no text", "my-skill", front("name: <<", "description: =", "compatibility: ="), []string{"field 'name' must be a non-empty string", "field 'description' must be a non-empty string", "field 'compatibility' must be a string"}},
		{"signs of YAML in quotes, which are", "my-skill", front("name: my-skill", "description: '='", "compatibility: \"<<\"", "license: ="), nil},
		{"an empty license", "my-skill", front("name: my-skill", says, "license:"), nil},
		{"all that is wrong at once", "my-skill", front("name: Other", "license: MIT", "x: y", "compatibility: "+strings.Repeat("x", 501)), []string{"unexpected fields", "lowercase", "must match", "missing required field in frontmatter: description", "compatibility exceeds"}},

		{"not UTF-8", "my-skill", front("name: my-skill", "description: \xff"), []string{"is not UTF-8"}},
		{"more frontmatter than is read", "my-skill", front("name: my-skill", says, "license: "+strings.Repeat("x", skill.MaxFrontmatter)), []string{"the frontmatter has more than"}},
		{"a bomb of aliases", "my-skill", front("a: &a [x, x]", "b: &b [*a, *a]", "c: [*b, *b]"), []string{"anchors", "anchors", "anchors", "anchors", "flow", "anchors", "anchors", "unexpected fields", "name", "description"}},
		{"a merge key", "my-skill", front("name: my-skill", says, "<<:", "  license: MIT"), []string{"a key must be text", "unexpected fields in frontmatter: <<"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), c.dir)
			write(t, filepath.Join(dir, "SKILL.md"), c.content)
			checkErrors(t, skill.Validate(dir), c.want)
		})
	}
}

// checkErrors checks that the errors, in order, contain these texts.
func checkErrors(t *testing.T, problems []skill.Problem, want []string) {
	t.Helper()
	got := strings.Split(texts(problems, skill.Error), "\n")
	if got[0] == "" {
		got = nil
	}
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = strings.Contains(got[i], want[i])
	}
	if !same {
		t.Errorf("got %q, want %q", got, want)
	}
	if skill.IsValid(problems) != (len(want) == 0) {
		t.Errorf("valid is %v", skill.IsValid(problems))
	}
}

func Test_Strict_Validation_Finds_The_File(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "lower", "skill.md"), front("name: lower", says))
	write(t, filepath.Join(dir, "both", "SKILL.md"), front("name: both", says))
	write(t, filepath.Join(dir, "both", "skill.md"), "not read")
	write(t, filepath.Join(dir, "none", "README.md"), "")
	write(t, filepath.Join(dir, "folder", "SKILL.md", "x"), "")
	for _, c := range []struct {
		name, path string
		want       []string
	}{
		{"the lower case name is accepted", "lower", nil},
		{"the upper case name is preferred", "both", nil},
		{"the file stands for its directory", "both/SKILL.md", nil},
		{"a path that does not exist", "nowhere", []string{"path does not exist: "}},
		{"a file that is no SKILL.md", "none/README.md", []string{"not a directory: "}},
		{"a directory without it", "none", []string{"missing required file: SKILL.md"}},
		{"a SKILL.md that is a directory", "folder", []string{"SKILL.md is not a regular file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkErrors(t, skill.Validate(filepath.Join(dir, c.path)), c.want)
		})
	}
}

func Test_Problems_Name_File_And_Line(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my-skill")
	file := filepath.Join(dir, "SKILL.md")
	for _, c := range []struct {
		name, content, want string
	}{
		{"of a field", front(says, "license: MIT", "name: My-skill"), ":4: error: skill name 'My-skill' must be lowercase"},
		{"of YAML", front("name: my-skill", "description: a: b"), ":3: error: invalid YAML in frontmatter: mapping values are not allowed in this context"},
		{"of a duplicate", front("name: my-skill", says, "name: x"), `:4: error: invalid YAML in frontmatter: duplicate key "name"`},
		{"of nothing that is there", front("name: my-skill"), ": error: missing required field in frontmatter: description"},
		{"of a --- inside a value", front("name: my-skill", "description: one --- two"), ":3: warning: the frontmatter ends at the --- inside of this line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, file, c.content)
			problems := skill.Validate(dir)
			if len(problems) == 0 || problems[0].String() != file+c.want {
				t.Errorf("got %q, want %q first", problems, file+c.want)
			}
		})
	}
}

// The two examples of the design of assistants.
const (
	exampleString = `---
name: code-review                    # Required: must match parent directory name
description: >                       # Required: when to use this skill
  Review code for bugs, security issues, and best practices.
  Use when the user asks to review, audit, or analyze code quality.
license: Apache-2.0                  # Optional
compatibility: Requires git          # Optional: environment requirements
metadata:                            # Optional: arbitrary key-value pairs
  author: yao-team
  version: "1.0"
allowed-tools: Bash(git:*) Read      # Optional: pre-approved tools (experimental)
---

# Code Review

## Steps
1. Check for security vulnerabilities
`
	exampleList = `---
name: code-review
description: "Review code for security, performance, and best practices"
allowed-tools:
  - Read
  - Grep
  - Glob
---

# Code Review

When reviewing code:
`
)

// Y22: frontmatter is YAML: a description of many lines with a comment behind its > is read whole.
func Test_A_Folded_Description_Is_Read_Whole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "code-review")
	write(t, filepath.Join(dir, "SKILL.md"), exampleString)
	s, problems := skill.Load(dir)
	if s == nil || len(problems) > 0 {
		t.Fatalf("%q", problems)
	}
	const want = "Review code for bugs, security issues, and best practices. Use when the user asks to review, audit, or analyze code quality."
	if s.Description != want || s.Metadata["version"] != "1.0" || s.Name != "code-review" || s.License != "Apache-2.0" {
		t.Errorf("%+v", s)
	}
}

func Test_Both_Forms_Of_Allowed_Tools_Are_Valid_And_The_List_Is_Warned_About(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content, tools, warning string
	}{
		{"a string", exampleString, "Bash(git:*)|Read", ""},
		{"a list", exampleList, "Read|Grep|Glob", "field 'allowed-tools' should be one string with spaces between the tools"},
		{"a string with spaces in parentheses", front("name: code-review", says, "allowed-tools: Bash(git add:*) Read"), "Bash(git add:*)|Read", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "code-review")
			write(t, filepath.Join(dir, "SKILL.md"), c.content)
			problems := skill.Validate(dir)
			checkErrors(t, problems, nil)
			if got := texts(problems, skill.Warning); got != c.warning {
				t.Errorf("got warnings %q, want %q", got, c.warning)
			}
			s, _ := skill.Load(dir)
			if got := strings.Join(s.AllowedTools, "|"); got != c.tools {
				t.Errorf("got tools %q, want %q", got, c.tools)
			}
		})
	}
}
