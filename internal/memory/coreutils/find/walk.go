package find

import (
	"io/fs"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// findEntry is a file that find looks at.
type findEntry struct {
	finder *finder
	path   string
	start  string // the path that the walk began with
	depth  int
	mode   fs.FileMode // its type
	info   vfs.Info    // see stat
	known  bool
	gone   bool
	pruned bool
}

// name is the last element of the path.
func (e *findEntry) name() string {
	trimmed := strings.TrimRight(e.path, "/")
	if trimmed == "" && e.path != "" {
		return "/"
	}
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}

// stat fills in info; it returns false after a message when that cannot be done.
func (e *findEntry) stat() bool {
	if e.known || e.gone {
		return e.known
	}
	info, err := e.finder.look(e.path, e.depth)
	if err != nil {
		e.gone = true
		e.finder.fail(e.path, err)
		return false
	}
	e.info, e.mode, e.known = info, info.Mode, true
	return true
}

// look is stat or lstat, as links are followed.
func (f *finder) look(path string, depth int) (vfs.Info, error) {
	if f.follow == 'L' || f.follow == 'H' && depth == 0 {
		info, err := f.proc.Stat(path)
		if no := shell.Errno(err); err == nil || no != syscall.ENOENT && no != syscall.ENOTDIR {
			return info, err
		}
		// find examines a broken link itself.
	}
	return f.proc.Lstat(path)
}

// walk visits everything below the paths.
func (f *finder) walk(paths []string) {
	for _, path := range paths {
		if f.quit || f.err != nil {
			return
		}
		if f.err = f.proc.Spend(2); f.err != nil {
			return
		}
		info, err := f.look(path, 0)
		if err != nil {
			f.fail(path, err)
			continue
		}
		e := &findEntry{finder: f, path: path, start: path, mode: info.Mode, info: info, known: true}
		f.visit(e, nil)
	}
}

// visit examines an entry and its descendants.
func (f *finder) visit(e *findEntry, above *pathname.Chain) {
	if err := f.proc.Spend(2); err != nil {
		f.err = err
		return
	}
	if f.out.HasFailed() {
		f.quit = true
		return
	}
	dir := e.mode.IsDir()
	if e.mode&fs.ModeSymlink != 0 && f.follow == 'L' && !e.known {
		if !e.stat() {
			return
		}
		dir = e.mode.IsDir()
	}
	if dir && f.follow != 'P' {
		if !e.stat() {
			return
		}
		if f.circle(e, above) {
			return
		}
	}
	if !f.depthFirst && e.depth >= f.minDepth {
		f.test(e)
	}
	if dir && !f.quit && f.err == nil && (!e.pruned || f.depthFirst) && (f.maxDepth < 0 || e.depth < f.maxDepth) {
		f.descend(e, above)
	}
	if f.depthFirst && !f.quit && f.err == nil && e.depth >= f.minDepth {
		f.test(e)
	}
}

// circle reports a link that leads to one of the directories that contain it.
func (f *finder) circle(e *findEntry, above *pathname.Chain) bool {
	if !above.Has(e.info.Ino) {
		return false
	}
	around := e.path
	for c := above; c != nil; c = c.Next {
		around = around[:max(0, strings.LastIndexByte(around, '/'))]
		if c.Ino == e.info.Ino {
			break
		}
	}
	f.proc.Warn("File system loop detected; %s is part of the same file system loop as %s.", quoting.Name(e.path), quoting.Name(around))
	f.status = 1
	return true
}

func (f *finder) descend(e *findEntry, above *pathname.Chain) {
	entries, err := f.proc.ReadDir(e.path)
	if err != nil {
		f.fail(e.path, err)
		return
	}
	here := above
	if f.follow != 'P' {
		here = &pathname.Chain{Ino: e.info.Ino, Next: above}
	}
	for _, entry := range entries {
		if f.quit || f.err != nil {
			return
		}
		f.visit(&findEntry{
			finder: f, path: pathname.Join(e.path, entry.Name), start: e.start, depth: e.depth + 1, mode: entry.Mode,
		}, here)
	}
}
