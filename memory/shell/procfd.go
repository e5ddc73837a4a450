package shell

import (
	"context"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// process returns the asker's place in the process table. A program that a shell runs by itself gets one
// when it asks: most never do.
func (a *asker) process() *process.Process {
	if a.p == nil { // It is on the shell's own goroutine.
		return a.sh.process()
	}
	if own := a.known(); own != nil {
		return own
	}
	m := a.sh.m
	q, err := m.table.Start(a.p.ctx, a.sh.p)
	if err != nil { // The table is full: it goes on under the shell's number.
		return a.sh.p
	}
	q.SetName(strings.Join(a.p.Args, " "))
	m.mu.Lock()
	if a.p.own == nil {
		a.p.own = q
		m.mu.Unlock()
		return q
	}
	own := a.p.own
	m.mu.Unlock()
	q.End(0) // Another goroutine was faster.
	return own
}

// known returns the place that the asker has already, nil if it has none.
func (a *asker) known() *process.Process {
	switch {
	case a.p == nil && !a.sh.ownProcess:
		return nil
	case a.p == nil || a.sh.sole || a.sh.p.PID != a.sh.mainPID:
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
		own.End(status)
	}
}

// isOwn tells whether a process of the table is the asker.
func (a *asker) isOwn(p *process.Process) bool { return p == a.known() }

// opened returns what a process has open under a number; the caller gives the reference back.
func (a *asker) opened(p *process.Process, n int) (*fd.Description, error) {
	if a.isOwn(p) {
		d := a.sh.fds.Get(n)
		if a.p != nil && n <= 2 {
			if s := a.p.streamOf(n); s != nil {
				d = s.Description
			}
		}
		if d == nil {
			return nil, syscall.ENOENT
		}
		return d.Ref(), nil
	}
	if d := p.Fds.Load().Take(n); d != nil {
		return d, nil
	}
	return nil, syscall.ENOENT
}

// numbers lists what a process has open.
func (a *asker) numbers(p *process.Process) []int {
	if !a.isOwn(p) {
		return p.Fds.Load().Numbers()
	}
	var list []int
	for fd := range max(a.sh.fds.Len(), 3) {
		if d, err := a.opened(p, fd); err == nil {
			d.Unref()
			list = append(list, fd)
		}
	}
	return list
}

func (a *asker) listFds(p *process.Process) ([]vfs.DirEntry, error) {
	var list []vfs.DirEntry
	for _, fd := range a.numbers(p) {
		number := strconv.Itoa(fd)
		at := procPath{name: strconv.Itoa(p.PID) + "/fd/" + number}
		list = append(list, vfs.DirEntry{Name: number, Mode: fs.ModeSymlink, Ino: at.ino()})
	}
	return list, nil
}

// fdLink describes the link that stands for a descriptor.
func (a *asker) fdLink(p *process.Process, n int) (fs.FileMode, string, error) {
	d, err := a.opened(p, n)
	if err != nil {
		return 0, "", err
	}
	defer d.Unref()
	mode := fs.ModeSymlink
	if d.Mode&fd.ModeRead != 0 {
		mode |= 0o500
	}
	if d.Mode&fd.ModeWrite != 0 {
		mode |= 0o300
	}
	return mode, d.Shown(a.sh.m.nextPipe), nil
}

// statOpen is fstat(2): what is known of the description. A stream of the host looks like a pipe.
func (sh *interp) statOpen(d *fd.Description) (vfs.Info, error) {
	if d.File == nil && d.Mode == 0 {
		return vfs.Info{}, syscall.EBADF
	}
	if d.File != nil {
		info, err := d.File.Stat()
		if info.Mode.Type() == fs.ModeNamedPipe && info.Ino == 0 {
			info.Ino = d.Number(sh.m.nextPipe)
		}
		return info, err
	}
	now := sh.m.now()
	return vfs.Info{
		Name: "pipe", Ino: d.Number(sh.m.nextPipe), Mode: fs.ModeNamedPipe | 0o600, Nlink: 1, UID: sh.cred.UID, GID: sh.cred.GID,
		Atime: now, Mtime: now, Ctime: now,
	}, nil
}

// reopen opens what a descriptor is open on, as opening /dev/fd/N does on Linux: a regular file afresh,
// with an offset of its own and if the process may; a pipe is the same pipe.
func (sh *interp) reopen(ctx context.Context, d *fd.Description, flag int) (*fd.Description, error) {
	need := uint8(fd.ModeRead)
	switch flag & (os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		need = fd.ModeWrite
	case os.O_RDWR:
		need = fd.ModeRead | fd.ModeWrite
	}
	piped := d.File == nil
	if !piped && !d.Seek {
		info, err := d.File.Stat()
		piped = err == nil && info.Mode.Type() == fs.ModeNamedPipe
	}
	if piped && flag&syscall.O_DIRECTORY != 0 {
		return nil, syscall.ENOTDIR
	}
	if piped && need&^d.Mode == 0 { // What was read too much of it is in the description.
		return d.Ref(), nil
	}
	if d.File == nil {
		return nil, syscall.EACCES
	}
	f, err := d.File.Reopen(ctx, sh.cred, flag)
	if err != nil {
		return nil, err
	}
	return fd.NewFile(f, d.Name), nil
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
