package skill

import (
	"strings"
	"testing"
)

func Fuzz_Frontmatter(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\ndescription: b\n---\nbody", "---\nname: a\ndescription: >\n  b\n  c\nallowed-tools:\n  - Read\n---\n",
		"---\ndescription: a: b\n---\n", "---\na: &a [*a]\n---\n", "\ufeff---\n? {a: b}\n: c\n---", "---\nx: a---b\n---\n", "---\n<<: *a\n%YAML 1.1\n---",
		"---\nname: a\ndescription: |\n  \tb\nlicense: a\u2028b \u0085 '\U000F0000'\n---\n", "---\nname: !\ndescription: >2-#b\n  =\n---\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := reader{file: "SKILL.md"}
		private := func(s string) bool { return strings.ContainsFunc(s, func(c rune) bool { return c >= 0xF0000 }) }
		if doc, problems := at.strict(text); doc != nil {
			if private(doc.scalar("description")) && !private(text) && !strings.Contains(text, `\U`) {
				t.Errorf("a character that stood for another is left: %q", doc.scalar("description"))
			}
			problems = append(problems, at.strictYAML(doc)...)
			problems = append(problems, at.fields(doc, doc.scalar("name"))...)
			if name := normalizeName(doc.scalar("name")); IsValid(problems) && !isSafeName(name) && !strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f }) {
				t.Errorf("a valid name is not safe: %q", name)
			}
		} else if IsValid(problems) {
			t.Error("no document and no error")
		}
		if doc, problems := at.lenient(text); doc == nil && IsValid(problems) {
			t.Error("no document and no error")
		} else if doc != nil && !IsValid(problems) {
			t.Errorf("a document in spite of %q", problems)
		}
	})
}
