package shell

import (
	"context"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// process returns the asker's place in the process table. A program that a shell runs by itself gets one
// when it asks: most never do.
func (a *asker) process() *process {
	if a.p == nil { // It is on the shell's own goroutine.
		return a.sh.process()
	}
	if own := a.known(); own != nil {
		return own
	}
	m := a.sh.m
	q, err := m.newProcess(a.p.ctx, a.sh.p)
	if err != nil { // The table is full: it goes on under the shell's number.
		return a.sh.p
	}
	m.mu.Lock()
	if a.p.own == nil {
		a.p.own = q
		q.name = strings.Join(a.p.Args, " ")
		m.mu.Unlock()
		return q
	}
	own := a.p.own
	m.mu.Unlock()
	q.end(0) // Another goroutine was faster.
	return own
}

// known returns the place that the asker has already, nil if it has none.
func (a *asker) known() *process {
	switch {
	case a.p == nil && !a.sh.ownProcess:
		return nil
	case a.p == nil || a.sh.sole || a.sh.p.pid != a.sh.mainPID:
		return a.sh.p
	}
	a.sh.m.mu.Lock()
	defer a.sh.m.mu.Unlock()
	return a.p.own
}

// leave gives the program's place in the process table back.
func (p *Proc) leave(status int) {
	p.sh.m.mu.Lock()
	own := p.own
	p.sh.m.mu.Unlock()
	if own != nil {
		own.end(status)
	}
}

// isOwn tells whether a process of the table is the asker.
func (a *asker) isOwn(p *process) bool { return p == a.known() }

// opened returns what a process has open under a number; the caller gives the reference back.
func (a *asker) opened(p *process, fd int) (*description, error) {
	if a.isOwn(p) {
		d := a.sh.fds.get(fd)
		if a.p != nil && fd <= 2 {
			if s := a.p.streamOf(fd); s != nil {
				d = s.d
			}
		}
		if d == nil {
			return nil, syscall.ENOENT
		}
		return d.ref(), nil
	}
	if d := p.table.Load().take(fd); d != nil {
		return d, nil
	}
	return nil, syscall.ENOENT
}

// numbers lists what a process has open.
func (a *asker) numbers(p *process) []int {
	if !a.isOwn(p) {
		return p.table.Load().numbers()
	}
	var list []int
	for fd := range max(len(a.sh.fds.fds), 3) {
		if d, err := a.opened(p, fd); err == nil {
			d.unref()
			list = append(list, fd)
		}
	}
	return list
}

func (a *asker) listFds(p *process) ([]vfs.DirEntry, error) {
	var list []vfs.DirEntry
	for _, fd := range a.numbers(p) {
		number := strconv.Itoa(fd)
		at := procPath{name: strconv.Itoa(p.pid) + "/fd/" + number}
		list = append(list, vfs.DirEntry{Name: number, Mode: fs.ModeSymlink, Ino: at.ino()})
	}
	return list, nil
}

// fdLink describes the link that stands for a descriptor.
func (a *asker) fdLink(p *process, fd int) (fs.FileMode, string, error) {
	d, err := a.opened(p, fd)
	if err != nil {
		return 0, "", err
	}
	defer d.unref()
	mode := fs.ModeSymlink
	if d.mode&modeRead != 0 {
		mode |= 0o500
	}
	if d.mode&modeWrite != 0 {
		mode |= 0o300
	}
	return mode, d.shown(a.sh.m), nil
}

// shown is what the link of a description says.
func (d *description) shown(m *machine) string {
	if d.file != nil {
		switch at, gone := d.file.Path(); {
		case gone:
			return at + " (deleted)"
		case at != "":
			return at
		}
	}
	return "pipe:[" + strconv.FormatUint(d.number(m), 10) + "]"
}

// number is that of a pipe, or of what looks like one.
func (d *description) number(m *machine) uint64 {
	next := func() uint64 { return m.lastPipe.Add(1) + firstPipe }
	if d.file != nil {
		if n := d.file.Pipe(next); n != 0 {
			return n
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pipe == 0 {
		d.pipe = next()
	}
	return d.pipe
}

const firstPipe = 10000 // so that they do not look like other numbers

// statOpen is fstat(2): what is known of the description. A stream of the host looks like a pipe.
func (sh *interp) statOpen(d *description) (vfs.Info, error) {
	if d.file == nil && d.mode == 0 {
		return vfs.Info{}, syscall.EBADF
	}
	if d.file != nil {
		info, err := d.file.Stat()
		if info.Mode.Type() == fs.ModeNamedPipe && info.Ino == 0 {
			info.Ino = d.number(sh.m)
		}
		return info, err
	}
	now := sh.m.now()
	return vfs.Info{
		Name: "pipe", Ino: d.number(sh.m), Mode: fs.ModeNamedPipe | 0o600, Nlink: 1, UID: sh.cred.UID, GID: sh.cred.GID,
		Atime: now, Mtime: now, Ctime: now,
	}, nil
}

// reopen opens what a descriptor is open on, as opening /dev/fd/N does on Linux: a regular file afresh,
// with an offset of its own and if the process may; a pipe is the same pipe.
func (sh *interp) reopen(ctx context.Context, d *description, flag int) (*description, error) {
	need := uint8(modeRead)
	switch flag & (os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		need = modeWrite
	case os.O_RDWR:
		need = modeRead | modeWrite
	}
	piped := d.file == nil
	if !piped && !d.seek {
		info, err := d.file.Stat()
		piped = err == nil && info.Mode.Type() == fs.ModeNamedPipe
	}
	if piped && flag&syscall.O_DIRECTORY != 0 {
		return nil, syscall.ENOTDIR
	}
	if piped && need&^d.mode == 0 { // What was read too much of it is in the description.
		return d.ref(), nil
	}
	if d.file == nil {
		return nil, syscall.EACCES
	}
	f, err := d.file.Reopen(ctx, sh.cred, flag)
	if err != nil {
		return nil, err
	}
	return newFile(f, d.name), nil
}

// ownStream returns the descriptor that a path of /dev or /proc stands for, of which nothing has to
// be looked up. These names work in a tree without /dev, too.
func ownStream(path string) (fd int, ok bool) {
	switch path {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	number, ok := strings.CutPrefix(path, "/dev/fd/")
	if !ok {
		number, ok = strings.CutPrefix(path, "/proc/self/fd/")
	}
	if !ok {
		return 0, false
	}
	fd, err := strconv.Atoi(number)
	return fd, err == nil && fd >= 0 && strconv.Itoa(fd) == number
}

// shared is a description as a file of vfs is made of it.
type shared struct {
	*stdStream
}

// Close gives the reference back.
func (s shared) Close() error {
	s.d.unref()
	return nil
}

// open returns the description as a file of vfs, which shares its offset; the caller closes it.
func (d *description) open(ctx context.Context) (*vfs.File, error) {
	if d.file != nil {
		d.mu.Lock()
		ahead := len(d.ahead)
		d.mu.Unlock()
		if ahead == 0 {
			return d.file.Dup().WithContext(ctx), nil
		}
	}
	flag := os.O_RDONLY
	switch d.mode {
	case 0:
		return nil, syscall.EBADF
	case modeWrite:
		flag = os.O_WRONLY
	case modeRead | modeWrite:
		flag = os.O_RDWR
	}
	return vfs.NewStream(d.name, flag, shared{&stdStream{d: d.ref(), ctx: ctx}}), nil
}
