// Package skill reads skills in the format of agentskills.io: a directory with a
// SKILL.md, whose frontmatter describes the purpose of the skill, and any other files.
//
// [Validate] is strict: it agrees with the format's reference validator. [Load] and
// [Discover] are lenient: they load every skill that other tools load, and report its
// problems.
//
// A skill may come with a repository that the user has not read, so all of it is hostile
// input: sizes, depths and counts are bounded, only regular files are read, and symbolic
// links out of the opened directory are not followed.
package skill

import (
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The limits of the format, in characters, after Unicode normalization for a name.
const (
	MaxName          = 64
	MaxDescription   = 1024
	MaxCompatibility = 500
)

// The bounds on reading. What exceeds one is refused or left out, and reported.
const (
	MaxFile        = 1 << 20  // bytes of a SKILL.md
	MaxFrontmatter = 16 << 10 // bytes of it that are YAML, whose parser takes quadratic time for some
	MaxResource    = 4 << 20  // bytes of any other file of a skill
	MaxResources   = 500      // files of a skill that are listed
	MaxSkills      = 500      // skills of one source that are read
	MaxDepth       = 6        // directories below the one that is searched, or below a skill
	MaxDirs        = 2000     // directories that one search or one list looks into
	MaxEntries     = 10_000   // entries of one directory
)

// Skill describes a skill. Its instructions are not in it: see [Skill.Activate].
type Skill struct {
	Name          string            `json:"name"`        // normalized; one printable path element, not always a valid name
	Description   string            `json:"description"` // never empty
	License       string            `json:"license,omitempty"`
	Compatibility string            `json:"compatibility,omitempty"`
	AllowedTools  []string          `json:"allowed_tools,omitempty"` // from a string or a list
	Metadata      map[string]string `json:"metadata,omitempty"`
	Manual        bool              `json:"manual,omitempty"` // disable-model-invocation: only users activate it, and models do not see it
	Scope         Scope             `json:"scope,omitempty"`  // empty if Load, and not Discover, read it
	Base          string            `json:"-"`                // absolute; no file outside is read
	Path          string            `json:"-"`                // the skill's directory, below Base
	File          string            `json:"-"`                // SKILL.md or skill.md
}

// Dir returns the absolute path of the skill's directory.
func (s *Skill) Dir() string { return filepath.Join(s.Base, s.Path) }

// Location returns the absolute path of the skill's SKILL.md.
func (s *Skill) Location() string { return filepath.Join(s.Dir(), s.File) }

// Open opens the skill's directory again. The caller closes it.
func (s *Skill) Open() (*Tree, error) { return openBelow(s.Base, s.Path) }

// Load reads the skill in dir leniently. If the Skill is nil, at least one problem is an
// error with the reason; otherwise all problems are warnings.
func Load(dir string) (*Skill, []Problem) {
	tree, problem := openGiven(dir)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	defer tree.Close()
	s, problems := loadSkill(tree)
	if s != nil {
		s.Base, s.Path = tree.path, "."
	}
	return s, problems
}

// loadSkill reads the skill of an open directory; the caller sets the place where it was
// found.
func loadSkill(tree *Tree) (*Skill, []Problem) {
	at := reader{file: tree.path}
	name, text, err := tree.manifest()
	if err != nil {
		return nil, []Problem{at.fail(0, "", "%v", err)}
	}
	at.file = filepath.Join(tree.path, name)
	doc, problems := at.lenient(text)
	if doc == nil {
		return nil, problems
	}
	for _, p := range append(at.strictYAML(doc), at.fields(doc, tree.name())...) {
		p.Severity = Warning
		problems = append(problems, p)
	}
	s := &Skill{
		Name: skillName(doc, tree), Description: trim(doc.scalar("description")),
		License: trim(doc.scalar("license")), Compatibility: trim(doc.scalar("compatibility")),
		AllowedTools: doc.words("allowed-tools"), Metadata: doc.strings("metadata"), File: name,
		Manual: doc.scalar("disable-model-invocation") == "true",
	}
	if s.Description == "" {
		return nil, append(problems, at.fail(0, "description", "skipped: it has no description"))
	}
	if !isSafeName(s.Name) {
		return nil, append(problems, at.fail(0, "name", "skipped: the name %q cannot name a directory", cutText(s.Name, MaxName)))
	}
	return s, problems
}

// skillName returns the name in the frontmatter, or otherwise the name of the directory.
func skillName(doc *document, tree *Tree) string {
	if name := normalizeName(doc.scalar("name")); name != "" {
		return name
	}
	return normalizeName(tree.name())
}

// notFound returns the error for a missing skill.
func notFound(format string, args ...any) error {
	return sandbox.Errorf(sandbox.NotFound, format, args...)
}
