//go:build linux

package bwrap

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/policy"
)

// sweepAfter is how long after a call was let through the guarded names are
// looked at.
const sweepAfter = 20 * time.Millisecond

// sweeper looks whether guarded names are there in spite of the guard: a thread
// that changes a path between our look at it and the kernel's can get past us
// (seccomp_unotify(2)). inotify would tell at once, but closing it makes every run
// wait for the kernel's grace period, some 15 ms.
type sweeper struct {
	places []place
	links  bool            // whether a guarded name exists already: a symbolic link
	denied map[string]bool // paths that were refused in this run
	due    time.Time       // when to look next; zero: nothing was let through since
}

// place is one guarded name that is free.
type place struct{ dir, name string }

func newSweeper(guards []policy.Guard) *sweeper {
	s := &sweeper{denied: map[string]bool{}}
	for _, g := range guards {
		switch {
		case g.Name == "*":
		case exists(g.Dir + "/" + g.Name):
			s.links = true
		default:
			s.places = append(s.places, place{g.Dir, g.Name})
		}
	}
	return s
}

// touched notes that a call was let through.
func (s *sweeper) touched() {
	if s.due.IsZero() {
		s.due = time.Now().Add(sweepAfter)
	}
}

// wait is the time-out for poll(2): milliseconds until the next look, or -1.
func (s *sweeper) wait() int {
	if s.due.IsZero() {
		return -1
	}
	return max(0, int(time.Until(s.due).Milliseconds())+1)
}

// look returns the guarded names that are there now and were free, each once.
func (s *sweeper) look() []place {
	s.due = time.Time{}
	var found, free []place
	for _, p := range s.places {
		if exists(p.dir + "/" + p.name) {
			found = append(found, p)
		} else {
			free = append(free, p)
		}
	}
	s.places = free
	return found
}

func exists(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil
}
