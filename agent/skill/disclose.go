package skill

import (
	"html"
	"path/filepath"
	"regexp"
	"strings"
)

// Prompt is the first step of disclosure: what a model is told of all skills, names
// and descriptions only. It is "" when there is none. Descriptions are cut at
// MaxDescription characters.
func (c *Catalog) Prompt() string {
	if len(c.Skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<available_skills>\n")
	for i := range c.Skills {
		s := &c.Skills[i]
		b.WriteString("<skill>\n")
		for _, part := range [][2]string{
			{"name", s.Name}, {"description", cut(s.Description, MaxDescription)}, {"location", s.Location()},
		} {
			b.WriteString("<" + part[0] + ">\n" + html.EscapeString(part[1]) + "\n</" + part[0] + ">\n")
		}
		b.WriteString("</skill>\n")
	}
	b.WriteString("</available_skills>")
	return b.String()
}

// Activation is the second step: a skill's instructions and the names of its files.
// The third is [Tree.ReadResource].
type Activation struct {
	Name      string   `json:"name"`
	Dir       string   `json:"dir"`       // absolute; what the instructions' paths are relative to
	Body      string   `json:"body"`      // the Markdown below the frontmatter, trimmed
	Resources []string `json:"resources"` // slash-separated, relative to Dir, sorted
	Whole     bool     `json:"whole"`     // Resources leaves nothing out
}

// Activate reads the skill's instructions as they are now.
func (s *Skill) Activate() (*Activation, error) {
	tree, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	name, text, err := tree.manifest()
	if err != nil {
		return nil, err
	}
	doc, problems := reader{file: filepath.Join(tree.path, name)}.lenient(text)
	if doc == nil {
		return nil, notFound("%s is no skill any more: %s", s.Dir(), problems[len(problems)-1].Text)
	}
	a := &Activation{Name: s.Name, Dir: s.Dir(), Body: doc.body, Resources: []string{}}
	names, whole := tree.Resources()
	a.Resources, a.Whole = append(a.Resources, names...), whole
	return a, nil
}

// ourTags are the tags of Activation.Prompt, which a body must not close.
var ourTags = regexp.MustCompile(`(?i)<(\s*/?\s*skill_(?:content|resources))`)

// Prompt is what a model is told: the body and the list of files between tags that
// nothing in them can close.
func (a *Activation) Prompt() string {
	var b strings.Builder
	b.WriteString(`<skill_content name="` + html.EscapeString(a.Name) + "\">\n")
	b.WriteString(ourTags.ReplaceAllString(a.Body, "&lt;$1") + "\n\n")
	b.WriteString("Skill directory: " + html.EscapeString(a.Dir) + "\n")
	if len(a.Resources) > 0 {
		b.WriteString("<skill_resources>\n")
		for _, name := range a.Resources {
			b.WriteString("<file>" + html.EscapeString(name) + "</file>\n")
		}
		if !a.Whole {
			b.WriteString("(there are more)\n")
		}
		b.WriteString("</skill_resources>\n")
	}
	b.WriteString("</skill_content>")
	return b.String()
}
