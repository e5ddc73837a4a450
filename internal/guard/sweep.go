//go:build linux

package guard

import (
	"time"

	"golang.org/x/sys/unix"
)

// sweepAfter is the time between a call that the kernel executes and the next check of
// the guarded names.
const sweepAfter = 20 * time.Millisecond

// stillAtWork bounds the time in which the kernel executes a call after the guard let it
// proceed, on a busy machine.
const stillAtWork = 2 * time.Second

// sweeper checks whether guarded names exist in spite of the guard: a thread
// that changes a path between the guard's check and the kernel's walk can bypass the guard
// (seccomp_unotify(2)). inotify would report the names at once, but closing it makes every run
// wait for the kernel's grace period, some 15 ms.
type sweeper struct {
	places []place
	links  bool            // whether a guarded name exists already: a symbolic link
	denied map[string]bool // paths that were refused in this run
	since  time.Time       // names that appear from then on can be the sandbox's; zero: none can
	last   time.Time       // when a call was last let through
	looked time.Time       // when the names were last looked at
	ever   bool            // whether any call was let through
}

// place is one guarded name that is free.
type place struct{ dir, name string }

func newSweeper(names []Name) *sweeper {
	s := &sweeper{denied: map[string]bool{}}
	for _, n := range names {
		switch {
		case n.Name == "*":
		case exists(string(n.Dir + "/" + n.Name)):
			s.links = true
		default:
			s.places = append(s.places, place{string(n.Dir), string(n.Name)})
		}
	}
	return s
}

// touched records that a call was let through.
func (s *sweeper) touched() {
	s.last, s.ever = time.Now(), true
	if s.since.IsZero() {
		s.since, s.looked = s.last, s.last
	}
}

// wait is the time-out for poll(2): milliseconds until the next look, or -1.
func (s *sweeper) wait() int {
	if s.since.IsZero() {
		return -1
	}
	return max(0, int((sweepAfter-time.Since(s.looked)).Milliseconds())+1)
}

// isDue reports whether the names must be checked now.
func (s *sweeper) isDue() bool { return !s.since.IsZero() && time.Since(s.looked) >= sweepAfter }

// look returns the guarded names that exist now and did not before.
// raced are those that appeared after a call was let through: the sandbox can have
// created them, or a process of the host's user.
func (s *sweeper) look() (raced, others []string) {
	if !s.ever {
		return nil, nil
	}
	since := s.since
	s.looked = time.Now()
	if s.looked.Sub(s.last) > stillAtWork {
		s.since = time.Time{}
	}
	var free []place
	for _, p := range s.places {
		path := p.dir + "/" + p.name
		var st unix.Stat_t
		switch {
		case unix.Lstat(path, &st) != nil:
			free = append(free, p)
		case s.denied[path] || !since.IsZero() && !changed(st).Before(since.Add(-clockTick)):
			// It is moved away now, and looked for again: it may be made once more
			// before the sandbox is dead.
			s.denied[path] = true
			free = append(free, p)
			raced = append(raced, path)
		default:
			others = append(others, path)
		}
	}
	s.places = free
	return raced, others
}

// clockTick is the resolution of the kernel's file times, at 100 ticks a second.
const clockTick = 10 * time.Millisecond

// changed returns the time of the last change of an entry's inode, also by a rename.
func changed(st unix.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }

func exists(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil
}
