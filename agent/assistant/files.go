package assistant

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The bounds on the files of an assistant. A file or a count above its bound is refused.
const (
	MaxFile       = jsonc.MaxFile // bytes of a package, a connector, a server or a script
	MaxPrompts    = 128 << 10     // bytes of prompts, whose parser takes quadratic time for some
	MaxAssistants = 500           // of a root
	MaxConnectors = 500           // of a root
	MaxServers    = 64            // of an assistant
	MaxPresets    = 64            // of an assistant
	maxEntries    = 10_000        // of a directory
	maxDepth      = 6             // of connectors
	maxDirs       = 500           // of connectors
)

// tree is an open root. It opens nothing outside the root, even through symbolic links.
type tree struct {
	root *os.Root
	dir  string // absolute
}

// abs returns the absolute name of a file, for messages.
func (t *tree) abs(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

// open opens a regular file.
func (t *tree) open(name string) (*os.File, fs.FileInfo, error) {
	// A pipe without a writer would block the open.
	f, err := t.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, t.fileError(name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("found a directory or a special file, expected a regular file")
	}
	if err != nil {
		return nil, nil, errors.Join(t.fileError(name, err), f.Close())
	}
	return f, info, nil
}

// read reads a regular file of at most limit bytes.
func (t *tree) read(name string, limit int64) ([]byte, error) {
	f, _, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("found more than %s, expected a smaller file", sandbox.Bytes(limit))
	}
	if err != nil {
		return nil, t.fileError(name, err)
	}
	return data, nil
}

// fileError returns a file error in the form of a problem.
func (t *tree) fileError(name string, err error) error {
	p := jsonc.Problem{File: t.abs(name)}
	code := sandbox.Invalid
	at, isPath := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, p.Text = sandbox.NotFound, "no such file"
	case errors.Is(err, fs.ErrPermission):
		code, p.Text = sandbox.Denied, "permission denied"
	case isPath:
		p.Text = at.Err.Error()
	default:
		p.Text = err.Error()
	}
	if p.Text == "path escapes from parent" { // the text of the error of os.Root, which exports no value for it
		code, p.Text = sandbox.Denied, "found a symbolic link that leads out of "+jsonc.OneLine(t.dir)
	}
	e := p.Err()
	e.Code = code
	return e
}

// entries lists a directory, sorted by name. A missing directory is empty.
func (t *tree) entries(name string) ([]fs.DirEntry, error) {
	f, err := t.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := t.root.Lstat(filepath.FromSlash(name)); lerr != nil {
			return nil, nil
		}
		err = errors.New("found a symbolic link to nothing, expected a directory")
	}
	if err != nil {
		return nil, t.fileError(name, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, t.fileError(name, err)
	}
	if len(entries) > maxEntries {
		return nil, t.fileError(name, fmt.Errorf("found more than %d entries, expected fewer", maxEntries))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// hasEntry reports whether an entry of that name exists, including a broken link.
func (t *tree) hasEntry(name string) bool {
	_, err := t.root.Lstat(filepath.FromSlash(name))
	return err == nil
}

// one returns the existing one of the names in dir, "" if none exists, and an error if several exist.
func (t *tree) one(dir string, names ...string) (string, error) {
	var found []string
	for _, name := range names {
		if t.hasEntry(path.Join(dir, name)) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return path.Join(dir, found[0]), nil
	}
	p := jsonc.Problem{
		File: t.abs(path.Join(dir, found[0])), Text: "found " + found[1] + " beside it, expected one of them", Hint: "remove one of the two",
	}
	return "", p.Err()
}

// The suffixes of a JSON file with comments.
var forms = []string{"yao", "jsonc", "json"}

// packageNames returns the possible names of a package file.
func packageNames() []string {
	var out []string
	for _, form := range forms {
		out = append(out, "package."+form)
	}
	return out
}

// cutForm removes ".KIND.FORM" from the name of a file. ofKind reports whether the file has that kind, ok
// whether the form is known.
func cutForm(name, kind string) (id string, ofKind, ok bool) {
	i := strings.LastIndex(name, "."+kind+".")
	if i < 0 {
		return "", false, false
	}
	return name[:i], true, slices.Contains(forms, name[i+len(kind)+2:])
}

// isValidName reports whether a text can be the name of an assistant or a preset, or a part of a
// connector's ID.
func isValidName(s string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return s != "" && len(s) <= 64 && strings.Trim(s, plain) == "" && !strings.ContainsRune("-.", rune(s[0]))
}

// isHidden reports whether an entry is hidden, and so not part of an assistant.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }
