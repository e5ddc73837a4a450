package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Limits of the kernel: path_resolution(7), limits.h.
const (
	maxPath  = 4095 // PATH_MAX without the final NUL
	maxLinks = 40   // symbolic links followed in one look-up
)

// place is where a path leads to on the host.
type place struct {
	path    string   // clean and absolute; resolved as far as it exists
	exists  bool     // whether something is there
	dir     bool     // whether that is a directory
	links   []string // symbolic links that were passed on the way, where they stand
	blocked string   // the directory that we may not search, when that ended the way
}

// lookups remembers what stands at a path while one policy is resolved: hundreds
// of paths share their directories, and one answer keeps the plan consistent. A
// nil lookups remembers nothing.
type lookups map[string]lookup

// lookup is what stands at one path.
type lookup struct {
	kind   uint32 // S_IFMT part of the mode
	target string // of a symbolic link
	err    error
}

func (l lookups) lstat(path string) lookup {
	if got, ok := l[path]; ok {
		return got
	}
	var st syscall.Stat_t
	var got lookup
	if got.err = syscall.Lstat(path, &st); got.err == nil {
		got.kind = uint32(st.Mode) & syscall.S_IFMT //nolint:unconvert // 16 bits elsewhere
	}
	if got.kind == syscall.S_IFLNK {
		got.target, got.err = os.Readlink(path)
	}
	if l != nil {
		l[path] = got
	}
	return got
}

// locate resolves a path without remembering.
func locate(path string) (place, error) { return lookups(nil).locate(path) }

// locate resolves an absolute path as the kernel would: link by link, with ".."
// taken after links, not before. What is missing is no error; a loop of links, a
// component that is too long and a disk error are.
func (l lookups) locate(path string) (place, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return place{}, errors.New("the path holds a NUL byte")
	}
	if len(path) > maxPath {
		return place{}, syscall.ENAMETOOLONG
	}
	return l.below("/", path)
}

// below is locate for a path relative to root, a directory that is known to
// be resolved: it saves a look-up of every component of root.
func (l lookups) below(root, path string) (place, error) {
	at := place{path: root, exists: true, dir: true}
	rest := split(path)
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			if !at.dir {
				return place{}, syscall.ENOTDIR
			}
			at.path = filepath.Dir(at.path)
			continue
		}
		next, err := at.step(l, name)
		if err != nil {
			return place{}, err
		}
		if next == nil {
			at.path, at.exists, at.dir = filepath.Join(append([]string{at.path, name}, rest...)...), false, false
			return at, nil
		}
		if len(at.links) > maxLinks {
			return place{}, syscall.ELOOP
		}
		rest = append(next, rest...)
	}
	return at, nil
}

// step enters name. It returns the components that a link adds to the way (none
// for anything else), or nil when there is nothing of that name.
func (at *place) step(l lookups, name string) ([]string, error) {
	full := join(at.path, name)
	found := l.lstat(full)
	switch {
	case errors.Is(found.err, fs.ErrPermission):
		at.blocked = at.path
		return nil, nil
	case errors.Is(found.err, fs.ErrNotExist), errors.Is(found.err, syscall.ENOTDIR):
		return nil, nil
	case found.err != nil:
		return nil, found.err
	case found.kind != syscall.S_IFLNK:
		at.path, at.dir = full, found.kind == syscall.S_IFDIR
		return []string{}, nil
	}
	at.links = append(at.links, full)
	if filepath.IsAbs(found.target) {
		at.path = "/"
	}
	at.dir = true
	return append([]string{}, split(found.target)...), nil
}

// join adds one component to a clean path.
func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// split returns the components of a path without empty ones and ".".
func split(path string) []string {
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			out = append(out, part)
		}
	}
	return out
}

// within reports whether path is root or lies below it. Both are clean.
func within(path, root string) bool {
	return path == root || root == "/" || strings.HasPrefix(path, root) && path[len(root)] == '/'
}

// depth counts the components of a clean absolute path.
func depth(path string) int {
	if path == "/" {
		return 0
	}
	return strings.Count(path, "/")
}

// reserved is what the driver builds itself; a rule there would be lost or, worse,
// undo what it builds.
var reserved = []string{"/run", "/dev", "/proc", "/sys"}

// reservedRoot returns the reserved directory that path is or lies below, or "".
func reservedRoot(path string) string {
	for _, root := range reserved {
		if within(path, root) {
			return root
		}
	}
	return ""
}

// anchor makes a written path absolute: ~ is home, anything relative starts at dir.
func anchor(written, home, dir string) (string, error) {
	switch {
	case written == "":
		return "", errors.New("the path is empty")
	case written == "~" || strings.HasPrefix(written, "~/"):
		if home == "" {
			return "", errors.New("~ has no meaning without a home directory")
		}
		return home + written[1:], nil
	case strings.HasPrefix(written, "/"):
		return written, nil
	case dir == "":
		return "", errors.New("a relative path needs a workspace or a start directory")
	}
	return dir + "/" + written, nil
}

// directory resolves a directory that the Spec names and that must exist.
func directory(what, path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", sandbox.Errorf(sandbox.Invalid, "%s %q is not an absolute path", what, path)
	}
	at, err := locate(path)
	switch {
	case err != nil:
		return "", sandbox.Errorf(sandbox.Invalid, "%s %q: %w", what, path, err)
	case at.blocked != "":
		return "", sandbox.Errorf(sandbox.Denied, "%s %q: permission denied in %s", what, path, at.blocked)
	case !at.exists:
		return "", sandbox.Errorf(sandbox.NotFound, "%s %q does not exist", what, path)
	case !at.dir:
		return "", sandbox.Errorf(sandbox.Invalid, "%s %q is not a directory", what, path)
	}
	return at.path, nil
}
