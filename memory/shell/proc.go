package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/errno"
	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Proc is a command while it runs: its arguments, its streams and the machine that
// it sees. It belongs to one goroutine; a command that starts more must wait for
// them, and only the streams, FS and Context may be used from those.
type Proc struct {
	Args   []string  // Args[0] is the name it was called by; never empty
	Stdin  io.Reader // never nil; unbuffered; what is not read stays for the next reader
	Stdout io.Writer // never nil; unbuffered
	Stderr io.Writer // never nil; unbuffered

	sh       *interp
	as       asker
	own      *process.Process    // its entry in the process table, created on demand; under m.mu
	command  *Command            // nil: none that is registered
	replaced *builtin            // the builtin that command replaces; nil: it was called as a program
	declArgs map[int]*assignCode // of replaced
	env      []string            // own environment; nil: the exported variables of sh
	ctx      context.Context     //nolint:containedctx // A process has one, as it has a directory.
	gas      int
	rng      *rand.Rand

	held, reserved int // memory: reserved by the command, and taken from the machine
}

// ErrFuel is the error of work that goes beyond the limit; the whole run ends with it.
var ErrFuel = errors.New("limit of work reached")

// Name returns the command's name in messages: the last element of Args[0].
func (p *Proc) Name() string {
	name := p.Args[0]
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[i+1:]
		}
	}
	return name
}

// Context ends when the process is killed, its machine stops, or its time is over.
func (p *Proc) Context() context.Context { return p.ctx }

// Spend takes n units of fuel: one is about a line, 64 bytes or a turn of a loop. An
// error means that the process has to end now: return p.Status(err). It is cheap
// enough for inner loops.
func (p *Proc) Spend(n int) error {
	if p.gas -= n; p.gas >= 0 {
		return nil
	}
	need := -p.gas
	p.gas = 0
	p.sh.m.gate.Pass(p.ctx)
	if err := p.ctx.Err(); err != nil {
		return context.Cause(p.ctx)
	}
	if err := p.sh.m.takeFuel(need + fuelBatch); err != nil {
		return err
	}
	p.gas = fuelBatch
	return nil
}

// Sleep waits for a time, not counting the time in which the machine is frozen, or until done, which may be nil, is closed. False: done
// was closed, or the process ends.
func (p *Proc) Sleep(d time.Duration, done <-chan struct{}) bool {
	return p.sh.m.gate.Sleep(p.ctx, d, done)
}

// fuelBatch is the fuel that a process takes from its machine at once. It bounds how long
// a process goes on after its context has ended.
const fuelBatch = 1024

// Status returns the exit status for an error that ends a command: 141 for a pipe that
// no process reads, 128+n when signal n ended the process, otherwise 1.
func (p *Proc) Status(err error) int {
	if s := process.KillSignal(err); s != 0 {
		return 128 + int(s)
	}
	if p.ctx.Err() != nil || errors.Is(err, ErrFuel) {
		if s := process.KillSignal(context.Cause(p.ctx)); s != 0 {
			return 128 + int(s)
		}
		return 128 + int(syscall.SIGKILL)
	}
	if Errno(err) == syscall.EPIPE {
		return 128 + int(syscall.SIGPIPE)
	}
	return 1
}

// WriteFailed returns the exit status after a failed write to Stdout. It writes a message unless the error is a pipe without
// readers or the end of the process.
func (p *Proc) WriteFailed(err error) int {
	status := p.Status(err)
	if status == 1 {
		p.Warn("write error: %s", Strerror(err))
	}
	return status
}

// FS returns the file system. Paths for it are absolute: see Abs.
func (p *Proc) FS() *vfs.FS { return p.sh.m.fs }

// Cred returns the user and groups whose rights the process has.
func (p *Proc) Cred() vfs.Cred {
	c := p.sh.cred
	c.Proc = &p.as
	return c
}

// Dir returns the absolute path of the working directory.
func (p *Proc) Dir() string { return p.sh.dir }

// Umask returns the permissions that new files do not get.
func (p *Proc) Umask() fs.FileMode { return p.sh.umask }

// Now returns the machine's time, which may be frozen or shifted.
func (p *Proc) Now() time.Time { return p.sh.m.now() }

// Rand returns the process's source of random numbers; with a fixed seed of the
// machine it is the same in each run.
func (p *Proc) Rand() *rand.Rand {
	if p.rng == nil {
		p.rng = p.sh.m.newRand()
	}
	return p.rng
}

// Commands returns the programs of the machine, sorted by name.
func (p *Proc) Commands() []*Command { return p.sh.m.list() }

// LookupEnv returns the variable of the process's environment, and whether it is there.
func (p *Proc) LookupEnv(name string) (string, bool) {
	if p.env == nil {
		return p.sh.lookupEnv(name)
	}
	// The last of several wins, as a shell that imports them takes them.
	for _, v := range slices.Backward(p.env) {
		if k, v, ok := strings.Cut(v, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// Getenv returns the variable of the process's environment; "" when it is not there.
func (p *Proc) Getenv(name string) string {
	v, _ := p.LookupEnv(name)
	return v
}

// Environ returns the environment as "NAME=value"; the slice is the caller's.
func (p *Proc) Environ() []string {
	if p.env == nil {
		return p.sh.environ()
	}
	return append([]string(nil), p.env...)
}

// Abs returns the path as seen from the root. It is not cleaned: ".." after a link
// leads where the link does. "" stays "", which names nothing.
func (p *Proc) Abs(path string) string { return p.sh.abs(path) }

// Open opens a file for reading.
func (p *Proc) Open(path string) (*vfs.File, error) { return p.OpenFile(path, os.O_RDONLY, 0) }

// Create opens a file for writing, made or emptied, with mode 0666 before umask.
func (p *Proc) Create(path string) (*vfs.File, error) {
	return p.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile opens a file with the flags of package os, relative to Dir, with the process's
// rights; perm is before umask. "/dev/stdin", "/dev/stdout", "/dev/stderr" and "/dev/fd/N"
// are the open files of the process, as on Linux: a regular file is opened afresh, a pipe is the same
// pipe. The caller closes it.
func (p *Proc) OpenFile(path string, flag int, perm fs.FileMode) (*vfs.File, error) {
	if fd, ok := ownStream(path); ok {
		s := p.streamOf(fd)
		if s == nil || s.Description == nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
		}
		d, err := p.sh.reopen(p.ctx, s.Description, flag)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		defer d.Unref()
		return d.Open(p.ctx)
	}
	f, err := p.sh.m.fs.OpenFile(p.ctx, p.Cred(), p.Abs(path), flag, perm&^p.sh.umask)
	if err != nil {
		return nil, err
	}
	return f.WithContext(p.ctx), nil
}

// Stream returns a descriptor of the process as a file that shares its offset, unlike the one that Open
// makes of "/dev/stdin". The caller closes it.
func (p *Proc) Stream(fd int) (*vfs.File, error) {
	if s := p.streamOf(fd); s != nil {
		return s.Open(p.ctx)
	}
	return nil, &fs.PathError{Op: "open", Path: "/dev/fd/" + strconv.Itoa(fd), Err: syscall.ENXIO}
}

// streamOf returns the stream of a descriptor; nil for one that is a test's.
func (p *Proc) streamOf(n int) *fd.Stream {
	var stream any
	switch n {
	case 0:
		stream = p.Stdin
	case 1:
		stream = p.Stdout
	case 2:
		stream = p.Stderr
	default:
		stream = p.sh.stream(p.ctx, n)
	}
	s, _ := stream.(*fd.Stream)
	return s
}

// Stat describes a file; a link is followed. It also accepts the standard streams,
// and nothing of them is read.
func (p *Proc) Stat(path string) (vfs.Info, error) {
	if fd, ok := ownStream(path); ok {
		s := p.streamOf(fd)
		if s == nil || s.Description == nil {
			return vfs.Info{}, &fs.PathError{Op: "stat", Path: path, Err: syscall.ENOENT}
		}
		return p.sh.statOpen(s.Description)
	}
	return p.sh.m.fs.Stat(p.Cred(), p.Abs(path))
}

// Lstat is Stat of a link itself.
func (p *Proc) Lstat(path string) (vfs.Info, error) { return p.sh.m.fs.Lstat(p.Cred(), p.Abs(path)) }

// Readlink returns the target of a link.
func (p *Proc) Readlink(path string) (string, error) {
	return p.sh.m.fs.Readlink(p.Cred(), p.Abs(path))
}

// Realpath returns the absolute path without links, "." and "..".
func (p *Proc) Realpath(path string) (string, error) {
	return p.sh.m.fs.Realpath(p.Cred(), p.Abs(path))
}

// ReadDir returns a directory's entries sorted by name, without "." and "..".
func (p *Proc) ReadDir(path string) ([]vfs.DirEntry, error) {
	return p.sh.m.fs.ReadDir(p.Cred(), p.Abs(path))
}

// Mkdir makes a directory; perm is before umask.
func (p *Proc) Mkdir(path string, perm fs.FileMode) error {
	return p.sh.m.fs.Mkdir(p.Cred(), p.Abs(path), perm&^p.sh.umask)
}

// Mkfifo makes a named pipe; perm is before umask.
func (p *Proc) Mkfifo(path string, perm fs.FileMode) error {
	return p.sh.m.fs.Mkfifo(p.Cred(), p.Abs(path), perm&^p.sh.umask)
}

// Symlink makes path a link with the target.
func (p *Proc) Symlink(target, path string) error {
	return p.sh.m.fs.Symlink(p.Cred(), target, p.Abs(path))
}

// Link gives the file old the further name path.
func (p *Proc) Link(old, path string) error {
	return p.sh.m.fs.Link(p.Cred(), p.Abs(old), p.Abs(path))
}

// Rename moves old to path and replaces an existing file, as rename(2) does.
func (p *Proc) Rename(old, path string) error {
	return p.sh.m.fs.Rename(p.Cred(), p.Abs(old), p.Abs(path))
}

// Unlink removes a name that is not a directory.
func (p *Proc) Unlink(path string) error { return p.sh.m.fs.Unlink(p.Cred(), p.Abs(path)) }

// Rmdir removes an empty directory.
func (p *Proc) Rmdir(path string) error { return p.sh.m.fs.Rmdir(p.Cred(), p.Abs(path)) }

// RemoveAll removes path and all below it; a missing path is not an error.
func (p *Proc) RemoveAll(path string) error { return p.sh.m.fs.RemoveAll(p.Cred(), p.Abs(path)) }

// Chmod changes permissions; links are followed.
func (p *Proc) Chmod(path string, mode fs.FileMode) error {
	return p.sh.m.fs.Chmod(p.Cred(), p.Abs(path), mode)
}

// Chown changes the owner and group; follow says whether a link is followed.
func (p *Proc) Chown(path string, uid, gid uint32, follow bool) error {
	return p.sh.m.fs.Chown(p.Cred(), p.Abs(path), uid, gid, follow)
}

// Chtimes changes the times of access and modification.
func (p *Proc) Chtimes(path string, atime, mtime time.Time, follow bool) error {
	return p.sh.m.fs.Chtimes(p.Cred(), p.Abs(path), atime, mtime, follow)
}

// Truncate cuts or extends a file to size bytes.
func (p *Proc) Truncate(path string, size int64) error {
	return p.sh.m.fs.Truncate(p.Cred(), p.Abs(path), size)
}

// Access checks, as access(2) does, whether the process may read (4), write (2), execute (1) the file.
func (p *Proc) Access(path string, mask int) error {
	return p.sh.m.fs.Access(p.Cred(), p.Abs(path), uint32(mask))
}

// Warn writes "NAME: text" and a newline to Stderr.
func (p *Proc) Warn(format string, args ...any) {
	// One write, so that lines of processes that share a stream stay whole.
	_, _ = fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name(), fmt.Sprintf(format, args...))
}

// Error writes the message of GNU's error(3) about a file: "NAME: PATH: No such file or directory".
func (p *Proc) Error(path string, err error) {
	p.Warn("%s: %s", QuoteIfNeeded(path), Strerror(err))
}

// Errorf writes what failed, then why:
// p.Errorf(err, "cannot access %s", Quote(path)) is "NAME: cannot access 'x': No such file or directory".
func (p *Proc) Errorf(err error, format string, args ...any) {
	p.Warn("%s: %s", fmt.Sprintf(format, args...), Strerror(err))
}

// Quote returns s as GNU's messages show a name: always in quotes, and with what cannot be
// printed as a shell would have to be given it.
func Quote(s string) string {
	if strings.Contains(s, "'") && isPlainInDoubleQuotes(s) {
		return `"` + s + `"`
	}
	var b strings.Builder
	b.WriteByte('\'')
	escaping := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if isUnprintable(r, n) {
			if !escaping {
				b.WriteString("'$'")
			}
			escaping = true
			for _, c := range []byte(s[i : i+n]) {
				b.WriteString(escapeByte(c))
			}
			i += n
			continue
		}
		if escaping {
			b.WriteString("''")
			escaping = false
		}
		if r == '\'' {
			b.WriteString(`'\''`)
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

// QuoteIfNeeded returns s as it is when a shell would read it back unchanged and no
// colon could be taken for the message's, and Quote(s) otherwise.
func QuoteIfNeeded(s string) string {
	if s == "" || s == "{" || s == "}" || s[0] == '#' || s[0] == '~' || strings.ContainsAny(s, " !\"$&()*:;<=>?[^`|'\\") {
		return Quote(s)
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if isUnprintable(r, n) {
			return Quote(s)
		}
		i += n
	}
	return s
}

// isUnprintable reports whether a character of n bytes cannot be shown.
func isUnprintable(r rune, n int) bool { return r == utf8.RuneError && n <= 1 || !unicode.IsPrint(r) }

// isPlainInDoubleQuotes reports whether s stands for itself between double quotes, in a
// shell and in C.
func isPlainInDoubleQuotes(s string) bool {
	if strings.ContainsAny(s, "!\"$&()*;<=>?[^`|\\{}") || strings.ContainsAny(s[1:], "#~") {
		return false
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if isUnprintable(r, n) {
			return false
		}
		i += n
	}
	return true
}

func escapeByte(c byte) string {
	if i := strings.IndexByte("\a\b\t\n\v\f\r", c); i >= 0 {
		return `\` + "abtnvfr"[i:i+1]
	}
	return fmt.Sprintf(`\%03o`, c)
}

// Errno returns the error number inside err: that of a syscall.Errno, or of the
// io/fs sentinel that err is. It is 0 when there is none.
func Errno(err error) syscall.Errno { return errno.Of(err) }

// Strerror returns the GNU C library's text for the error inside err, without the
// operation and path that Go puts around it. An error without a number is its own text.
func Strerror(err error) string { return errno.Text(err) }

// memoryBatch is the number of bytes that a process takes from its machine at once.
const memoryBatch = 1 << 16

// Reserve counts n bytes that a command is about to hold, and Release counts them
// back; the rest is released when the command ends. ENOMEM means that the machine
// has not as many: nothing was reserved, and the command should give up with a message
// (GNU's is "memory exhausted"). A command reserves memory that grows with its input and stays:
// lines to sort, a table of keys. Buffers of fixed size need not be reserved. It is cheap
// enough for each line. Like Spend it is for the command's own goroutine only.
func (p *Proc) Reserve(n int) error {
	p.held += n
	if p.held <= p.reserved {
		return nil
	}
	more := p.held - p.reserved
	if batch := more + memoryBatch; p.sh.m.tryTake(batch) {
		p.reserved += batch
	} else if p.sh.m.take(more) {
		p.reserved += more
	} else {
		p.held -= n
		return syscall.ENOMEM
	}
	return nil
}

// Release counts back n bytes of those reserved.
func (p *Proc) Release(n int) {
	p.held = max(p.held-n, 0)
	if spare := p.reserved - p.held; spare > 2*memoryBatch {
		p.sh.m.take(memoryBatch - spare)
		p.reserved = p.held + memoryBatch
	}
}

// Memory returns how many bytes the machine has counted, those of p among them, and its limit.
func (p *Proc) Memory() (used, limit int64) { return p.sh.m.bytes.Load(), p.sh.m.most.Load() }

// releaseAll releases the command's remaining reservation.
func (p *Proc) releaseAll() {
	p.sh.m.take(-p.reserved)
	p.held, p.reserved = 0, 0
}
