// Package hostpath resolves written paths against the host as the kernel would: link by link, with what is missing and
// what may not be searched as results, not errors. All paths that it returns are absolute and clean.
package hostpath

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// Limits of the kernel: path_resolution(7), limits.h.
const (
	maxPath  = 4095 // PATH_MAX without the final NUL
	maxName  = 255  // NAME_MAX
	maxLinks = 40   // symbolic links followed in one look-up
)

// Place is the location on the host that a path resolves to.
type Place struct {
	Path    string   // clean and absolute; resolved as far as it exists
	Exists  bool     // whether a file of any type exists there
	Dir     bool     // whether that is a directory
	Links   []string // the paths of the symbolic links that were followed
	Blocked string   // the directory that this process may not search, where the resolution ended; empty: none
}

// Lookups caches the entries at paths while one policy is resolved: hundreds of paths share their directories, and one answer
// keeps the plan consistent. A nil Lookups caches nothing.
type Lookups struct {
	seen map[string]lookup
	dirs map[string]*listing // by directory
}

// NewLookups returns an empty cache.
func NewLookups() *Lookups {
	const usual = 200 // paths that the default policy asks for
	return &Lookups{seen: make(map[string]lookup, usual), dirs: map[string]*listing{}}
}

// lookup describes the entry at one path.
type lookup struct {
	kind   uint32 // S_IFMT part of the mode
	target string // of a symbolic link
	err    error
}

// lstat describes the entry at path, whose name in the directory dir is name.
func (l *Lookups) lstat(path, dir, name string) lookup {
	if l == nil {
		return lstat(path)
	}
	got, ok := l.seen[path]
	switch {
	case ok:
		return got
	case l.isMissing(dir, name):
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

// listing holds the names of a directory. It is made after several look-ups in that directory: it costs as
// much as a few look-ups, and most protected names do not exist.
type listing struct {
	asked int
	names map[string]bool // in lower case; nil: not listed
}

const (
	listAfter  = 6   // look-ups in a directory before it is listed
	maxListing = 512 // entries; a larger directory costs more than the look-ups
)

// isMissing reports whether dir certainly has no entry that name could stand for, also on a
// file system that ignores case.
func (l *Lookups) isMissing(dir, name string) bool {
	c := l.dirs[dir]
	if c == nil {
		c = &listing{}
		l.dirs[dir] = c
	}
	if c.asked++; c.asked == listAfter {
		c.names = listNames(dir)
	}
	return c.names != nil && len(name) <= maxName && isASCII(name) && !c.names[strings.ToLower(name)]
}

// listNames returns the names in dir in lower case; nil when it has too many or cannot be listed, or when a name is
// not ASCII, because some file systems treat different Unicode names as equal.
func listNames(dir string) map[string]bool {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.Readdirnames(maxListing)
	if len(entries) == maxListing || err != nil && !errors.Is(err, io.EOF) {
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

// Locate is [Lookups.Locate] without a cache.
func Locate(path string) (Place, error) { return (*Lookups)(nil).Locate(path) }

// Locate resolves an absolute path as the kernel would: link by link, with ".."
// taken after links, not before. A missing file gives no error; a loop of links, a
// component that is too long and a disk error do.
func (l *Lookups) Locate(path string) (Place, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return Place{}, errors.New("the path holds a NUL byte")
	}
	if len(path) > maxPath {
		return Place{}, syscall.ENAMETOOLONG
	}
	return l.Below("/", path)
}

// Below is Locate for a path relative to root, a resolved directory: it saves a look-up of
// every component of root.
func (l *Lookups) Below(root, path string) (Place, error) {
	at := Place{Path: root, Exists: true, Dir: true}
	whole := wholePath(root, path)
	name, rest := component(path)
	for ; name != ""; name, rest = component(rest) {
		if name == ".." {
			if !at.Dir {
				return Place{}, syscall.ENOTDIR
			}
			at.Path, whole = filepath.Dir(at.Path), ""
			continue
		}
		full := strings.TrimSuffix(whole, rest)
		if whole == "" {
			full = Join(at.Path, name)
		}
		found := l.lstat(full, at.Path, name)
		switch {
		case errors.Is(found.err, fs.ErrPermission), errors.Is(found.err, fs.ErrNotExist), errors.Is(found.err, syscall.ENOTDIR):
			if errors.Is(found.err, fs.ErrPermission) {
				at.Blocked = at.Path
			}
			at.Path, at.Exists, at.Dir = whole, false, false
			if whole == "" {
				at.Path = filepath.Join(full, rest)
			}
			return at, nil
		case found.err != nil:
			return Place{}, found.err
		case found.kind != syscall.S_IFLNK:
			at.Path, at.Dir = full, found.kind == syscall.S_IFDIR
			continue
		}
		if at.Links = append(at.Links, full); len(at.Links) > maxLinks {
			return Place{}, syscall.ELOOP
		}
		if filepath.IsAbs(found.target) {
			at.Path = "/"
		}
		at.Dir, whole, rest = true, "", found.target+"/"+rest
	}
	return at, nil
}

// wholePath joins root and a clean path. The path of each component is then a part of that string and needs no allocation of its
// own. It returns "" for a path that is not clean.
func wholePath(root, path string) string {
	switch {
	case path == "" || filepath.Clean(path) != path:
		return ""
	case path[0] != '/':
		return Join(root, path)
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

// Parent returns the directory that a clean absolute path lies in; "/" for itself.
func Parent(path string) string { return path[:max(1, strings.LastIndexByte(path, '/'))] }

// Join adds one component to a clean path.
func Join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// Split returns the components of a path without empty ones and ".".
func Split(path string) []string {
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		if part != "" && part != "." {
			out = append(out, part)
		}
	}
	return out
}

// IsWithin reports whether path is root or lies below it. Both are clean.
func IsWithin(path, root string) bool {
	return path == root || root == "/" || strings.HasPrefix(path, root) && path[len(root)] == '/'
}

// Depth counts the components of a clean absolute path.
func Depth(path string) int {
	if path == "/" {
		return 0
	}
	return strings.Count(path, "/")
}

// reserved are the directories that a driver builds itself: a rule there would have no effect or, worse,
// undo what the driver builds.
var reserved = []string{"/run", "/dev", "/proc", "/sys"}

// ReservedRoot returns the reserved directory that path is or lies below, or "".
func ReservedRoot(path string) string {
	for _, root := range reserved {
		if IsWithin(path, root) {
			return root
		}
	}
	return ""
}

// Anchor makes a written path absolute: ~ is home, anything relative starts at dir.
func Anchor(written, home, dir string) (string, error) {
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
