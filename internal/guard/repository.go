//go:build linux

package guard

import (
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
)

// parts are the entries that make a directory a git repository (gitrepository-layout(5)), in the set of those it has.
type parts map[string]bool

// isPart reports whether a name is that of a part. On some file systems HEAD is head.
func isPart(name string) bool {
	switch nested.Fold(name) {
	case "commondir", "head", "objects", "refs":
		return true
	}
	return false
}

// partsIn returns the parts that a directory has. The error is that of a directory that cannot be looked into.
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

// isRepository reports whether git takes a directory for one of its own (is_git_directory in
// gitrepository-layout(5)) when it has one more entry.
func (p parts) isRepository(more string) bool {
	has := func(name string) bool { return strings.EqualFold(name, more) || p[name] }
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// makesRepo reports whether the entry would complete a git repository, whose
// configuration and hooks the host's git would obey. Inside a git directory it would do so, too: a link in the
// work tree can lead there.
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
		return true // a command that takes away the permission to look can give it back at once
	}
	if strings.EqualFold(e.name, "commondir") { // it redirects even a repository that is complete
		return found["HEAD"] && !found["commondir"]
	}
	return !found.isRepository("") && found.isRepository(e.name)
}

// lockPart locks the directory of an entry that is a part of repositories until the function that it returns is called: the
// guard of another sandbox could make the last part but one between this guard's look and its call. A repository that is
// complete needs no lock. The error is a lockedError while another process has the lock, which any command can take.
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

// lockedError means that another process has the lock of the directory in which a call would make a part of a repository.
type lockedError struct {
	op   entryOp
	path string
}

func (e lockedError) Error() string { return "the directory of " + e.path + " is locked" }

const (
	// lockWait bounds the time that a call waits for a lock; another guard has it for some microseconds.
	lockWait = 2 * time.Second
	// lockRetry is the time between two attempts, during which the guard answers other calls.
	lockRetry = 2 * time.Millisecond
	// maxPostponed bounds the calls that wait: commands decide how many there are.
	maxPostponed = 64
)

// postponed are the calls that wait for a lock. The zero value is ready for use.
type postponed struct {
	calls []postponedCall
	next  time.Time // when they are decided about again
	until time.Time // of the call that is decided about again; zero: a new one
}

type postponedCall struct {
	notification
	until time.Time
}

// add postpones the call that is decided about. It reports whether it may wait any longer.
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

// retry decides about the calls that wait again, from their beginning: all that was read before may have changed.
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
