package sourcetree

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// ignoreRule is a line of .gitignore.
type ignoreRule struct {
	parts    []string // of the pattern, between slashes
	anchored bool     // to the directory of the file; else any name below it
	dirs     bool     // only directories
	negated  bool
	fold     bool
}

// parseIgnoreRule reads a line; ok is false for what is not a rule.
func parseIgnoreRule(line string) (r ignoreRule, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if r.negated = strings.HasPrefix(line, "!"); r.negated {
		line = line[1:]
	}
	if r.dirs = strings.HasSuffix(line, "/"); r.dirs {
		line = strings.TrimRight(line, "/")
	}
	if line == "" {
		return r, false
	}
	r.anchored = strings.Contains(line, "/")
	r.parts = strings.Split(strings.TrimPrefix(line, "/"), "/") // bounded: readIgnoreFile charges partWeight; a line is charged when it is read
	return r, true
}

// matches reports whether the rule is about a path, given from the rule's directory on.
func (r *ignoreRule) matches(path string, isDir bool) bool {
	if r.dirs && !isDir {
		return false
	}
	flags := fnmatch.Path
	if r.fold {
		flags |= fnmatch.Fold
	}
	if !r.anchored {
		return matchBraces(r.parts[0], path[strings.LastIndexByte(path, '/')+1:], flags)
	}
	return MatchParts(r.parts, strings.Split(path, "/"), flags) // bounded: a path that the tree has
}

// MatchParts matches the elements of a path; ** stands for any number of them.
func MatchParts(pattern, path []string, flags fnmatch.Flags) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(path) > 0
			}
			for i := range len(path) + 1 {
				if MatchParts(pattern[1:], path[i:], flags) {
					return true
				}
			}
			return false
		}
		if len(path) == 0 || !matchBraces(pattern[0], path[0], flags) {
			return false
		}
		pattern, path = pattern[1:], path[1:]
	}
	return len(path) == 0
}

// matchBraces is glob with {a,b}, of which there may be one level.
func matchBraces(pattern, name string, flags fnmatch.Flags) bool {
	open := strings.IndexByte(pattern, '{')
	end := strings.IndexByte(pattern, '}')
	if open < 0 || end < open {
		return fnmatch.Match(pattern, name, flags)
	}
	for word := range strings.SplitSeq(pattern[open+1:end], ",") {
		if matchBraces(pattern[:open]+word+pattern[end+1:], name, flags) {
			return true
		}
	}
	return false
}

// ignoreFile is the rules of one file, for the content of a directory.
type ignoreFile struct {
	rules []ignoreRule
	dir   string // absolute
}

// decides returns what the file says of an absolute path: 1 to leave it out, -1 to take it, 0 nothing.
func (f *ignoreFile) decides(path string, isDir bool) int {
	rest, below := strings.CutPrefix(path, strings.TrimSuffix(f.dir, "/")+"/")
	if !below {
		return 0
	}
	for i := len(f.rules) - 1; i >= 0; i-- {
		if r := &f.rules[i]; r.matches(rest, isDir) {
			if r.negated {
				return -1
			}
			return 1
		}
	}
	return 0
}

// ignoreFiles are the rules that hold in a directory, the nearest last.
type ignoreFiles struct {
	list []ignoreFile
	git  bool // in a repository
	own  bool // even against git's own files
}

// partWeight is the memory of an element of a rule's path, in bytes.
const partWeight = 16

// readIgnoreFile reads a file of rules; one that is not there has none.
func readIgnoreFile(p *shell.Proc, name, dir string) (f ignoreFile, ok bool) {
	b, err := program.ReadInput(p, name)
	if err != nil {
		return f, false
	}
	f.dir = dir
	for line := range strings.SplitSeq(string(b), "\n") {
		r, ok := parseIgnoreRule(line)
		if !ok {
			continue
		}
		err := p.Reserve(partWeight * len(r.parts))
		if err == nil {
			f.rules, err = program.Append(p, f.rules, r)
		}
		if err != nil {
			p.Error(name, err)
			return f, false
		}
	}
	return f, true
}

// enter returns the rules for what is in dir, which is absolute. own are names of files that count
// more than .gitignore and .ignore do.
func (i ignoreFiles) enter(p *shell.Proc, dir string, own ...string) ignoreFiles {
	base := strings.TrimSuffix(dir, "/")
	if _, err := p.Lstat(base + "/.git"); err == nil {
		i.git = true
		// Rules of directories above a repository do not apply inside it.
		if f, ok := readIgnoreFile(p, base+"/.git/info/exclude", dir); ok && !i.own {
			i.list = append(slices.Clip(i.list), f)
		}
	}
	for n, name := range append([]string{".gitignore", ".ignore"}, own...) {
		if n == 0 && (!i.git || i.own) {
			continue
		}
		if f, ok := readIgnoreFile(p, base+"/"+name, dir); ok {
			i.list = append(slices.Clip(i.list), f)
		}
	}
	return i
}

// above returns the rules of the directories that lead to dir.
func (i ignoreFiles) above(p *shell.Proc, dir string, own ...string) ignoreFiles {
	for at := 0; at < len(dir); at++ {
		if dir[at] == '/' {
			i = i.enter(p, dir[:max(at, 1)], own...)
		}
	}
	return i
}

// skips reports whether a path is left out.
func (i ignoreFiles) skips(path string, isDir bool) (skip, wanted bool) {
	for n := len(i.list) - 1; n >= 0; n-- {
		switch i.list[n].decides(path, isDir) {
		case 1:
			return true, false
		case -1:
			return false, true
		}
	}
	return false, false
}
