package skill

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Scope is the kind of place in which a skill was found.
type Scope string

// The scopes, in order of precedence.
const (
	Assistant Scope = "assistant" // came with the assistant
	Project   Scope = "project"   // came with the project, which the user may not have read
	User      Scope = "user"      // of the user's home
)

// Source is a directory that is searched for skills.
type Source struct {
	Scope Scope
	Base  string // absolute; no file outside is read, not even through links
	Path  string // of the directory below Base, "." for Base itself
}

// Sources returns the usual places in order of precedence: an assistant's skills directory,
// then .agents/skills and .claude/skills of the project, then of the home directory. An empty
// argument omits its places.
func Sources(assistant, project, home string) []Source {
	var out []Source
	if assistant != "" {
		out = append(out, Source{Assistant, assistant, "skills"})
	}
	for _, place := range []Source{{Project, project, ""}, {User, home, ""}} {
		if place.Base == "" {
			continue
		}
		for _, client := range []string{".agents", ".claude"} {
			out = append(out, Source{place.Scope, place.Base, filepath.Join(client, "skills")})
		}
	}
	return out
}

// Catalog is the result of a search.
type Catalog struct {
	Skills   []Skill   `json:"skills"`   // with different names; in the order of their sources, then by directory
	Problems []Problem `json:"problems"` // why skills were skipped or shadowed, and the warnings of loaded ones
}

// Discover searches the sources. Of skills with the same name, the first wins. A missing
// source is not a problem. A directory with a SKILL.md is a skill, and Discover does not
// search it for others. It follows a link to a directory only if the link is an entry of the
// source itself and its target is within the source's Base.
func Discover(sources ...Source) *Catalog {
	s := search{catalog: &Catalog{Skills: []Skill{}, Problems: []Problem{}}, byName: map[string]int{}}
	for _, source := range sources {
		s.source(source)
	}
	return s.catalog
}

// Find returns the skill with that name.
func (c *Catalog) Find(name string) (*Skill, error) {
	for i := range c.Skills {
		if c.Skills[i].Name == normalizeName(name) {
			return &c.Skills[i], nil
		}
	}
	return nil, notFound("no skill %q", cutText(name, MaxName))
}

// search is one run of Discover.
type search struct {
	catalog *Catalog
	byName  map[string]int // index of the skill
	seen    []fs.FileInfo  // directories of skills, to recognise two links to one directory
	current Source
	walk    walk
	loads   int  // number of skills read from this source
	told    bool // the problem that a bound of this source was reached is reported
}

func (s *search) source(source Source) {
	root, err := os.OpenRoot(source.Base)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	at := filepath.Join(source.Base, source.Path)
	if err != nil {
		s.problem(at, Warning, "cannot be searched: "+trimFileError(err).Error())
		return
	}
	defer root.Close()
	s.current, s.walk, s.loads, s.told = source, walk{root: root}, 0, false
	info, err := root.Stat(source.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		s.problem(at, Warning, "cannot be searched: "+trimFileError(err).Error())
	case !info.IsDir():
		s.problem(at, Warning, "cannot be searched: not a directory")
	default:
		s.dir(filepath.ToSlash(source.Path), 0)
	}
}

// dir searches a directory that is not a skill itself.
func (s *search) dir(dir string, depth int) {
	entries, whole := s.walk.entries(dir)
	if !whole {
		s.problem(s.abs(dir), Warning, "not searched whole: it cannot be read or has too many entries")
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		link := e.Type()&fs.ModeSymlink != 0
		if link && depth > 0 || !link && !e.IsDir() || isSkipped(e.Name()) {
			continue
		}
		if link {
			info, err := s.walk.root.Stat(name)
			if err != nil {
				s.problem(s.abs(name), Warning, "skipped: the link cannot be followed: "+trimFileError(err).Error())
				continue
			}
			if !info.IsDir() {
				continue
			}
		}
		s.below(name, link, depth)
	}
}

// below loads a skill, or searches the directory.
func (s *search) below(name string, link bool, depth int) {
	if s.isSkill(name) {
		s.load(name)
		return
	}
	switch {
	case link:
	case depth < MaxDepth && s.walk.dirs < MaxDirs:
		s.dir(name, depth+1)
	default:
		s.full(name, "not searched: too many directories, or too deep")
	}
}

// full reports once per source that a bound was reached.
func (s *search) full(name, text string) {
	if !s.told {
		s.told = true
		s.problem(s.abs(name), Warning, text)
	}
}

func (s *search) isSkill(dir string) bool {
	for _, name := range manifests {
		if _, err := s.walk.root.Lstat(path.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// loadSkill adds the skill of a directory to the catalog.
func (s *search) load(dir string) {
	if s.loads++; s.loads > MaxSkills {
		s.full(dir, "not loaded: too many skills")
		return
	}
	root, err := s.walk.root.OpenRoot(dir)
	if err != nil {
		s.problem(s.abs(dir), Error, "skipped: cannot be opened: "+trimFileError(err).Error())
		return
	}
	tree := &Tree{root: root, path: s.abs(dir)}
	defer tree.Close()
	if info, err := root.Stat("."); err == nil {
		for _, other := range s.seen {
			if os.SameFile(info, other) {
				return
			}
		}
		s.seen = append(s.seen, info)
	}
	found, problems := loadSkill(tree)
	s.catalog.Problems = append(s.catalog.Problems, problems...)
	if found != nil {
		found.Scope, found.Base, found.Path = s.current.Scope, s.current.Base, filepath.FromSlash(dir)
		s.add(*found)
	}
}

func (s *search) add(found Skill) {
	if i, ok := s.byName[found.Name]; ok {
		s.problem(found.Location(), Warning, "skill '"+found.Name+"' is shadowed by "+s.catalog.Skills[i].Location())
		return
	}
	s.byName[found.Name] = len(s.catalog.Skills)
	s.catalog.Skills = append(s.catalog.Skills, found)
}

func (s *search) abs(name string) string {
	return filepath.Join(s.current.Base, filepath.FromSlash(name))
}

func (s *search) problem(file string, severity Severity, text string) {
	s.catalog.Problems = append(s.catalog.Problems, Problem{Severity: severity, File: file, Text: text})
}
