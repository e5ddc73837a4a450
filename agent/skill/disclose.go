package skill

import (
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Offered returns the skills that a model may activate itself: all except those that only users may activate.
func (c *Catalog) Offered() []Skill {
	var out []Skill
	for _, s := range c.Skills {
		if !s.Manual {
			out = append(out, s)
		}
	}
	return out
}

// Prompt returns the first step of disclosure: the list of the skills that are [Catalog.Offered] for a model,
// with names and descriptions only. It is "" if there are none. Descriptions are cut at MaxDescription
// characters.
func (c *Catalog) Prompt() string { return c.prompt(true) }

// PromptByName is Prompt without locations, for a model that activates skills by name and cannot read files
// of this host.
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
		parts := [][2]string{{"name", s.Name}, {"description", cutText(s.Description, MaxDescription)}}
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
	Dir       string   `json:"dir"`       // absolute; the instructions' paths are relative to it. "": not for this model
	Body      string   `json:"body"`      // the Markdown below the frontmatter, trimmed
	Resources []string `json:"resources"` // slash-separated, relative to Dir, sorted
	Whole     bool     `json:"whole"`     // Resources is complete
}

// Activate reads the current instructions of the skill.
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

// Activate reads the current instructions of the skill in this directory.
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

// Prompt returns the text for the model: the body and the list of files, between tags that their texts cannot
// close.
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
