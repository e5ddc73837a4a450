package skill

import (
	"strings"
	"testing"
)

func Fuzz_Frontmatter(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\ndescription: b\n---\nbody", "---\nname: a\ndescription: >\n  b\n  c\nallowed-tools:\n  - Read\n---\n",
		"---\ndescription: a: b\n---\n", "---\na: &a [*a]\n---\n", "\ufeff---\n? {a: b}\n: c\n---", "---\nx: a---b\n---\n", "---\n<<: *a\n%YAML 1.1\n---",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := reader{file: "SKILL.md"}
		if doc, problems := at.strict(text); doc != nil {
			problems = append(problems, at.strictYAML(doc)...)
			problems = append(problems, at.fields(doc, doc.scalar("name"))...)
			if name := normalize(doc.scalar("name")); Valid(problems) && !safeName(name) && !strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f }) {
				t.Errorf("a valid name is not safe: %q", name)
			}
		} else if Valid(problems) {
			t.Error("no document and no error")
		}
		if doc, problems := at.lenient(text); doc == nil && Valid(problems) {
			t.Error("no document and no error")
		} else if doc != nil && !Valid(problems) {
			t.Errorf("a document in spite of %q", problems)
		}
	})
}
