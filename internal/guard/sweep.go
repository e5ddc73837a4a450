//go:build linux

package guard

import (
	"errors"
	"slices"
	"strconv"
	"strings"
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
	first  []place         // the places as commands see them
	names  map[string]bool // their paths; nil: not made yet
	denied map[string]bool // those of names that were refused in this run: commands choose how many others there are
	since  time.Time       // names that appear from then on can be the sandbox's; zero: none can
	last   time.Time       // when a call was last let through
	looked time.Time       // when the names were last looked at
	ever   bool            // whether any call was let through
}

// place is one guarded name that is free.
type place struct{ dir, name string }

func newSweeper(names []Name) *sweeper {
	s := &sweeper{denied: map[string]bool{}, places: make([]place, 0, len(names))}
	dir, at := Path(""), -1 // most names follow others of their directory
	for _, n := range names {
		if n.Name == "*" {
			continue
		}
		if n.Dir != dir {
			_ = unix.Close(at)
			dir, at = n.Dir, openDir(string(n.Dir))
		}
		if at >= 0 && existsAt(at, string(n.Name)) {
			s.links = true
			continue
		}
		s.places = append(s.places, place{string(n.Dir), string(n.Name)})
	}
	_ = unix.Close(at)
	s.first = slices.Clone(s.places)
	return s
}

// openDir returns a descriptor of a directory to look in; -1: there is none, or none that this process can search.
func openDir(path string) int {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// refused records that an entry was refused.
func (s *sweeper) refused(path string) {
	if s.names == nil {
		s.names = make(map[string]bool, len(s.first))
		for _, p := range s.first {
			s.names[p.dir+"/"+p.name] = true
		}
	}
	if s.names[path] {
		s.denied[path] = true
	}
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
func (s *sweeper) look() []Appearance {
	if !s.ever {
		return nil
	}
	since := s.since
	s.looked = time.Now()
	if s.looked.Sub(s.last) > stillAtWork {
		s.since = time.Time{}
	}
	var out []Appearance
	var free []place
	found := map[string]bool{} // several places can lie beyond one link
	for _, p := range s.places {
		a, st, ok := p.find()
		if ok && found[a.Path] {
			a.close()
			ok = false
		}
		if !ok {
			free = append(free, p)
			continue
		}
		a.Raced = s.denied[a.Path] || !since.IsZero() && !changed(st).Before(since.Add(-clockTick))
		if a.Raced {
			// It is moved away now, and looked for again: it may be made once more
			// before the sandbox is dead.
			s.denied[a.Path] = true
			free = append(free, p)
		} else if a.Path != p.dir+"/"+p.name { // a link that the sandbox has not made: the place is still free
			a.close()
			free = append(free, p)
			continue
		}
		found[a.Path] = true
		out = append(out, a)
	}
	s.places = free
	return out
}

// Appearance is a guarded name that exists in spite of the guard, or a symbolic link that came onto the way to one.
type Appearance struct {
	Dir   int    // the directory that has the entry; open during the call only
	Name  string // the entry's name there
	Path  string // for messages: names can change meanwhile
	Raced bool   // the sandbox can have created it; otherwise a process outside did
}

func (a Appearance) close() { _ = unix.Close(a.Dir) }

// MoveTo renames the entry to a name in another directory. It follows no link.
func (a Appearance) MoveTo(dir int, name string) error {
	err := unix.Renameat2(a.Dir, a.Name, dir, name, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // file systems such as NFS know no flags
		err = unix.Renameat(a.Dir, a.Name, dir, name)
	}
	return err
}

// MoveAside renames the entry where it is, and returns the new name.
func (a Appearance) MoveAside() (string, error) {
	name := a.Name + ".refused-" + strconv.FormatInt(time.Now().UnixNano(), 10)
	return name, a.MoveTo(a.Dir, name)
}

// find returns the entry at a place, or else the first symbolic link on the way there. The way had none when the
// rules were made, so it is never followed: it could lead to another file of the host.
func (p place) find() (a Appearance, st unix.Stat_t, ok bool) {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return a, st, false
	}
	// The kernel's walk is one call, and nearly always enough.
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	if dir, err := unix.Openat2(at, p.dir, &how); err == nil {
		_ = unix.Close(at)
		return appearance(dir, p.name, p.dir+"/"+p.name)
	} else if !errors.Is(err, unix.ELOOP) && !errors.Is(err, unix.EAGAIN) {
		_ = unix.Close(at)
		return a, st, false
	}
	passed := 0 // bytes of p.dir, which is clean
	for name := range strings.SplitSeq(strings.TrimPrefix(p.dir, "/"), "/") {
		passed += len("/") + len(name)
		next, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil || unix.Fstat(next, &st) != nil {
			break
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			_ = unix.Close(next)
			return appearance(at, name, p.dir[:passed])
		}
		_ = unix.Close(at)
		at = next
	}
	_ = unix.Close(at)
	return a, st, false
}

// appearance takes over dir.
func appearance(dir int, name, path string) (a Appearance, st unix.Stat_t, ok bool) {
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		_ = unix.Close(dir)
		return a, st, false
	}
	return Appearance{Dir: dir, Name: name, Path: path}, st, true
}

// clockTick is the resolution of the kernel's file times, at 100 ticks a second.
const clockTick = 10 * time.Millisecond

// changed returns the time of the last change of an entry's inode, also by a rename.
func changed(st unix.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }
