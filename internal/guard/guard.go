//go:build linux

package guard

import (
	"errors"
	"net/netip"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
)

// Guard answers the system calls that its seccomp program reports, until no process has the program any more. See
// docs/design/guard.md.
type Guard struct {
	o         Options
	listener  *Listener
	rules     *ruleset // made by Serve, while the sandbox is being built
	sweep     *sweeper // used by Serve alone
	callers   *callers // and these
	view      *view
	calls     sync.WaitGroup // connects under way
	sockets   sockets        // the sockets of these connects
	bound     boundNames     // paths of bound sockets; used by Serve alone
	made      madeSockets    // their files
	postponed postponed      // calls that wait for a lock; used by Serve alone
	statuses  statusFile     // of the last target; used by Serve alone
	threads   threads        // threads with known credentials; used by Serve alone
	own       int            // the directory of this process's descriptors in proc(5)
	fifos     fifos          // opens of FIFOs that wait
	ownFS     bool           // the threads that perform calls have their own umask
	umask     uint32         // the umask of this process, if they have not
	refusals  []Refusal      // refusals of the current call
	standing  bool           // Standing has returned true; used by Serve alone
	events    []Event        // that Serve watches
	ended     bool           // End was called
	sticky    sticky
}

// Options are a guard's rules and the functions that it calls.
type Options struct {
	Rules Rules
	// Standing reports whether the sandbox is complete; until then only the program that builds it makes calls. Nil: it
	// is complete. Serve calls it.
	Standing func() bool
	// First returns the PID of a process that has the sandbox's own mounts, for sandboxes in which commands can mount;
	// nil: they cannot. Serve calls it when the sandbox is complete.
	First func() int
	// Reported are the options of the commands' other program ([seccomp.Deny]), if that leaves calls to the guard's; else nil.
	Reported *seccomp.DenyOptions
	// Redirection is for TCP connections to addresses other than loopback; nil: they are not redirected.
	Redirection *Redirection
	// Refused is called for each refusal, also a repeated one, from several goroutines.
	Refused func(Refusal)
	// Appeared is called with a guarded name that exists in spite of the guard. Serve and Close call it.
	Appeared func(Appearance)
}

// Redirection redirects the TCP connections of a network to a proxy. Several goroutines call its functions.
type Redirection struct {
	Proxy netip.AddrPort // an IPv4 address of loopback
	// Network returns the cookie of the network (SO_NETNS_COOKIE in socket(7)), 0: any. Commands may have others of their own.
	Network func() uint64
	// Permit decides about a connection. Its error is what the command gets: a [unix.Errno], or else EACCES. expect is called with
	// the port of loopback from which the connection comes, and forget if that cannot be made.
	Permit func(to netip.AddrPort) (expect func(from uint16) (forget func()), err error)
}

// Event is a descriptor that Serve watches beside the listener.
type Event struct {
	FD    int
	Ready func() (more bool) // called when FD can be read; false: stop watching FD
}

// New makes a guard that is ready to serve a listener.
func New(o Options) *Guard {
	return &Guard{o: o, standing: o.Standing == nil, sweep: newSweeper(o.Rules.Names), callers: newCallers()}
}

// Program returns the seccomp program for the guard's commands on this architecture.
func (g *Guard) Program() (seccomp.Program, error) {
	return seccomp.Ask(runtime.GOARCH, seccomp.AskOptions{
		Removals: g.sweep.links || g.o.First != nil, Binds: true, Writes: true, Reads: g.o.Rules.Reads, Tuning: g.o.Rules.Inside,
		Refused: g.o.Reported,
	})
}

// Watch makes the guard look for appeared names in other directories than those of its rules: at returns the directory
// to look into instead. Call it before Serve.
func (g *Guard) Watch(at func(dir string) string) {
	for i, p := range g.sweep.places {
		g.sweep.places[i].dir = at(p.dir)
	}
}

// Serve answers the calls that the listener receives until an event calls [Guard.End]. Events may
// add further events. With a nil listener an event calls [Guard.Listen].
func (g *Guard) Serve(l *Listener, events ...Event) {
	g.listener, g.events = l, events
	runtime.LockOSThread() // never unlocked: the thread has an umask of its own, and ends with the goroutine
	g.separateUmask()
	g.sticky = readSticky()
	g.rules = newRuleset(g.o.Rules)
	if g.o.First != nil {
		g.view = newView(g.o.First, g.rules)
	}
	g.threads.never, g.threads.roots = g.o.First != nil, g.o.First == nil && !g.o.Rules.Inside
	if fd, err := unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		g.own = fd
	}
	g.callers.lasting = true
	defer g.callers.restore()
	var fds []unix.PollFd
	for !g.ended {
		g.retry()
		if g.sweep.isDue() { // also while calls keep coming
			g.callers.restore()
			g.inspect()
		}
		fds = append(fds[:0], unix.PollFd{Fd: g.listener.poll(), Events: unix.POLLIN})
		for _, e := range g.events {
			fds = append(fds, unix.PollFd{Fd: int32(e.FD), Events: unix.POLLIN})
		}
		n, err := unix.Poll(fds, g.wait())
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return
		case n == 0:
			continue // time to check the names, or to retry a call
		}
		if fds[0].Revents&unix.POLLIN != 0 {
			if n, ok, err := g.listener.receiveReady(); err == nil && ok {
				g.answer(n)
			}
		} else if fds[0].Revents != 0 {
			g.listener.deserted = true
		}
		for i := range fds[1:] {
			if fds[i+1].Revents == 0 {
				continue
			}
			g.callers.restore()
			if !g.events[i].Ready() {
				g.events[i].FD = -1
			}
		}
	}
}

// Add watches one more descriptor. Only events call it.
func (g *Guard) Add(e Event) { g.events = append(g.events, e) }

// Listen answers the calls that l receives, for a guard that has no listener yet. Only events call it.
func (g *Guard) Listen(l *Listener) { g.listener = l }

// End ends Serve. Only events call it.
func (g *Guard) End() { g.ended = true }

// Close frees everything after Serve has ended, when the sandbox's last process is gone. It is not needed if Serve was
// not called.
func (g *Guard) Close() {
	g.inspect() // no process is left that could create a name
	g.sockets.abort()
	g.calls.Wait()
	g.fifos.abort()
	g.made.close()
	g.callers.close()
	g.view.close()
	g.statuses.close()
	g.threads.close()
	if g.own > 0 {
		_ = unix.Close(g.own)
		g.own = 0
	}
	if g.listener != nil {
		_ = g.listener.Close() // last: connects under way answer through it
	}
}

// wait is the time-out for poll(2).
func (g *Guard) wait() int {
	names, calls := g.sweep.wait(), g.postponed.wait()
	if names < 0 || calls >= 0 && calls < names {
		return calls
	}
	return names
}

// answer decides one call.
func (g *Guard) answer(n notification) {
	if !g.standing {
		if g.standing = g.o.Standing(); !g.standing {
			g.listener.proceed(n.id)
			return
		}
		if g.view != nil {
			_ = g.view.open() // with the rights of the guard; without a view nothing is permitted
		}
	}
	if g.o.Reported != nil {
		if name := refusedCall(n); name != "" {
			g.callers.restore()
			if isPermittable(n) || unix.Geteuid() == 0 && !g.o.Rules.Inside {
				g.o.Refused(Refusal{Kind: RefusedCall, Op: "call", Target: name})
			}
			g.listener.refuse(n.id, unix.EPERM)
			return
		}
	}
	if tuning, own := g.tunes(n); own {
		g.listener.refuse(n.id, unix.EPERM)
		return
	} else if tuning {
		g.listener.proceed(n.id)
		return
	}
	call, known := entryCallOf(n.nr)
	if !known {
		g.listener.refuse(n.id, unix.ENOSYS)
		return
	}
	t := target{tid: int(n.pid), view: g.view, threads: &g.threads, own: g.own}
	g.threads.umasks.returned(t.tid)
	if call.op == opUmask {
		g.threads.umasks.report(t.tid, uint32(n.args[0]))
	}
	if call.op == opUmask || call.op == opExec {
		g.listener.proceed(n.id)
		return
	}
	if call.op == opConnect {
		t.threads = nil // only Serve uses them
		g.calls.Go(func() { g.connect(n, t) })
		return
	}
	seen := &reading{target: t}
	var err error
	switch call.op {
	case opBind:
		g.callers.restore()
		err = g.bind(n, t)
	case opPair:
		g.callers.restore()
		err = g.pair(n, t)
	case opSockName:
		err = g.name(n, t, unix.Getsockname)
	case opPeerName:
		err = g.name(n, t, unix.Getpeername)
	default:
		err = g.decideAs(n, seen, call)
	}
	if locked, ok := errors.AsType[lockedError](err); ok {
		if g.refusals = g.refusals[:0]; g.postponed.add(n) {
			return
		}
		err = g.deny(locked.op, locked.path, unix.EROFS)
	}
	g.report()
	var errno unix.Errno
	switch {
	case err == nil && !g.listener.valid(n.id):
	case err == nil && seen.changed():
		// An honest program does not change a path during its own system call.
		g.callers.restore()
		g.o.Refused(Refusal{Kind: RefusedPath, Op: call.op.String(), Target: "a path that changes while it is checked"})
		g.listener.refuse(n.id, unix.EPERM)
	case err == nil:
		g.sweep.touched()
		g.listener.proceed(n.id)
	case errors.Is(err, errUntouched):
		g.listener.proceed(n.id)
	case errors.Is(err, errPerformed):
		g.listener.finish(n.id)
	case errors.Is(err, errAnswered):
	case errors.As(err, &errno):
		g.listener.refuse(n.id, errno)
	default:
		g.listener.refuse(n.id, unix.EACCES)
	}
}

// decideAs decides about a call, and performs it if it makes an entry. It does both with the credentials of the target:
// a guard with more rights must not use them for paths that a command names.
func (g *Guard) decideAs(n notification, t *reading, call entryCall) error {
	how := openFlags(n, call)
	switch {
	case call.how:
		return unix.ENOSYS // its flags are in memory, where they can change
	case call.op == opOpen && !how.creates():
		g.callers.restore()
		return g.observeOpen(n, t.target, call, how)
	case call.op == opOpen && how&unix.O_DIRECTORY != 0:
		return unix.EINVAL
	}
	c, err := g.threads.credentials(&t.target, &g.statuses, g.callers.restore)
	if err != nil {
		return err
	}
	return g.callers.run(c, func() error { return g.decide(n, t, c, call) })
}

// report reports the refusals of the current call.
func (g *Guard) report() {
	if len(g.refusals) > 0 {
		g.callers.restore()
	}
	for _, r := range g.refusals {
		g.o.Refused(r)
	}
	g.refusals = g.refusals[:0]
}

// decide returns nil to let the kernel go on, or the error number to return.
func (g *Guard) decide(n notification, t *reading, c credentials, call entryCall) error {
	how := openFlags(n, call)
	path, err := t.path(n.args[call.path])
	if err != nil {
		return errnoOf(err)
	}
	e, err := t.entry(dirOf(n, call.dir), path)
	if err != nil {
		return err
	}
	defer func() { e.close() }()
	if call.op == opOpen && how.follows() {
		t.sticky, t.uid = g.sticky, c.uid
		if e, err = t.followLast(e); err != nil {
			return err
		}
	}
	g.observeEntry(call.op, how, e)
	unlock, err := g.lockPart(call.op, e)
	if err != nil {
		return err
	}
	defer unlock()
	if call.op == opOpen && how&unix.O_EXCL == 0 {
		e.look()
	}
	switch {
	case call.op == opRename:
		return g.decideRename(n, t, call, e)
	case call.op == opOpen:
		if err := g.decideEntry(call.op, e); err != nil {
			return err
		}
		if how.writes() && g.hasLostMount(e) {
			return unix.EROFS // observeEntry has reported it
		}
		return g.performOpen(n, t.target, c, how, uint32(n.args[call.mode]), e)
	case call.op != opRemove:
		if err := g.decideEntry(call.op, e); err != nil {
			return err
		}
		return g.perform(n, t, c, call, e)
	}
	return g.decideRemoval(n, call, e)
}

// decideRemoval decides about unlink(2) and rmdir(2). A command that can mount may be in another mount namespace and
// still have a directory of the sandbox's namespace open. In the command's namespace no name in that directory is a
// mount point. So the kernel would remove the name and, with it, the mounts on it in all namespaces
// (mount_namespaces(7)). Therefore the guard removes entries for such commands.
func (g *Guard) decideRemoval(n notification, call entryCall, e entry) error {
	switch {
	case g.rules.guarded(e.path, e.name) != nil:
		return g.deny(call.op, e.String(), unix.EROFS)
	case g.view == nil || e.name == "":
		return nil // the kernel refuses "/", "." and ".."
	case g.rules.mounted[e.String()], g.rules.anchored(e.String()):
		return g.deny(call.op, e.String(), unix.EBUSY)
	case !g.view.permits(e.dir, e.path):
		return g.deny(call.op, e.String(), unix.EROFS) // no rule says what it is
	case !g.listener.valid(n.id):
		return unix.ESRCH
	}
	flags := 0
	if call.rmdir {
		flags = unix.AT_REMOVEDIR
	} else if call.flags >= 0 {
		flags = int(int32(n.args[call.flags]))
	}
	return markPerformed(unix.Unlinkat(e.dir, e.component(), flags))
}

// decideEntry decides about an entry that a call would create. For an open without O_EXCL the caller has called e.look.
func (g *Guard) decideEntry(op entryOp, e entry) error {
	switch {
	case e.name == "" && op == opOpen:
		return unix.EISDIR
	case e.name == "":
		return op.exists()
	case g.rules.guarded(e.path, e.name) != nil:
		return g.deny(op, e.String(), unix.EROFS)
	case op == opOpen && e.exists:
		return nil // the call creates nothing
	case g.permitsNew(op, e):
		return nil // if the entry exists, the kernel returns the error
	}
	if op == opOpen || op.onlyMakes() {
		if e.look(); e.exists { // "mkdir -p" and "ln" expect this error
			return op.exists()
		}
	}
	return g.deny(op, e.String(), unix.EROFS)
}

// permitsNew reports whether the rules permit the creation of e. Its name is not guarded.
func (g *Guard) permitsNew(op entryOp, e entry) bool {
	switch {
	case !g.view.permits(e.dir, e.path):
		return false // no rule says what it is
	case g.hasLostMount(e):
		return false
	case (op == opSymlink || op == opLink) && g.rules.above[e.String()]:
		// A link on the way to a guarded path would put its target there. A hard link to a symbolic link is one, too.
		return false
	}
	return !g.makesRepo(e) && !g.rules.nestedRefused(e.String())
}

func (g *Guard) decideRename(n notification, t *reading, call entryCall, to entry) error {
	path, err := t.path(n.args[call.oldPath])
	if err != nil {
		return errnoOf(err)
	}
	from, err := t.entry(dirOf(n, call.oldDir), path)
	if err != nil {
		return err
	}
	defer from.close()
	flags := uint(0)
	if call.flags >= 0 {
		flags = uint(n.args[call.flags])
	}
	if flags == 0 && g.isRewrite(n.pid, from, to) {
		if !g.listener.valid(n.id) {
			return unix.ESRCH
		}
		return markPerformed(unix.Unlinkat(from.dir, from.component(), 0))
	}
	err = g.decideMove(from, to)
	if err == nil && flags&unix.RENAME_EXCHANGE != 0 {
		if !isSameFile(from.dir, to.dir) {
			unlock, err := g.lockPart(opRename, from)
			if err != nil {
				return err
			}
			defer unlock()
		}
		err = g.decideMove(to, from)
	}
	if err != nil {
		return err
	}
	if !g.listener.valid(n.id) {
		return unix.ESRCH
	}
	return markPerformed(unix.Renameat2(from.dir, from.component(), to.dir, to.component(), flags))
}

// decideMove decides about a rename of from to to.
func (g *Guard) decideMove(from, to entry) error {
	switch {
	case from.name == "" || to.name == "":
		return unix.EBUSY // "/", "." or ".."
	case g.rules.anchored(from.String()), g.rules.mounted[from.String()], g.rules.mounted[to.String()]:
		// The kernel protects the mount points of the caller's mount namespace only. For a call that
		// the guard performs, that is the guard's namespace.
		return g.deny(opRename, from.String(), unix.EBUSY)
	case g.rules.guarded(from.path, from.name) != nil, g.hasLostMount(from):
		return g.deny(opRename, from.String(), unix.EROFS)
	}
	if err := g.decideEntry(opRename, to); err != nil {
		return err
	}
	if !g.view.permits(from.dir, from.path) {
		return g.deny(opRename, from.String(), unix.EXDEV)
	}
	if !g.rules.nested.Covers(from.String()) && g.rules.nested.Covers(to.path) && canBeDirectory(from) {
		return g.deny(opRename, from.String(), unix.EXDEV) // the directory can contain names that are refused at the new place
	}
	if !g.rules.above[to.String()] {
		return nil
	}
	// The content of from may change before the kernel moves it. With this error mv(1) copies
	// instead, and the guard checks each entry.
	return g.deny(opRename, to.String(), unix.EXDEV)
}

// Inspect reports guarded names that have appeared. Only events call it.
func (g *Guard) Inspect() { g.inspect() }

// inspect reports guarded names that have appeared.
func (g *Guard) inspect() {
	for _, a := range g.sweep.look() {
		g.o.Appeared(a)
		a.close()
	}
}

func (g *Guard) deny(op entryOp, path string, errno unix.Errno) error {
	if op == opConnect { // connects run concurrently with Serve
		g.o.Refused(Refusal{Kind: RefusedSocket, Op: op.String(), Target: path})
		return errno
	}
	g.sweep.refused(path)
	g.refusals = append(g.refusals, Refusal{Kind: RefusedPath, Op: op.String(), Target: path})
	return errno
}

// errUntouched means that a call creates no entry, so that no race about one is possible.
var errUntouched = errors.New("untouched")

// openHow are the flags of open(2).
type openHow uint64

// creates reports whether the call may create a file. With O_PATH the kernel ignores O_CREAT (open(2)).
func (h openHow) creates() bool { return h&unix.O_CREAT != 0 && h&unix.O_PATH == 0 }

func (h openHow) writes() bool { return h&(unix.O_ACCMODE|unix.O_TRUNC) != 0 }

// follows reports whether a symbolic link in the last component is followed.
func (h openHow) follows() bool { return h&(unix.O_NOFOLLOW|unix.O_EXCL) == 0 }

// openFlags returns the flags of open, openat or creat.
func openFlags(n notification, call entryCall) openHow {
	if call.flags >= 0 {
		return openHow(uint32(n.args[call.flags]))
	}
	return unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC
}

// followLast follows symbolic links in the last component, to where open with
// O_CREAT would create a file.
func (t target) followLast(e entry) (entry, error) {
	for range maxLinks {
		if e.name == "" || e.proc {
			return e, nil // entries of /proc exist already
		}
		if e.look(); e.kind != unix.S_IFLNK {
			return e, nil // this is the place
		}
		if t.sticky.refusesFollow(e, t.uid) {
			return e, unix.EACCES
		}
		text, err := readlinkat(e.dir, e.name)
		if err != nil {
			return e, nil //nolint:nilerr // not a link, or not there: this is the place
		}
		if !strings.HasPrefix(text, "/") {
			text = e.path + "/" + text
		}
		e.close()
		if e, err = t.entryIn(text); err != nil {
			return e, err
		}
	}
	return e, unix.ELOOP
}

// dirOf is the directory descriptor argument at position i, which the kernel
// takes as a 32-bit number.
func dirOf(n notification, i int) int {
	if i < 0 {
		return unix.AT_FDCWD
	}
	return int(int32(n.args[i]))
}

// canBeDirectory reports whether e is a directory or cannot be examined: a command that removes the permission to
// examine it can restore the permission at once.
func canBeDirectory(e entry) bool {
	var st unix.Stat_t
	err := unix.Fstatat(e.dir, e.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR || err != nil && !errors.Is(err, unix.ENOENT)
}

func existsAt(dir int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}
