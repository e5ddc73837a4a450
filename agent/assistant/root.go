package assistant

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Root is a directory with assistants/ and connectors/. It keeps no file open. Set its fields before its first use;
// after that it is safe for concurrent use.
type Root struct {
	Own   bool          // the root is the user's own configuration, which is always trusted
	Trust *policy.Trust // the contents that the user trusts besides; nil: none

	dir string
}

// Open returns the root in dir. NotFound: dir has no directory assistants. Symbolic links in the path of dir are
// followed; links inside dir that leave it are not.
func Open(dir string) (*Root, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, sandbox.Errorf(sandbox.NotFound, "no assistants in %s: %w", jsonc.OneLine(dir), trimFileError(err))
	}
	if !Has(abs) {
		return nil, sandbox.Errorf(sandbox.NotFound, "no assistants in %s: it has no directory %s", jsonc.OneLine(abs), assistantsDir).
			WithHint("an assistant is a file such as %s", jsonc.OneLine(filepath.Join(abs, assistantsDir, "helper", "package.yao")))
	}
	return &Root{dir: abs}, nil
}

// Has reports whether dir can be opened as a root.
func Has(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, assistantsDir))
	return err == nil && info.IsDir()
}

// Locate returns the root and the name of the assistant whose directory or package file is at path.
func Locate(file string) (dir, name string, ok bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", "", false
	}
	if slices.Contains(packageNames(), filepath.Base(abs)) {
		abs = filepath.Dir(abs)
	} else if !slices.ContainsFunc(packageNames(), func(name string) bool { return isPresent(filepath.Join(abs, name)) }) {
		return "", "", false
	}
	if filepath.Base(filepath.Dir(abs)) != assistantsDir {
		return "", "", false
	}
	return filepath.Dir(filepath.Dir(abs)), filepath.Base(abs), true
}

func isPresent(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// trimFileError removes the operation and the path from a file error, for messages that name the path themselves.
func trimFileError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Dir returns the absolute path of the root.
func (r *Root) Dir() string { return r.dir }

// tree opens the root's directory. The caller closes it.
func (r *Root) tree() (*tree, error) {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.NotFound, "cannot open %s: %w", jsonc.OneLine(r.dir), trimFileError(err))
	}
	return &tree{root: root, dir: r.dir}, nil
}

// Entry is one assistant in the result of [Root.List].
type Entry struct {
	Assistant *Assistant // never nil; if Problems has errors, it is incomplete and only for display
	Problems  []Problem
}

// List reads all assistants, sorted by name. A broken assistant does not hide the others. The problems are those of
// the root: of its connectors, and of entries that are not assistants. An error means that the root could not be read.
func (r *Root) List() ([]Entry, []Problem, error) {
	t, err := r.tree()
	if err != nil {
		return nil, nil, err
	}
	defer t.root.Close()
	connectors := findConnectors(t)
	var rest reported
	rest.problems = connectors.problems
	for _, id := range connectors.ids() {
		_, problems := connectors.parse(id, map[string]string{})
		rest.add(problems...)
	}
	var out []Entry
	for _, name := range listNames(t, &rest) {
		out = append(out, r.load(t, connectors, name))
	}
	return out, rest.problems, nil
}

// Names lists the names of the assistants, sorted, without reading their files.
func (r *Root) Names() ([]string, error) {
	t, err := r.tree()
	if err != nil {
		return nil, err
	}
	defer t.root.Close()
	return listNames(t, &reported{}), nil
}

func listNames(t *tree, rest *reported) []string {
	entries, err := t.entries(assistantsDir)
	if err != nil {
		rest.add(convertError(t.abs(assistantsDir), err))
	}
	var out []string
	for _, e := range entries {
		at := path.Join(assistantsDir, e.Name())
		link := e.Type()&fs.ModeSymlink != 0
		switch {
		case isHidden(e.Name()) || !e.IsDir() && !link:
		case !isValidName(e.Name()):
			rest.add(jsonc.Problem{
				File: t.abs(at), Text: fmt.Sprintf("found the name %s, expected letters, digits, '-', '_' and '.', at most 64", jsonc.Clip(e.Name())),
			})
		case len(out) == MaxAssistants:
			rest.add(jsonc.Problem{File: t.abs(at), Text: fmt.Sprintf("not read: there are more than %d assistants", MaxAssistants)})
			return out
		default:
			out = append(out, e.Name())
		}
	}
	return out
}

// Check reads one assistant and returns all its problems. NotFound: no assistant has that name.
func (r *Root) Check(name string) (Entry, error) {
	t, err := r.tree()
	if err != nil {
		return Entry{}, err
	}
	defer t.root.Close()
	if known := listNames(t, &reported{}); !slices.Contains(known, name) {
		err := sandbox.Errorf(sandbox.NotFound, "no assistant %s in %s, expected %s",
			jsonc.Clip(name), jsonc.OneLine(r.dir), formatNames(known, "a directory in "+assistantsDir))
		if near := jsonc.Nearest(name, known); near != "" {
			return Entry{}, err.WithHint("did you mean %q?", near)
		}
		return Entry{}, err
	}
	return r.load(t, findConnectors(t), name), nil
}

// Load reads one assistant. It fails as Check does, and when Check reports errors, which Load joins. Load does not
// check whether the user trusts the assistant: see [Assistant.CheckTrust].
func (r *Root) Load(name string) (*Assistant, error) {
	e, err := r.Check(name)
	if err == nil {
		err = joinErrors(e.Problems)
	}
	if err != nil {
		return nil, err
	}
	return e.Assistant, nil
}

// Connector reads one connector. NotFound: no connector has that ID.
func (r *Root) Connector(id string) (*connector.Connector, error) {
	t, err := r.tree()
	if err != nil {
		return nil, err
	}
	defer t.root.Close()
	found := findConnectors(t)
	if found.byID[id] == "" {
		return nil, found.notFound(id)
	}
	if found.failed[id] {
		return nil, sandbox.Errorf(sandbox.Invalid, "there are two files of the connector %s", id).WithHint("remove one of the two")
	}
	c, problems := found.parse(id, map[string]string{})
	var all reported
	all.add(problems...)
	return c, joinErrors(all.problems)
}

// Connectors lists the IDs of the connectors, sorted, without reading their files.
func (r *Root) Connectors() ([]string, error) {
	t, err := r.tree()
	if err != nil {
		return nil, err
	}
	defer t.root.Close()
	return findConnectors(t).ids(), nil
}

// loading is the state of reading one assistant.
type loading struct {
	reported
	t   *tree
	a   *Assistant
	dir string // slash-separated, below the root
}

func (r *Root) load(t *tree, connectors *places, name string) Entry {
	l := &loading{t: t, dir: path.Join(assistantsDir, name)}
	l.a = &Assistant{Name: name, Label: name, Dir: t.abs(l.dir), root: r, sums: map[string]string{}}
	l.a.Skills = l.skills()
	l.readPackage(connectors)
	l.a.Hooks = l.hooks()
	l.trust()
	return Entry{Assistant: l.a, Problems: l.problems}
}

// readPackage reads the package and the files that it names.
func (l *loading) readPackage(connectors *places) {
	a := l.a
	file, err := l.t.one(l.dir, packageNames()...)
	switch {
	case err != nil:
		l.add(convertError(l.t.abs(l.dir), err))
	case file == "":
		l.failFile(l.dir, "found no package file, expected "+strings.Join(packageNames(), ", ")).Hint = "make package.yao"
	}
	there := l.servers(l.dir)
	a.Prompts, a.Presets = l.prompts(), l.presets()
	if file == "" {
		return
	}
	a.File = l.t.abs(file)
	data, ok := l.read(file, MaxFile)
	if !ok {
		return
	}
	p, box := parsePackage(a.File, data)
	a.Sandbox, a.Description, a.Options, a.Limits = box, p.doc.Description, p.doc.Options, p.doc.Limits
	if p.has("name") {
		a.Label = p.doc.Name
	}
	a.Servers = p.chosen(there, l.t.abs(path.Join(l.dir, serversDir)))
	a.Connector = p.connector(connectors, a.sums)
	p.reasoning(a.Connector)
	l.add(p.sorted()...)
}

func (l *loading) prompts() []message.Message {
	file, err := l.t.one(l.dir, "prompts.yml", "prompts.yaml")
	if err != nil {
		l.add(convertError(l.t.abs(l.dir), err))
	}
	if file == "" {
		return nil
	}
	data, ok := l.read(file, MaxPrompts)
	if !ok {
		return nil
	}
	out, problems := parsePrompts(l.t.abs(file), data)
	l.add(problems...)
	return out
}
