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

// stillAtWork bounds the time in which the kernel executes a call that the guard has let proceed, on a busy
// machine.
const stillAtWork = 2 * time.Second

// sweeper checks whether guarded names exist in spite of the guard: a thread
// that changes a path between the guard's check and the kernel's walk can bypass the guard
// (seccomp_unotify(2)). inotify would report the names at once, but closing it makes every run
// wait for the kernel's grace period, some 15 ms.
type sweeper struct {
	places []place
	links  bool            // a guarded name existed at the start, as a symbolic link
	first  []place         // the places at the paths that commands see
	names  map[string]bool // their paths; nil: not made yet
	denied map[string]bool // refused paths of this run that are in names; commands could choose any number of others
	since  time.Time       // from this time on the sandbox can have created a name; zero: it cannot
	last   time.Time       // time when a call last proceeded
	looked time.Time       // time of the last check of the names
	ever   bool            // a call has proceeded
}

// place is a guarded name without an entry.
type place struct{ dir, name string }

func newSweeper(names []Name) *sweeper {
	s := &sweeper{denied: map[string]bool{}, places: make([]place, 0, len(names))}
	dir, at := Path(""), -1 // names of the same directory follow each other
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

// openDir returns a descriptor of the directory; -1: it does not exist, or this process cannot open it.
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

// touched records that a call has proceeded.
func (s *sweeper) touched() {
	s.last, s.ever = time.Now(), true
	if s.since.IsZero() {
		s.since, s.looked = s.last, s.last
	}
}

// wait returns the time-out for poll(2): milliseconds until the next check, or -1.
func (s *sweeper) wait() int {
	if s.since.IsZero() {
		return -1
	}
	return max(0, int((sweepAfter-time.Since(s.looked)).Milliseconds())+1)
}

// isDue reports whether the names must be checked now.
func (s *sweeper) isDue() bool { return !s.since.IsZero() && time.Since(s.looked) >= sweepAfter }

// look returns the guarded names that have appeared since the last check.
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
	found := map[string]bool{} // several places can be reached through one link
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
		a.Raced = s.denied[a.Path] || !since.IsZero() && !changeTime(st).Before(since.Add(-clockTick))
		if a.Raced {
			// The caller moves it away. Check the place again: a command may create the name once more before the
			// sandbox is dead.
			s.denied[a.Path] = true
			free = append(free, p)
		} else if a.Path != p.dir+"/"+p.name { // the sandbox has not created this link, and the place is still free
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

// Appearance is a guarded name that exists in spite of the guard, or a symbolic link that appeared on the path to
// one.
type Appearance struct {
	Dir   int    // the directory that has the entry; open during the call only
	Name  string // the entry's name there
	Path  string // for messages: names can change meanwhile
	Raced bool   // the sandbox may have created it; otherwise a process outside has
}

func (a Appearance) close() { _ = unix.Close(a.Dir) }

// MoveTo renames the entry to a name in another directory. It follows no link.
func (a Appearance) MoveTo(dir int, name string) error {
	err := unix.Renameat2(a.Dir, a.Name, dir, name, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // file systems such as NFS support no flags
		err = unix.Renameat(a.Dir, a.Name, dir, name)
	}
	return err
}

// MoveAside renames the entry where it is, and returns the new name.
func (a Appearance) MoveAside() (string, error) {
	name := a.Name + ".refused-" + strconv.FormatInt(time.Now().UnixNano(), 10)
	return name, a.MoveTo(a.Dir, name)
}

// find returns the entry at a place, or else the first symbolic link on the path to it. The path had no links
// when the rules were made, so find does not follow one: it could point to another file of the host.
func (p place) find() (a Appearance, st unix.Stat_t, ok bool) {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return a, st, false
	}
	// One call of openat2(2) is nearly always enough.
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	if dir, err := unix.Openat2(at, p.dir, &how); err == nil {
		_ = unix.Close(at)
		return newAppearance(dir, p.name, p.dir+"/"+p.name)
	} else if !errors.Is(err, unix.ELOOP) && !errors.Is(err, unix.EAGAIN) {
		_ = unix.Close(at)
		return a, st, false
	}
	passed := 0 // number of bytes of p.dir; the path is clean
	for name := range strings.SplitSeq(strings.TrimPrefix(p.dir, "/"), "/") {
		passed += len("/") + len(name)
		next, err := unix.Openat(at, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil || unix.Fstat(next, &st) != nil {
			break
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			_ = unix.Close(next)
			return newAppearance(at, name, p.dir[:passed])
		}
		_ = unix.Close(at)
		at = next
	}
	_ = unix.Close(at)
	return a, st, false
}

// newAppearance takes over dir.
func newAppearance(dir int, name, path string) (a Appearance, st unix.Stat_t, ok bool) {
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		_ = unix.Close(dir)
		return a, st, false
	}
	return Appearance{Dir: dir, Name: name, Path: path}, st, true
}

// clockTick is the resolution of the kernel's file times, at 100 ticks a second.
const clockTick = 10 * time.Millisecond

// changeTime returns the time of the last change of an entry's inode, also by a rename.
func changeTime(st unix.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }
