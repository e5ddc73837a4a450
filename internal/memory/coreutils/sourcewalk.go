package coreutils

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// sourceWalk goes over directories as rg and fd do: without what is hidden or ignored.
type sourceWalk struct {
	p        *shell.Proc
	own      []string // names of ignore files besides
	hidden   bool
	noIgnore bool
	noGit    bool
	follow   bool
	depth    int // how far below; -1 for any
	globs    []ignoreRule
	only     bool // some glob says what to take
	types    *fileTypes
	failed   bool
	all      bool // tell directories too, and take what types leave out
}

// sourceFile is something that the walk has come to.
type sourceFile struct {
	path     string
	name     string
	isDir    bool
	mode     fs.FileMode
	depth    int
	explicit bool // an operand
	err      error
}

func newSourceWalk(p *shell.Proc, own ...string) *sourceWalk {
	return &sourceWalk{p: p, own: own, depth: -1}
}

// addGlob takes a glob, with ! before it one of what is left out.
func (w *sourceWalk) addGlob(text string, fold bool) {
	r, ok := parseIgnoreRule(text)
	if !ok {
		return
	}
	r.fold = fold
	w.only = w.only || !r.negated
	w.globs = append(w.globs, r)
}

// run calls fn for what is found below an operand; fn returns false to stop. bare leaves out the "./" that
// paths would begin with.
func (w *sourceWalk) run(root string, bare bool, fn func(sourceFile) bool) error {
	info, err := w.p.Stat(root)
	if err != nil {
		fn(sourceFile{path: root, err: err, explicit: true})
		return nil //nolint:nilerr // fn has been told.
	}
	if !info.IsDir() {
		fn(sourceFile{path: root, name: root[strings.LastIndexByte(root, '/')+1:], mode: info.Mode, explicit: true})
		return nil
	}
	rules := ignoreFiles{own: w.noGit}
	abs, err := w.p.Realpath(root)
	if err != nil {
		return err
	}
	if !w.noIgnore {
		rules = rules.above(w.p, abs, w.own...)
	}
	prefix := root
	switch {
	case bare:
		prefix = ""
	case !strings.HasSuffix(prefix, "/"):
		prefix += "/"
	}
	_, err = w.directory(root, prefix, abs, rules, 1, []uint64{info.Ino}, fn)
	return err
}

// directory walks one directory; goOn is what fn has said last.
func (w *sourceWalk) directory(dir, prefix, abs string, rules ignoreFiles, depth int, above []uint64, fn func(sourceFile) bool) (goOn bool, err error) {
	if w.depth >= 0 && depth > w.depth {
		return true, nil
	}
	entries, err := w.p.ReadDir(dir)
	if err != nil {
		return fn(sourceFile{path: dir, err: err}), nil //nolint:nilerr // fn has been told.
	}
	if !w.noIgnore {
		rules = rules.enter(w.p, abs, w.own...)
	}
	for _, e := range entries {
		if err := w.p.Spend(1); err != nil {
			return false, err
		}
		f := sourceFile{path: prefix + e.Name, name: e.Name, mode: e.Mode, depth: depth}
		ino := e.Ino
		if e.Mode&fs.ModeSymlink != 0 && w.follow {
			if info, err := w.p.Stat(f.path); err == nil {
				f.mode, ino = info.Mode, info.Ino
			}
		}
		f.isDir = f.mode.IsDir()
		full := strings.TrimSuffix(abs, "/") + "/" + e.Name
		if w.skips(f, full, rules) {
			continue
		}
		if !f.isDir {
			if (w.all || f.mode.IsRegular()) && !fn(f) {
				return false, nil
			}
			continue
		}
		if w.all && !fn(f) {
			return false, nil
		}
		if slices.Contains(above, ino) {
			continue
		}
		goOn, err := w.directory(f.path, f.path+"/", full, rules, depth+1, append(slices.Clip(above), ino), fn)
		if err != nil || !goOn {
			return false, err
		}
	}
	return true, nil
}

// skips tells whether an entry is left out.
func (w *sourceWalk) skips(f sourceFile, full string, rules ignoreFiles) bool {
	rel := f.path
	for i := len(w.globs) - 1; i >= 0; i-- {
		if r := &w.globs[i]; r.matches(strings.TrimPrefix(rel, "./"), f.isDir) {
			if r.negated {
				return true
			}
			return !f.isDir && w.types != nil && w.types.skips(f.name)
		}
	}
	if w.only && !f.isDir {
		return true
	}
	skip, wanted := false, false
	if !w.noIgnore {
		if skip, wanted = rules.skips(full, f.isDir); skip {
			return true
		}
	}
	if !w.hidden && !wanted && strings.HasPrefix(f.name, ".") {
		return true
	}
	return !f.isDir && w.types != nil && w.types.skips(f.name)
}
