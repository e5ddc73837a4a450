package skill

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Tree is an open directory of a skill. It reaches no file outside the directory, even if a
// symbolic link or a concurrent rename leads there.
type Tree struct {
	// Check checks the content of a file before it is used; reading returns its error. Set it
	// before the first read. nil: no check.
	Check func(data []byte) error

	root *os.Root
	path string // absolute, for messages
}

// openGiven opens a directory that the user named, and follows links in its path. A SKILL.md
// stands for its directory.
func openGiven(dir string) (*Tree, *Problem) {
	at := reader{file: dir}
	fail := func(format string, args ...any) *Problem {
		p := at.fail(0, "", format, args...)
		return &p
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail("path does not exist: %s", dir)
	case err != nil:
		return nil, fail("cannot be read: %v", trimFileError(err))
	case info.Mode().IsRegular() && slices.Contains(manifests, filepath.Base(dir)):
		dir = filepath.Dir(dir)
	case !info.IsDir():
		return nil, fail("not a directory: %s", dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fail("cannot be read: %v", trimFileError(err))
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fail("cannot be read: %v", trimFileError(err))
	}
	return &Tree{root: root, path: abs}, nil
}

// openBelow opens a directory below base without leaving it.
func openBelow(base, name string) (*Tree, error) {
	outer, err := os.OpenRoot(base)
	if err != nil {
		return nil, notFound("cannot open %s: %w", base, trimFileError(err))
	}
	defer outer.Close()
	root, err := outer.OpenRoot(name)
	if err != nil {
		return nil, notFound("cannot open %s: %w", filepath.Join(base, name), trimFileError(err))
	}
	return &Tree{root: root, path: filepath.Join(base, name)}, nil
}

// Close closes the directory.
func (t *Tree) Close() error { return t.root.Close() }

// FS returns the directory as a file system, for copying. It opens every entry, including pipes
// and devices: check the type first.
func (t *Tree) FS() fs.FS { return t.root.FS() }

func (t *Tree) name() string { return filepath.Base(t.path) }

// manifests are the names of a skill's main file, in order of preference.
var manifests = []string{"SKILL.md", "skill.md"}

// manifest reads the SKILL.md and returns its name, and its text with Unix line ends.
func (t *Tree) manifest() (name, text string, err error) {
	for _, name := range manifests {
		if _, err := t.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data, err := t.read(name, MaxFile)
		if err != nil {
			return name, "", err
		}
		if !utf8.Valid(data) {
			return name, "", sandbox.Errorf(sandbox.Invalid, "%s is not UTF-8", name)
		}
		text := strings.ReplaceAll(string(data), "\r\n", "\n")
		return name, strings.ReplaceAll(text, "\r", "\n"), nil
	}
	return "", "", notFound("missing required file: SKILL.md")
}

// ReadResource reads a file of the skill by its slash-separated path below the skill's
// directory. Denied: the path leads out of it. Invalid: the file is not a regular file.
// Exhausted: it has more than MaxResource bytes.
func (t *Tree) ReadResource(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, sandbox.Errorf(sandbox.Denied, "%q is not a path inside the skill", cutText(name, MaxDescription)).
			WithHint("name it relative to the skill's directory, without ..")
	}
	return t.read(filepath.FromSlash(name), MaxResource)
}

// read reads a regular file of at most limit bytes.
func (t *Tree) read(name string, limit int64) ([]byte, error) {
	// A pipe without a writer would block the open.
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, notFound("%s does not exist", name)
	case err != nil:
		return nil, sandbox.Errorf(sandbox.Denied, "%s cannot be read: %w", name, trimFileError(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Denied, "%s cannot be read: %w", name, trimFileError(err))
	}
	if !info.Mode().IsRegular() {
		return nil, sandbox.Errorf(sandbox.Invalid, "%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Denied, "%s cannot be read: %w", name, trimFileError(err))
	}
	if int64(len(data)) > limit {
		return nil, sandbox.Errorf(sandbox.Exhausted, "%s has more than %d bytes", name, limit)
	}
	if t.Check != nil {
		if err := t.Check(data); err != nil {
			return nil, sandbox.Errorf(sandbox.CodeOf(err), "%s: %w", name, err)
		}
	}
	return data, nil
}

// Resources lists the regular files of the skill except its SKILL.md, by their slash-separated
// paths, sorted. whole reports that no bound left files out.
func (t *Tree) Resources() (names []string, whole bool) {
	w := walk{root: t.root, whole: true}
	w.visit(".", 0, func(name string, e fs.DirEntry) bool {
		top := path.Dir(name) == "." && slices.Contains(manifests, name)
		if !e.Type().IsRegular() || top {
			return true
		}
		if len(names) == MaxResources {
			w.whole = false
			return false
		}
		names = append(names, name)
		return true
	})
	slices.Sort(names)
	return names, w.whole
}

// walk visits a directory within the bounds. It follows no symbolic links.
type walk struct {
	root  *os.Root
	dirs  int
	whole bool // no file was left out so far
}

// visit calls each for the entries below dir, sorted by name, until each returns false.
func (w *walk) visit(dir string, depth int, each func(name string, e fs.DirEntry) bool) bool {
	entries, ok := w.entries(dir)
	w.whole = w.whole && ok
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() && !isSkipped(e.Name()) {
			if depth >= MaxDepth || w.dirs >= MaxDirs {
				w.whole = false
				continue
			}
			if !w.visit(name, depth+1, each) {
				return false
			}
		} else if !each(name, e) {
			return false
		}
	}
	return true
}

// entries reads a directory. whole is false if it has more than MaxEntries or cannot be read.
func (w *walk) entries(dir string) (entries []fs.DirEntry, whole bool) {
	w.dirs++
	f, err := w.root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	entries, err = f.ReadDir(MaxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	whole = len(entries) <= MaxEntries
	entries = entries[:min(len(entries), MaxEntries)]
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, whole
}

// isSkipped reports whether a directory of that name contains no skills and may be huge.
func isSkipped(name string) bool { return name == ".git" || name == "node_modules" }

// trimFileError removes the operation and the path from a file error; messages name the path already.
func trimFileError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
