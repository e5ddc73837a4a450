package policy

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Limits of the kernel: path_resolution(7), limits.h.
const (
	maxPath  = 4095 // PATH_MAX without the final NUL
	maxName  = 255  // NAME_MAX
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
type lookups struct {
	seen map[string]lookup
	dirs map[string]*census // by directory
}

func newLookups() *lookups {
	const usual = 200 // paths that the default policy asks for
	return &lookups{seen: make(map[string]lookup, usual), dirs: map[string]*census{}}
}

// lookup is what stands at one path.
type lookup struct {
	kind   uint32 // S_IFMT part of the mode
	target string // of a symbolic link
	err    error
}

// lstat returns what stands at path, which is called name in dir.
func (l *lookups) lstat(path, dir, name string) lookup {
	if l == nil {
		return lstat(path)
	}
	got, ok := l.seen[path]
	switch {
	case ok:
		return got
	case l.lacks(dir, name):
		return lookup{err: syscall.ENOENT}
	}
	got = lstat(path)
	l.seen[path] = got
	return got
}

func lstat(path string) lookup {
	var st syscall.Stat_t
	var got lookup
	if got.err = syscall.Lstat(path, &st); got.err == nil {
		got.kind = uint32(st.Mode) & syscall.S_IFMT //nolint:unconvert // 16 bits elsewhere
	}
	if got.kind == syscall.S_IFLNK {
		got.target, got.err = os.Readlink(path)
	}
	return got
}

// census is what a directory holds, listed when it is asked often: a listing costs as
// much as a few look-ups, and most of what is protected does not exist.
type census struct {
	asked int
	names map[string]bool // in lower case; nil: not listed
}

// crowd is from how many look-ups on a directory is listed, and big how many entries
// make that not worth it.
const crowd, big = 6, 512

// lacks reports whether dir certainly has no entry that name could stand for, on a
// file system that ignores case neither.
func (l *lookups) lacks(dir, name string) bool {
	c := l.dirs[dir]
	if c == nil {
		c = &census{}
		l.dirs[dir] = c
	}
	if c.asked++; c.asked == crowd {
		c.names = listNames(dir)
	}
	return c.names != nil && len(name) <= maxName && isASCII(name) && !c.names[strings.ToLower(name)]
}

// listNames returns nil for what is not worth listing or cannot be, and where a name is
// not ASCII, which some file systems take for others.
func listNames(dir string) map[string]bool {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.Readdirnames(big)
	if len(entries) == big || err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		if !isASCII(e) {
			return nil
		}
		names[strings.ToLower(e)] = true
	}
	return names
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// locate resolves a path without remembering.
func locate(path string) (place, error) { return (*lookups)(nil).locate(path) }

// locate resolves an absolute path as the kernel would: link by link, with ".."
// taken after links, not before. What is missing is no error; a loop of links, a
// component that is too long and a disk error are.
func (l *lookups) locate(path string) (place, error) {
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
func (l *lookups) below(root, path string) (place, error) {
	at := place{path: root, exists: true, dir: true}
	whole := wholePath(root, path)
	name, rest := component(path)
	for ; name != ""; name, rest = component(rest) {
		if name == ".." {
			if !at.dir {
				return place{}, syscall.ENOTDIR
			}
			at.path, whole = filepath.Dir(at.path), ""
			continue
		}
		full := strings.TrimSuffix(whole, rest)
		if whole == "" {
			full = join(at.path, name)
		}
		found := l.lstat(full, at.path, name)
		switch {
		case errors.Is(found.err, fs.ErrPermission), errors.Is(found.err, fs.ErrNotExist), errors.Is(found.err, syscall.ENOTDIR):
			if errors.Is(found.err, fs.ErrPermission) {
				at.blocked = at.path
			}
			at.path, at.exists, at.dir = whole, false, false
			if whole == "" {
				at.path = filepath.Join(full, rest)
			}
			return at, nil
		case found.err != nil:
			return place{}, found.err
		case found.kind != syscall.S_IFLNK:
			at.path, at.dir = full, found.kind == syscall.S_IFDIR
			continue
		}
		if at.links = append(at.links, full); len(at.links) > maxLinks {
			return place{}, syscall.ELOOP
		}
		if filepath.IsAbs(found.target) {
			at.path = "/"
		}
		at.dir, whole, rest = true, "", found.target+"/"+rest
	}
	return at, nil
}

// wholePath is path below root when nothing has to be resolved, so that what stands at each of its components has a path
// that is a part of it, and needs no memory of its own; "" when it is not written like that.
func wholePath(root, path string) string {
	switch {
	case path == "" || filepath.Clean(path) != path:
		return ""
	case path[0] != '/':
		return join(root, path)
	case root == "/":
		return path
	}
	return ""
}

// component returns the first component of a path that is neither empty nor ".", and what follows it; "" when there is none.
func component(path string) (name, rest string) {
	for {
		path = strings.TrimLeft(path, "/")
		end := strings.IndexByte(path, '/')
		if end < 0 {
			end = len(path)
		}
		name, rest = path[:end], path[end:]
		if name != "." {
			return name, rest
		}
		path = rest
	}
}

// parentOf returns the directory that a clean absolute path lies in; "/" for itself.
func parentOf(path string) string { return path[:max(1, strings.LastIndexByte(path, '/'))] }

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
