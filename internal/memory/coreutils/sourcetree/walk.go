// Package sourcetree walks a tree of source files: it follows ignore files and knows the types of files, as
// ripgrep and fd do.
package sourcetree

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Walk goes over directories as rg and fd do: without what is hidden or ignored.
type Walk struct {
	p        *shell.Proc
	own      []string // names of ignore files besides
	Hidden   bool
	NoIgnore bool
	NoGit    bool
	Follow   bool
	Depth    int // how far below; -1 for any
	globs    []ignoreRule
	only     bool // there is a glob without !
	Types    *FileTypes
	Failed   bool
	All      bool // report directories too, and include files that the types exclude
}

// File is something that the walk has come to.
type File struct {
	Path     string
	Name     string
	IsDir    bool
	Mode     fs.FileMode
	Depth    int
	Explicit bool // an operand
	Err      error
}

// NewWalk returns a walk of any depth. own are names of ignore files to follow besides .gitignore and .ignore.
func NewWalk(p *shell.Proc, own ...string) *Walk {
	return &Walk{p: p, own: own, Depth: -1}
}

// AddGlob takes a glob, with ! before it one of what is left out.
func (w *Walk) AddGlob(text string, fold bool) {
	r, ok := parseIgnoreRule(text)
	if !ok {
		return
	}
	r.fold = fold
	w.only = w.only || !r.negated
	w.globs = append(w.globs, r)
}

// Run calls fn for what is found below an operand; fn returns false to stop. bare leaves out the "./" that
// paths would begin with.
func (w *Walk) Run(root string, bare bool, fn func(File) bool) error {
	info, err := w.p.Stat(root)
	if err != nil {
		fn(File{Path: root, Err: err, Explicit: true})
		return nil //nolint:nilerr // fn has been told.
	}
	if !info.IsDir() {
		fn(File{Path: root, Name: root[strings.LastIndexByte(root, '/')+1:], Mode: info.Mode, Explicit: true})
		return nil
	}
	rules := ignoreFiles{own: w.NoGit}
	abs, err := w.p.Realpath(root)
	if err != nil {
		return err
	}
	if !w.NoIgnore {
		rules = rules.above(w.p, abs, w.own...)
	}
	prefix := root
	switch {
	case bare:
		prefix = ""
	case !strings.HasSuffix(prefix, "/"):
		prefix += "/"
	}
	_, err = w.walkDirectory(directory{path: root, prefix: prefix, abs: abs, rules: rules, depth: 1, above: []uint64{info.Ino}}, fn)
	return err
}

// directory is one that the walk enters.
type directory struct {
	path   string
	prefix string // of the paths of its entries
	abs    string
	rules  ignoreFiles // of the directories above
	depth  int         // of its entries
	above  []uint64    // inode numbers of the directories around, against circles of links
}

// walkDirectory walks one directory; goOn is what fn has returned last.
func (w *Walk) walkDirectory(d directory, fn func(File) bool) (goOn bool, err error) {
	if w.Depth >= 0 && d.depth > w.Depth {
		return true, nil
	}
	entries, err := w.p.ReadDir(d.path)
	if err != nil {
		return fn(File{Path: d.path, Err: err}), nil //nolint:nilerr // fn has been told.
	}
	rules := d.rules
	if !w.NoIgnore {
		rules = rules.enter(w.p, d.abs, w.own...)
	}
	for _, e := range entries {
		if err := w.p.Spend(1); err != nil {
			return false, err
		}
		f := File{Path: d.prefix + e.Name, Name: e.Name, Mode: e.Mode, Depth: d.depth}
		ino := e.Ino
		if e.Mode&fs.ModeSymlink != 0 && w.Follow {
			if info, err := w.p.Stat(f.Path); err == nil {
				f.Mode, ino = info.Mode, info.Ino
			}
		}
		f.IsDir = f.Mode.IsDir()
		full := strings.TrimSuffix(d.abs, "/") + "/" + e.Name
		if w.skips(f, full, rules) {
			continue
		}
		if !f.IsDir {
			if (w.All || f.Mode.IsRegular()) && !fn(f) {
				return false, nil
			}
			continue
		}
		if w.All && !fn(f) {
			return false, nil
		}
		if slices.Contains(d.above, ino) {
			continue
		}
		below := directory{path: f.Path, prefix: f.Path + "/", abs: full, rules: rules, depth: d.depth + 1, above: append(slices.Clip(d.above), ino)}
		goOn, err := w.walkDirectory(below, fn)
		if err != nil || !goOn {
			return false, err
		}
	}
	return true, nil
}

// skips reports whether an entry is left out.
func (w *Walk) skips(f File, full string, rules ignoreFiles) bool {
	rel := f.Path
	for i := len(w.globs) - 1; i >= 0; i-- {
		if r := &w.globs[i]; r.matches(strings.TrimPrefix(rel, "./"), f.IsDir) {
			if r.negated {
				return true
			}
			return !f.IsDir && w.Types != nil && w.Types.skips(f.Name)
		}
	}
	if w.only && !f.IsDir {
		return true
	}
	skip, wanted := false, false
	if !w.NoIgnore {
		if skip, wanted = rules.skips(full, f.IsDir); skip {
			return true
		}
	}
	if !w.Hidden && !wanted && strings.HasPrefix(f.Name, ".") {
		return true
	}
	return !f.IsDir && w.Types != nil && w.Types.skips(f.Name)
}
