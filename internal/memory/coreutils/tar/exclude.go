package tar

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// state is an option that may be on, off, or as usual.
type state int8

const (
	unset state = iota
	on
	off
)

// orUsual returns s, or the default when s is unset.
func orUsual(s, usual state) state {
	if s == unset {
		return usual
	}
	return s
}

// tarMatching holds the options for matching patterns with names.
type tarMatching struct {
	wildcards, anchored, slash state
	fold                       bool
}

// matches reports whether the pattern matches a name or, with below, a directory above it.
func (m tarMatching) matches(pattern, name string, below bool) bool {
	flags := fnmatch.Flags(0)
	if m.slash == off {
		flags |= fnmatch.Path
	}
	if m.fold {
		flags |= fnmatch.Fold
	}
	same := func(s string) bool {
		switch {
		case m.wildcards == on:
			return fnmatch.Match(pattern, s, flags)
		case m.fold:
			return strings.EqualFold(pattern, s)
		}
		return pattern == s
	}
	for {
		if same(name) {
			return true
		}
		for at := range name {
			if below && name[at] == '/' && at > 0 && same(name[:at]) {
				return true
			}
		}
		at := strings.IndexByte(name, '/')
		if m.anchored == on || at < 0 {
			return false
		}
		name = strings.TrimLeft(name[at:], "/")
		if name == "" {
			return false
		}
	}
}

// tarExclusion says which files are excluded.
type tarExclusion struct {
	matching tarMatching // as the options so far say
	patterns []tarPattern
	tags     []tarTag
}

// tarPattern is a pattern of names to exclude.
type tarPattern struct {
	text   string
	match  tarMatching
	option string // how it was given, for messages
}

// tarTag is a file that keeps its directory from being packed.
type tarTag struct {
	name string
	what tagEffect
	sign bool // it has to be signed as that of a cache
}

type tagEffect uint8

const (
	tagContents tagEffect = iota // all but the tag is left out
	tagUnder                     // the tag, too
	tagAll                       // the directory, too
)

var tarVCS = []string{
	"CVS", "RCS", "SCCS", ".git", ".gitignore", ".gitattributes", ".gitmodules", ".cvsignore", ".svn", ".arch-ids", "{arch}",
	"=RELEASE-ID", "=meta-update", "=update", ".bzr", ".bzrignore", ".bzrtags", ".hg", ".hgignore", ".hgrags", "_darcs",
}

// option takes the options about patterns.
func (x *tarExclusion) option(j *tarJob, o *program.Options) bool {
	m := &x.matching
	switch o.ID {
	case tarExclude:
		x.add(o.Value, "--exclude "+quoting.Name(o.Value))
	case 'X':
		x.readFile(j, o)
	case tarExcludeVCS:
		for _, p := range tarVCS {
			x.patterns = append(x.patterns, tarPattern{p, tarMatching{wildcards: off, anchored: off}, "--exclude-vcs"})
		}
	case tarExcludeBackups:
		for _, p := range []string{".#*", "*~", "#*#"} {
			x.patterns = append(x.patterns, tarPattern{p, tarMatching{wildcards: on, anchored: off}, "--exclude-backups"})
		}
	case tarExcludeCaches, tarExcludeCachesUnder, tarExcludeCachesAll:
		x.tags = append(x.tags, tarTag{"CACHEDIR.TAG", tagEffect(o.ID - tarExcludeCaches), true})
	case tarExcludeTag, tarExcludeTagUnder, tarExcludeTagAll:
		x.tags = append(x.tags, tarTag{o.Value, tagEffect(o.ID - tarExcludeTag), false})
	case tarWildcards:
		m.wildcards = on
	case tarNoWildcards:
		m.wildcards = off
	case tarMatchSlash:
		m.slash = on
	case tarNoMatchSlash:
		m.slash = off
	case tarAnchored:
		m.anchored = on
	case tarNoAnchored:
		m.anchored = off
	case tarIgnoreCase, tarNoIgnoreCase:
		m.fold = o.ID == tarIgnoreCase
	default:
		return false
	}
	return true
}

func (x *tarExclusion) add(pattern, option string) {
	m := x.matching
	m.wildcards, m.anchored = orUsual(m.wildcards, on), orUsual(m.anchored, off)
	x.patterns = append(x.patterns, tarPattern{strings.TrimRight(pattern, "/"), m, option}) // bounded: by the command's arguments; readFile charges for each line
}

func (x *tarExclusion) readFile(j *tarJob, o *program.Options) {
	in, err := program.OpenInput(j.p, o.Value)
	if err == nil {
		defer in.Close()
		lines := program.NewLineReader(j.p, in, '\n')
		for line, ok := lines.Next(); ok; line, ok = lines.Next() {
			if err = j.p.Reserve(len(line) + 64); err != nil {
				break
			}
			if text := string(program.WithoutEnd(line, '\n')); text != "" {
				x.add(text, "--exclude-from "+quoting.Name(o.Value))
			}
		}
		if err == nil {
			err = lines.Err()
		}
	}
	if err != nil {
		j.warn("%s: %s", quoteTarName(o.Value), shell.Strerror(err))
		o.RejectQuietly("Error is not recoverable: exiting now")
		o.Status = 2
	}
}

// has reports whether a name is left out by the first n patterns.
func (x *tarExclusion) has(name string, n int) bool {
	name = strings.TrimRight(name, "/")
	for i := range x.patterns[:n] {
		if p := &x.patterns[i]; p.match.matches(p.text, name, true) {
			return true
		}
	}
	return false
}

// late reports patterns that come behind all names and so leave out nothing.
func (x *tarExclusion) late(j *tarJob) {
	last := 0
	for _, name := range j.names.list {
		last = max(last, name.excludes)
	}
	if last == len(x.patterns) || len(j.names.list) == 0 {
		return
	}
	j.fail("The following options were used after any non-optional arguments in archive create or update mode.  " +
		"These options are positional and affect only arguments that follow them.  Please, rearrange them properly.")
	var told []string
	for _, p := range x.patterns[last:] {
		if !slices.Contains(told, p.option) {
			told = append(told, p.option)
			j.fail("%s has no effect", p.option)
		}
	}
}

// cacheSignature is the first line of the tag of a cache directory.
const cacheSignature = "Signature: 8a477f597d28d172789f06886806bc55"

// tagged looks for a tag in a directory.
func (j *tarJob) tagged(dir, shown string) (tarTag, bool) {
	for _, t := range j.exclude.tags {
		path := pathname.Resolve(dir, t.name)
		if _, err := j.p.Stat(path); err != nil {
			continue
		}
		if t.sign && !j.signed(path) {
			continue
		}
		text := "contents not dumped"
		if t.what == tagAll {
			text = "directory not dumped"
		}
		if j.verbose > 0 {
			j.warn("%s: contains a cache directory tag %s; %s", quoteTarName(shown), quoteTarName(t.name), text)
		}
		return t, true
	}
	return tarTag{}, false
}

func (j *tarJob) signed(path string) bool {
	f, err := j.p.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(cacheSignature))
	_, err = f.ReadAt(head, 0)
	return err == nil && string(head) == cacheSignature
}
