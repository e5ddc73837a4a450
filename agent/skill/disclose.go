package skill

import (
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Offered returns the skills that a model may activate by itself: all but those that only people may activate.
func (c *Catalog) Offered() []Skill {
	var out []Skill
	for _, s := range c.Skills {
		if !s.Manual {
			out = append(out, s)
		}
	}
	return out
}

// Prompt is the first step of disclosure: the list of the skills that are [Catalog.Offered] for a model, with
// names and descriptions only. It is "" when there is none. Descriptions are cut at
// MaxDescription characters.
func (c *Catalog) Prompt() string { return c.prompt(true) }

// PromptByName is Prompt without the locations, for a model that activates skills by
// their names and reads no files of this host: it need not know where they are.
func (c *Catalog) PromptByName() string { return c.prompt(false) }

func (c *Catalog) prompt(located bool) string {
	offered := c.Offered()
	if len(offered) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<available_skills>\n")
	for i := range offered {
		s := &offered[i]
		parts := [][2]string{{"name", s.Name}, {"description", cut(s.Description, MaxDescription)}}
		if located {
			parts = append(parts, [2]string{"location", s.Location()})
		}
		b.WriteString("<skill>\n")
		for _, part := range parts {
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
	Dir       string   `json:"dir"`       // absolute; what the instructions' paths are relative to. "": the model need not know
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
	a, err := tree.Activate()
	if err != nil {
		return nil, err
	}
	a.Name = s.Name
	return a, nil
}

// Activate reads the instructions of the skill in this directory as they are now.
func (t *Tree) Activate() (*Activation, error) {
	name, text, err := t.manifest()
	if err != nil {
		return nil, err
	}
	doc, problems := reader{file: filepath.Join(t.path, name)}.lenient(text)
	if doc == nil {
		return nil, notFound("%s is not a skill any more: %s", t.path, problems[len(problems)-1].Text)
	}
	a := &Activation{Name: skillName(doc, t), Dir: t.path, Body: doc.body, Resources: []string{}}
	names, whole := t.Resources()
	a.Resources, a.Whole = append(a.Resources, names...), whole
	return a, nil
}

// ourTags are the tags of Activation.Prompt, which a body must not close.
var ourTags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<(\s*/?\s*skill_(?:content|resources))`)
})

// Prompt returns the text for the model: the body and the list of files between tags that
// nothing in them can close.
func (a *Activation) Prompt() string {
	var b strings.Builder
	b.WriteString(`<skill_content name="` + html.EscapeString(a.Name) + "\">\n")
	b.WriteString(ourTags().ReplaceAllString(a.Body, "&lt;$1") + "\n\n")
	if a.Dir != "" {
		b.WriteString("Skill directory: " + html.EscapeString(a.Dir) + "\n")
	}
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
