package git

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
)

// Kind says in which shape a Repository was found.
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
	dirs                     []string
	git, head, objects, refs bool
}

func (l *listing) add(name string, dir bool) {
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

// search walks directories with a few workers over one stack.
type search struct {
	stops map[string]bool

	mu    sync.Mutex
	more  sync.Cond
	stack []string
	busy  int
	found []Repository
}

// Search returns the repositories at and below roots, sorted. It follows no
// links, enters neither stops nor .git, and reports directories it cannot list.
func Search(roots []string, stops map[string]bool) []Repository {
	s := &search{stops: stops, stack: slices.Clone(roots)}
	s.more.L = &s.mu
	s.alone()
	if len(s.stack) > 0 {
		var workers sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), 8) {
			workers.Go(s.work)
		}
		workers.Wait()
	}
	slices.SortFunc(s.found, func(a, b Repository) int {
		return cmp.Or(cmp.Compare(a.Root, b.Root), cmp.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(s.found)
}

// small is the number of directories up to which a search starts no workers.
const small = 128

// alone visits the first directories.
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
	l, err := list(dir, buf)
	if os.IsPermission(err) {
		s.report(Repository{dir, Unreadable})
	}
	if l.git {
		s.report(Repository{dir, Checkout})
	}
	if l.isBare() {
		s.report(Repository{dir, Bare})
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

func (s *search) report(r Repository) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, r)
}
