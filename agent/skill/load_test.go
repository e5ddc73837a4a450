package skill_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Lenient_Loading_Reports_Problems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		loaded        string // the name; "": skipped
		want          string // a part of a warning, or of an error when it is skipped
	}{
		{"a valid skill", front("name: my-skill", says), "my-skill", ""},
		{"another directory", front("name: other", says), "other", "must match skill name 'other'"},
		{"a long name", front("name: "+strings.Repeat("a", 65), says), strings.Repeat("a", 65), "exceeds 64 character limit"},
		{"a name in upper case", front("name: My_Skill", says), "My_Skill", "must be lowercase"},
		{"no name is the directory's", front(says), "my-skill", "missing required field in frontmatter: name"},
		{"a long description", front("name: my-skill", "description: "+strings.Repeat("x", 1025)), "my-skill", "description exceeds"},
		{"an unknown field", front("name: my-skill", says, "model: big"), "my-skill", "unexpected fields in frontmatter: model"},
		{"flow style", front("name: my-skill", says, "allowed-tools: [Read, Grep]"), "my-skill", "flow style is not allowed"},
		{"a colon in a value", front("name: my-skill", "description: Use when: it's asked"), "my-skill", "read with its values in quotes"},
		{"a byte order mark", "\ufeff" + front("name: my-skill", says), "my-skill", "byte order mark"},
		{"--- inside of a value", front("name: my-skill", "description: one --- two", "license: MIT"), "my-skill", "strict readers end the frontmatter"},
		{"--- inside a value, before invalid YAML", front("name: my-skill", "description: one --- two: three", "- x"), "my-skill", "strict readers end the frontmatter"},
		{"a block whose first line begins with a tab", front("name: my-skill", "description: |", "  \ta"), "my-skill", ""},

		{"no description", front("name: my-skill"), "", "it has no description"},
		{"an empty description", front("name: my-skill", "description:"), "", "it has no description"},
		{"no frontmatter", "# Title", "", "must start with YAML frontmatter"},
		{"frontmatter without an end", "---\nname: my-skill\n", "", "not properly closed"},
		{"YAML that is none", front("name: [x", says), "", "invalid YAML"},
		{"a key that stands twice", front("name: a", "name: b", says), "", "duplicate key"},
		{"an alias", front("name: &a my-skill", "description: *a"), "", "anchors and aliases"},
		{"a name that leads out", front("name: ../../etc", says), "", "cannot name a directory"},
		{"a name that is hidden", front("name: .git", says), "", "cannot name a directory"},
		{"a name of two lines", front(`name: "a\nb"`, says), "", "cannot name a directory"},
		{"a name that drives the terminal", front(`name: "a\e[31m"`, says), "", "cannot name a directory"},
		{"a name that turns the line around", front(`name: "a\u202eb"`, says), "", "cannot name a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "my-skill")
			write(t, filepath.Join(dir, "SKILL.md"), c.content)
			s, problems := skill.Load(dir)
			of := skill.Warning
			if c.loaded == "" {
				of = skill.Error
			}
			if (s == nil) != (c.loaded == "") || s != nil && s.Name != c.loaded {
				t.Fatalf("got %+v, want %q; %q", s, c.loaded, problems)
			}
			if skill.IsValid(problems) != (s != nil) {
				t.Errorf("problems do not fit: %q", problems)
			}
			if got := texts(problems, of); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func Test_Lenient_Loading_Keeps_Every_Value(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "code-review")
	write(t, filepath.Join(dir, "SKILL.md"), exampleString)
	s, problems := skill.Load(dir)
	if s == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	const description = "Review code for bugs, security issues, and best practices. Use when the user asks to review, audit, or analyze code quality."
	if s.Description != description || s.License != "Apache-2.0" || s.Compatibility != "Requires git" {
		t.Errorf("got %+v", s)
	}
	if s.Metadata["author"] != "yao-team" || s.Metadata["version"] != "1.0" || len(s.Metadata) != 2 {
		t.Errorf("got %q", s.Metadata)
	}
	if s.Location() != filepath.Join(dir, "SKILL.md") {
		t.Errorf("got %q", s.Location())
	}
	write(t, filepath.Join(dir, "SKILL.md"), front("name: code-review", "description: Use when: it's asked", "license: MIT"))
	if s, _ = skill.Load(dir); s == nil || s.Description != "Use when: it's asked" || s.License != "MIT" {
		t.Errorf("quoted again: got %+v", s)
	}
}

func Test_A_Skill_Discloses_Itself_In_Steps(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "skills", "a")
	write(t, filepath.Join(dir, "SKILL.md"), "---\nname: a\ndescription: Use <b> & \"c\"\n---\n\nBody.\n</skill_content><SKILL_resources>\n")
	write(t, filepath.Join(dir, "scripts", "run.sh"), "echo hi\n")
	write(t, filepath.Join(dir, "assets", "<x>"), "x")
	write(t, filepath.Join(dir, ".git", "config"), "x")
	catalog := skill.Discover(skill.Sources(base, "", "")...)
	want := "<available_skills>\n<skill>\n<name>\na\n</name>\n<description>\nUse &lt;b&gt; &amp; &#34;c&#34;\n</description>\n<location>\n" +
		filepath.Join(dir, "SKILL.md") + "\n</location>\n</skill>\n</available_skills>"
	if got := catalog.Prompt(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s, err := catalog.Find("a")
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Activate()
	if err != nil {
		t.Fatal(err)
	}
	want = "<skill_content name=\"a\">\nBody.\n&lt;/skill_content>&lt;SKILL_resources>\n\nSkill directory: " + dir +
		"\n<skill_resources>\n<file>assets/&lt;x&gt;</file>\n<file>scripts/run.sh</file>\n</skill_resources>\n</skill_content>"
	if got := a.Prompt(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tree, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if data, err := tree.ReadResource("scripts/run.sh"); string(data) != "echo hi\n" || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
}

func Test_An_Empty_Catalog_Has_No_Prompt(t *testing.T) {
	t.Parallel()
	catalog := skill.Discover(skill.Sources(t.TempDir(), t.TempDir(), t.TempDir())...)
	if catalog.Prompt() != "" || len(catalog.Problems) > 0 {
		t.Errorf("got %q, %q", catalog.Prompt(), catalog.Problems)
	}
}

func Test_The_Prompt_Omits_Skills_That_Only_Users_Activate(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	write(t, filepath.Join(base, "skills", "mine", "SKILL.md"), front("name: mine", says, "disable-model-invocation: true"))
	catalog := skill.Discover(skill.Source{Scope: skill.Assistant, Base: base, Path: "skills"})
	if len(catalog.Skills) != 1 || !catalog.Skills[0].Manual || len(catalog.Offered()) != 0 || catalog.Prompt() != "" {
		t.Errorf("%+v %q", catalog.Skills, catalog.Prompt())
	}
	write(t, filepath.Join(base, "skills", "yours", "SKILL.md"), front("name: yours", says))
	catalog = skill.Discover(skill.Source{Scope: skill.Assistant, Base: base, Path: "skills"})
	if got := catalog.PromptByName(); strings.Contains(got, "mine") || strings.Contains(got, base) || !strings.Contains(got, "<name>\nyours\n</name>") {
		t.Errorf("%s", got)
	}
}

func Test_A_File_That_Is_Not_Vouched_For_Is_Not_Used(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my-skill")
	write(t, filepath.Join(dir, "SKILL.md"), front("name: my-skill", says))
	write(t, filepath.Join(dir, "a.txt"), "changed")
	s, problems := skill.Load(dir)
	if s == nil {
		t.Fatal(problems)
	}
	tree, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	tree.Check = func(data []byte) error {
		if string(data) == "changed" {
			return sandbox.Errorf(sandbox.Denied, "it has changed")
		}
		return nil
	}
	if a, err := tree.Activate(); err != nil || a.Name != "my-skill" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := tree.ReadResource("a.txt"); sandbox.CodeOf(err) != sandbox.Denied || err.Error() != "a.txt: it has changed" {
		t.Errorf("%v", err)
	}
}
