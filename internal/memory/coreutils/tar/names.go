package tar

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// tarNames are the names that tar is given, each with the directory it counts from.
type tarNames struct {
	list           []*tarName
	dirs           []string // of -C
	sources        []tarNameSource
	null, verbatim bool
	flat           bool // --no-recursion
	fromFile       bool // there may have been none in it

	byName map[string]*tarName // those without wildcards
	globs  []*tarName
}

// tarNameSource is a file of names.
type tarNameSource struct {
	file           string
	null, verbatim bool
	dirs           int
}

// tarName is one name.
type tarName struct {
	name     string
	dir      string // where it counts from; empty: here
	source   int    // the number of the file that stands for it, from 1
	dirs     int    // how many of -C go before it
	excludes int    // how many patterns do
	flat     bool
	match    tarMatching
	found    int
}

// add adds a name of the command line.
func (n *tarNames) add(j *tarJob, name string) {
	n.list = append(n.list, &tarName{name: name, dirs: len(n.dirs), excludes: len(j.exclude.patterns), flat: n.flat, match: j.exclude.matching})
}

func (n *tarNames) empty() bool { return len(n.list) == 0 && !n.fromFile }

// hasNames reports whether certain members are wanted, rather than all.
func (n *tarNames) hasNames() bool { return len(n.list) > 0 }

// read reads the files of names and settles the directories. It returns the error.
func (n *tarNames) read(j *tarJob) string {
	var all []*tarName
	for _, name := range n.list {
		if name.source == 0 {
			all = append(all, name)
			continue
		}
		more, err := n.readFile(j, name)
		if err != "" {
			return err
		}
		n.fromFile = true
		all = append(all, more...)
	}
	n.list = all
	for _, name := range all {
		name.dir = joinDirs(n.dirs[:name.dirs])
	}
	return ""
}

// joinDirs goes through directories one after another.
func joinDirs(dirs []string) string {
	at := ""
	for _, d := range dirs {
		at = pathname.Resolve(at, d)
	}
	return at
}

func (n *tarNames) readFile(j *tarJob, at *tarName) ([]*tarName, string) {
	s := n.sources[at.source-1]
	in, err := program.OpenInput(j.p, s.file)
	if err != nil {
		return nil, quoteTarName(s.file) + ": Cannot stat: " + shell.Strerror(err)
	}
	defer in.Close()
	delim := byte('\n')
	if s.null {
		delim = 0
	}
	var names []*tarName
	dirs, wantDir := s.dirs, false
	lines := program.NewLineReader(j.p, in, delim)
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		text := string(program.WithoutEnd(line, delim))
		switch {
		case j.p.Reserve(len(text)+64) != nil:
			return nil, "memory exhausted"
		case wantDir, !s.verbatim && strings.HasPrefix(text, "-C") && len(text) > 2:
			n.dirs = append(n.dirs[:dirs:dirs], strings.TrimLeft(strings.TrimPrefix(text, "-C"), " "))
			dirs, wantDir = len(n.dirs), false
		case !s.verbatim && text == "-C":
			wantDir = true
		case !s.verbatim && strings.HasPrefix(text, "-"):
			return nil, quoteTarName(s.file) + ": options other than -C are not taken from a file of names: " + quoteTarName(text)
		case text != "":
			names = append(names, &tarName{name: text, dirs: dirs, excludes: len(j.exclude.patterns), flat: n.flat, match: j.exclude.matching})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, quoteTarName(s.file) + ": " + shell.Strerror(err)
	}
	return names, ""
}

// index prepares for wants.
func (n *tarNames) index(j *tarJob) {
	n.byName = make(map[string]*tarName, len(n.list))
	for _, name := range n.list {
		clean := strings.TrimRight(name.name, "/")
		if clean == "" && name.name != "" {
			clean = "/"
		}
		if name.match.wildcards != on && !name.match.fold && name.match.anchored != off {
			if n.byName[clean] == nil {
				n.byName[clean] = name
			}
			if name.match.wildcards == unset && strings.ContainsAny(clean, "*?[") {
				j.once("Pattern matching characters used in file names")
				j.once("Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning")
			}
			continue
		}
		n.globs = append(n.globs, name)
	}
}

// wants returns the name that a member was asked for by; ok is false for one that was not.
func (n *tarNames) wants(member string) (name *tarName, ok bool) {
	if !n.hasNames() {
		return nil, true
	}
	member = strings.TrimRight(member, "/")
	if name := n.byName[member]; name != nil {
		return name, true
	}
	for at := strings.LastIndexByte(member, '/'); at >= 0; at = strings.LastIndexByte(member[:at], '/') {
		if name := n.byName[member[:max(at, 1)]]; name != nil && !name.flat && (at > 0 || member[0] == '/') {
			return name, true
		}
	}
	for _, name := range n.globs {
		m := name.match
		m.wildcards = orUsual(m.wildcards, off)
		m.anchored = orUsual(m.anchored, on)
		if m.matches(strings.TrimRight(name.name, "/"), member, !name.flat) {
			return name, true
		}
	}
	return nil, false
}

// missing reports operands without a matching member.
func (n *tarNames) missing(j *tarJob) {
	for _, name := range n.list {
		switch {
		case name.found == 0:
			j.fail("%s: Not found in archive", quoteTarName(name.name))
		case j.occurrence > name.found:
			j.fail("%s: Required occurrence not found in archive", quoteTarName(name.name))
		}
	}
}
