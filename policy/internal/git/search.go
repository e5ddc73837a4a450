package git

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Kind is the shape in which a Repository was found.
type Kind int

// The kinds.
const (
	Checkout   Kind = iota // Root/.git is a directory, a file or a link
	Bare                   // Root itself is a git directory
	Unreadable             // Root cannot be listed, so it may hold repositories
)

// Repository is a result of a search.
type Repository struct {
	Root string
	Kind Kind
}

// listing holds the entries of one directory that a search needs.
type listing struct {
	wanted                   *Names
	dirs                     []string
	named                    []string
	git, head, objects, refs bool
}

// Names is a set of names that a search also looks for, without regard to case. The zero value is empty.
type Names struct {
	lower  map[string]bool
	firsts [256]bool // first bytes of the names: a search reads every name of a tree
}

// NewNames makes a set.
func NewNames(list []string) *Names {
	n := &Names{lower: map[string]bool{}}
	for _, name := range list {
		lower := strings.ToLower(name)
		n.lower[lower] = true
		n.firsts[lower[0]], n.firsts[strings.ToUpper(lower)[0]] = true, true
	}
	return n
}

// has reports whether name is in the set.
func (n *Names) has(name []byte) bool {
	return len(name) > 0 && n.firsts[name[0]] && (n.lower[string(name)] || n.lower[strings.ToLower(string(name))])
}

func (l *listing) add(name string, dir bool) {
	if l.wanted.has([]byte(name)) {
		l.named = append(l.named, name)
	}
	switch name {
	case ".git":
		l.git = true
		return // a search does not enter it
	case "HEAD":
		l.head = true
	case "objects":
		l.objects = dir
	case "refs":
		l.refs = dir
	}
	if dir {
		l.dirs = append(l.dirs, name)
	}
}

// isBare reports whether git would take the directory for a git directory:
// is_git_directory() in git's setup.c asks for the same three.
func (l *listing) isBare() bool { return l.head && l.objects && l.refs }

// search visits directories with a few workers that share one stack.
type search struct {
	stops map[string]bool
	names *Names

	mu    sync.Mutex
	more  sync.Cond
	stack []string
	busy  int
	found []Repository
	named []string
}

// Search returns the repositories at and below roots, and the paths of entries that have one of names, both sorted.
// It follows no
// links, enters neither stops nor .git, and reports directories it cannot list.
func Search(roots []string, stops map[string]bool, names *Names) (found []Repository, named []string) {
	s := &search{stops: stops, names: names, stack: slices.Clone(roots)}
	s.more.L = &s.mu
	s.alone()
	if len(s.stack) > 0 {
		var workers sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), 8) {
			workers.Go(s.work)
		}
		workers.Wait()
	}
	sort.Slice(s.found, func(i, j int) bool {
		a, b := s.found[i], s.found[j]
		return cmp.Or(cmp.Compare(a.Root, b.Root), cmp.Compare(a.Kind, b.Kind)) < 0
	})
	slices.Sort(s.named)
	return slices.Compact(s.found), slices.Compact(s.named)
}

// small is the number of directories up to which a search starts no workers.
const small = 128

// alone visits the first directories without workers.
func (s *search) alone() {
	buf := make([]byte, 8<<10)
	for range small {
		n := len(s.stack) - 1
		if n < 0 {
			return
		}
		dir := s.stack[n]
		s.stack = s.visit(dir, buf, s.stack[:n])
	}
}

func (s *search) work() {
	buf := make([]byte, 32<<10)
	var batch, next []string
	for {
		batch = s.take(batch[:0])
		if len(batch) == 0 {
			return
		}
		next = next[:0]
		for _, dir := range batch {
			next = s.visit(dir, buf, next)
		}
		s.put(next)
	}
}

// take waits for directories to visit; none means that the search has ended.
func (s *search) take(batch []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.stack) == 0 && s.busy > 0 {
		s.more.Wait()
	}
	n := min(len(s.stack), 16)
	batch = append(batch, s.stack[len(s.stack)-n:]...)
	s.stack = s.stack[:len(s.stack)-n]
	if n > 0 {
		s.busy++
	}
	return batch
}

func (s *search) put(dirs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stack = append(s.stack, dirs...)
	s.busy--
	s.more.Broadcast()
}

func (s *search) visit(dir string, buf []byte, next []string) []string {
	l, err := list(dir, s.names, buf)
	if os.IsPermission(err) {
		s.report(Repository{dir, Unreadable})
	}
	if l.git {
		s.report(Repository{dir, Checkout})
	}
	if l.isBare() {
		s.report(Repository{dir, Bare})
	}
	if len(l.named) > 0 {
		s.reportNames(dir, l.named)
	}
	for _, name := range l.dirs {
		if l.isBare() && name == "objects" {
			continue
		}
		if sub := filepath.Join(dir, name); !s.stops[sub] {
			next = append(next, sub)
		}
	}
	return next
}

func (s *search) reportNames(dir string, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.named = append(s.named, filepath.Join(dir, name))
	}
}

func (s *search) report(r Repository) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, r)
}
