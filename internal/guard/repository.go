//go:build linux

package guard

import (
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
)

// parts is the set of entries in a directory that are parts of a git repository (gitrepository-layout(5)).
type parts map[string]bool

// isPart reports whether a name is that of a part. On some file systems HEAD and head are the same name.
func isPart(name string) bool {
	switch nested.Fold(name) {
	case "commondir", "head", "objects", "refs":
		return true
	}
	return false
}

// partsIn returns the parts in a directory, or an error if it cannot be searched.
func partsIn(dir int) (parts, error) {
	found := parts{}
	for _, part := range []string{"HEAD", "commondir", "objects", "refs"} {
		var st unix.Stat_t
		switch err := unix.Fstatat(dir, part, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case err == nil:
			found[part] = true
		case !errors.Is(err, unix.ENOENT):
			return nil, err
		}
	}
	return found, nil
}

// isRepository reports whether git would treat a directory as a repository (gitrepository-layout(5)) if it had one more
// entry.
func (p parts) isRepository(more string) bool {
	has := func(name string) bool { return strings.EqualFold(name, more) || p[name] }
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// makesRepo reports whether the entry would complete a git repository, whose configuration and hooks the host's git
// would obey. This includes directories inside a git directory: a link in the work tree can point to them.
func (g *Guard) makesRepo(e entry) bool {
	switch {
	case !g.rules.reposRefused(e.path):
		return false
	case strings.EqualFold(e.name, ".git"):
		return true
	case !isPart(e.name):
		return false
	}
	found, err := partsIn(e.dir)
	if err != nil {
		return true // a command that removes the permission to search can restore it at once
	}
	if strings.EqualFold(e.name, "commondir") { // it redirects even a complete repository
		return found["HEAD"] && !found["commondir"]
	}
	return !found.isRepository("") && found.isRepository(e.name)
}

// lockPart locks the directory of an entry that is a part of repositories, until unlock is called: the guard of another
// sandbox could create another part between this guard's check and its call. A complete repository needs no lock. The
// error is a lockedError while another process has the lock, which any command can take.
func (g *Guard) lockPart(op entryOp, e entry) (unlock func(), err error) {
	nothing := func() {}
	if !isPart(e.name) || !g.rules.reposRefused(e.path) {
		return nothing, nil
	}
	found, err := partsIn(e.dir)
	if err == nil && found.isRepository("") && !strings.EqualFold(e.name, "commondir") {
		return nothing, nil
	}
	fd, err := unix.Openat(e.dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errnoOf(err)
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		_ = unix.Close(fd)
		return nil, lockedError{op, e.String()}
	} // some file systems have no locks of directories
	return func() { _ = unix.Close(fd) }, nil
}

// lockedError means that another process has locked the directory in which a call would create a part of a repository.
type lockedError struct {
	op   entryOp
	path string
}

func (e lockedError) Error() string { return "the directory of " + e.path + " is locked" }

const (
	// lockWait bounds the time that a call waits for a lock; another guard holds it for some microseconds.
	lockWait = 2 * time.Second
	// lockRetry is the time between two attempts, during which the guard answers other calls.
	lockRetry = 2 * time.Millisecond
	// maxPostponed bounds the waiting calls, because commands can make any number.
	maxPostponed = 64
)

// postponed are the calls that wait for a lock. The zero value is ready for use.
type postponed struct {
	calls []postponedCall
	next  time.Time // time of the next attempt
	until time.Time // time limit of the call that is retried; zero: the call is new
}

type postponedCall struct {
	notification
	until time.Time
}

// add postpones the current call. It returns false if the call must not wait any longer.
func (p *postponed) add(n notification) bool {
	until := p.until
	if until.IsZero() {
		until = time.Now().Add(lockWait)
	}
	if len(p.calls) >= maxPostponed || !time.Now().Before(until) {
		return false
	}
	if len(p.calls) == 0 {
		p.next = time.Now().Add(lockRetry)
	}
	p.calls = append(p.calls, postponedCall{n, until})
	return true
}

// wait is a time-out for poll(2): milliseconds until the next attempt, or -1.
func (p *postponed) wait() int {
	if len(p.calls) == 0 {
		return -1
	}
	return max(0, int(time.Until(p.next).Milliseconds())+1)
}

// retry decides about the waiting calls again, from their beginning, because all data that was read before may have
// changed.
func (g *Guard) retry() {
	if len(g.postponed.calls) == 0 || time.Now().Before(g.postponed.next) {
		return
	}
	due := g.postponed.calls
	g.postponed.calls = nil
	for _, call := range due {
		g.postponed.until = call.until
		g.answer(call.notification)
	}
	g.postponed.until = time.Time{}
}
