package shell

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// redirCode is a compiled redirection.
type redirCode struct {
	op     string
	fd     int
	name   string // {name}
	target *word
	line   int
}

// descriptors holds the open descriptors of the process, and those that redirections have replaced.
type descriptors struct {
	processState

	fds  *fd.Table
	undo []undoFd // what undoRedirs brings back, the oldest first
}

// undoAll drops descriptors that redirections still hold aside.
func (t *descriptors) undoAll() {
	for _, u := range t.undo {
		if u.d != nil {
			u.d.Unref()
		}
	}
	t.undo = nil
}

// keepMoved lets undoRedirs bring back what n>&m- has closed too: a program has closed it for itself.
func (t *descriptors) keepMoved(n int) {
	for i := n; i < len(t.undo); i++ {
		t.undo[i].moved = false
	}
}

// stream returns a view of the descriptor.
func (t *descriptors) stream(ctx context.Context, n int) *fd.Stream {
	return fd.NewStream(ctx, t.fds.Get(n))
}

// undoFd is the state of a descriptor before a redirection.
type undoFd struct {
	fd int
	d  *fd.Description // nil: closed; the reference is held
	// n>&m- closes m, and bash leaves it closed after what it runs itself.
	moved bool
	// The descriptor is that of a process substitution, which ends with its command.
	subst bool
}

func (c *compiler) redirs(list []*syntax.Redir) []*redirCode {
	var out []*redirCode
	for _, r := range list {
		x := &redirCode{op: r.Op, fd: r.Fd, name: r.Var, line: r.Line}
		kind := wordArg
		if r.Op == "<<<" {
			kind = wordTilde
		}
		if r.Op == "<<" || r.Op == "<<-" {
			kind = wordText
		}
		x.target = c.word(r.Target, kind)
		out = append(out, x)
	}
	return out
}

// redirect makes the redirections; what was there is put on undo. False: one failed, and
// the message is written.
func (sh *interp) redirect(list []*redirCode) bool {
	for _, r := range list {
		if !sh.tick() || !sh.hold(redirWeight) || !r.run(sh) {
			return false
		}
	}
	return true
}

// redirWeight is about how many bytes an open file takes with the entry that brings back what was there.
const redirWeight = 512

// undoRedirs brings back descriptors changed since there were n entries.
func (t *descriptors) undoRedirs(n int) {
	for len(t.undo) > n {
		u := t.undo[len(t.undo)-1]
		t.undo[len(t.undo)-1] = undoFd{}
		t.undo = t.undo[:len(t.undo)-1]
		// Putting back what was there cannot fail: the number was fine before.
		if u.moved {
			u.d.Unref()
			continue
		}
		_ = t.setFd(u.fd, u.d)
	}
}

// keepRedirs makes the changes since n entries stay: exec.
func (t *descriptors) keepRedirs(n int) {
	kept := t.undo[n:]
	t.undo = t.undo[:n:n]
	for _, u := range kept {
		if u.subst {
			_ = t.setFd(u.fd, u.d) // The number was fine before.
		} else if u.d != nil {
			u.d.Unref()
		}
	}
}

// replaceFd sets a descriptor and remembers what it was.
func (t *descriptors) replaceFd(fd int, d *fd.Description) error {
	if fd >= t.maxFiles() || fd < 0 {
		if d != nil {
			d.Unref()
		}
		return syscall.EBADF
	}
	old := t.fds.Get(fd)
	if old != nil {
		old.Ref()
	}
	t.undo = append(t.undo, undoFd{fd: fd, d: old}) // bounded: redirect has charged for each redirection
	return t.setFd(fd, d)
}

func (r *redirCode) run(sh *interp) bool {
	switch r.op {
	case "<<", "<<-", "<<<":
		return r.here(sh)
	case "<&", ">&":
		return r.duplicate(sh)
	}
	path, ok := r.path(sh)
	if !ok {
		return false
	}
	flag := os.O_RDONLY
	if r.op != "<" && !r.allowed(sh, path) {
		return false
	}
	switch r.op {
	case ">", ">|", "&>":
		flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if r.op != ">|" && sh.opt&option.NoClobber != 0 {
			if !sh.canClobber(path) {
				sh.errorf("%s: cannot overwrite existing file", path)
				return false
			}
		}
	case ">>", "&>>":
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	case "<>":
		flag = os.O_RDWR | os.O_CREATE
	}
	d, err := sh.openFile(path, flag)
	if err != nil {
		if sh.ctx.Err() == nil {
			sh.errorf("%s: %s", path, Strerror(err))
		}
		return false
	}
	if strings.HasPrefix(r.op, "&>") {
		d.Ref()
		return r.set(sh, 1, d) && r.set(sh, 2, d)
	}
	return r.set(sh, r.number(), d)
}

// allowed reports whether the shell may write to files at all.
func (r *redirCode) allowed(sh *interp, path string) bool {
	if !sh.isRestricted() {
		return true
	}
	if r.name != "" {
		path = r.name
	}
	sh.errorf("%s: restricted: cannot redirect output", path)
	return false
}

// path expands the target to exactly one name.
func (r *redirCode) path(sh *interp) (string, bool) {
	base := len(sh.stack)
	if sh.opt&option.Posix != 0 && sh.opt&option.Interactive == 0 {
		s := sh.str(r.target)
		return s, sh.ctl == ctlNone
	}
	sh.fields(r.target)
	list := sh.stack[base:]
	defer sh.pop(base)
	if sh.ctl != ctlNone {
		return "", false
	}
	if len(list) != 1 {
		sh.errorf("%s: ambiguous redirect", r.target.text)
		return "", false
	}
	return list[0], true
}

// canClobber reports whether set -C lets the file be written: it is new, or not a regular file.
func (s *processState) canClobber(path string) bool {
	info, err := s.m.fs.Stat(s.cred, s.abs(path))
	return err != nil || !info.Mode.IsRegular()
}

// number is the descriptor when none is given.
func (r *redirCode) number() int {
	if r.fd >= 0 {
		return r.fd
	}
	if r.op[0] == '<' {
		return 0
	}
	return 1
}

// set puts d at the descriptor, or at a free one whose number goes to the variable.
func (r *redirCode) set(sh *interp, fd int, d *fd.Description) bool {
	if r.name != "" {
		return r.setVar(sh, d)
	}
	if err := sh.replaceFd(fd, d); err != nil {
		sh.errorf("%d: %s", fd, Strerror(err))
		return false
	}
	return true
}

func (r *redirCode) setVar(sh *interp, d *fd.Description) bool {
	fd, err := sh.freeFd(10)
	if err != nil {
		d.Unref()
		sh.errorf("redirection error: cannot duplicate fd: %s", Strerror(err))
		return false
	}
	if !sh.assignNamed(r.name, strconv.Itoa(fd)) {
		d.Unref()
		sh.errorf("%s: cannot assign fd to variable", r.name)
		return false
	}
	if sh.shopt&shopt.VarRedirClose != 0 {
		return sh.replaceFd(fd, d) == nil
	}
	return sh.setFd(fd, d) == nil
}

// duplicate is n>&m, n>&-, n>&m- and the old way to write &>.
func (r *redirCode) duplicate(sh *interp) bool {
	s, ok := r.path(sh)
	if !ok {
		return false
	}
	if s == "-" {
		return r.close(sh)
	}
	move := strings.HasSuffix(s, "-")
	from, err := strconv.Atoi(strings.TrimSuffix(s, "-"))
	if err != nil || from < 0 {
		if r.op == ">&" && r.fd < 0 && r.name == "" {
			if !r.allowed(sh, s) {
				return false
			}
			d, err := sh.openFile(s, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
			if err != nil {
				sh.errorf("%s: %s", s, Strerror(err))
				return false
			}
			d.Ref()
			return r.set(sh, 1, d) && r.set(sh, 2, d)
		}
		sh.errorf("%s: ambiguous redirect", s)
		return false
	}
	d := sh.fds.Get(from)
	if d == nil {
		sh.errorf("%s: Bad file descriptor", r.target.text)
		return false
	}
	d.Ref()
	if !r.set(sh, r.number(), d) {
		return false
	}
	if move && from != r.number() {
		_ = sh.replaceFd(from, nil) // The number was open.
		sh.undo[len(sh.undo)-1].moved = true
	}
	return true
}

func (r *redirCode) close(sh *interp) bool {
	fd := r.number()
	if r.name != "" {
		n, err := strconv.Atoi(sh.namedValue(r.name))
		if err != nil {
			sh.errorf("%s: Bad file descriptor", r.name)
			return false
		}
		return sh.setFd(n, nil) == nil
	}
	if sh.fds.Get(fd) == nil {
		return true
	}
	return sh.replaceFd(fd, nil) == nil
}

// here is a here-document or here-string: a pipe when it fits in, else a file that has no name.
func (r *redirCode) here(sh *interp) bool {
	s := sh.str(r.target)
	if sh.ctl != ctlNone {
		return false
	}
	if r.op == "<<<" {
		s += "\n"
	}
	if !sh.hold(len(s)) {
		return false
	}
	return r.set(sh, r.number(), fd.NewText(s))
}

// ownFds makes the process's table its own.
func (t *descriptors) ownFds() *fd.Table {
	if own := t.fds.Own(); own != t.fds {
		t.fds = own
		t.showFds()
	}
	return t.fds
}

// showFds lets other processes see what this one has open, if it is one for others.
func (t *descriptors) showFds() {
	if t.ownProcess {
		t.p.Fds.Store(t.fds)
	}
}

// setFd makes descriptor n the description, taking over the reference; nil closes it.
func (t *descriptors) setFd(n int, d *fd.Description) error {
	if n >= t.maxFiles() {
		if d != nil {
			d.Unref()
		}
		return syscall.EBADF
	}
	t.ownFds().Set(n, d)
	return nil
}

// freeFd returns the lowest closed descriptor from at on.
func (t *descriptors) freeFd(at int) (int, error) {
	for n := at; n < t.maxFiles(); n++ {
		if t.fds.Get(n) == nil {
			return n, nil
		}
	}
	return 0, syscall.EMFILE
}

// maxFiles returns how many descriptors the process may have open.
func (s *processState) maxFiles() int { return s.rlimit.Files(s.m.rlimits()) }

// openFile opens a path for a redirection or built-in.
func (t *descriptors) openFile(path string, flag int) (*fd.Description, error) {
	if n, ok := ownStream(path); ok {
		d := t.fds.Get(n)
		if d == nil {
			return nil, syscall.ENOENT
		}
		return t.reopen(t.ctx, d, flag)
	}
	f, err := t.m.fs.OpenFile(t.ctx, t.cred, t.abs(path), flag, 0o666&^t.umask)
	if err != nil {
		return nil, err
	}
	if s, ok := f.Stream().(fd.Shared); ok { // One that the process has open, by another name.
		d := s.Description.Ref()
		_ = f.Close()
		return d, nil
	}
	return fd.NewFile(f, path), nil
}

// lineReader reads lines from a description, taking no more than the line.
type lineReader struct {
	buf []byte
	err error
}

// next returns the bytes up to the delimiter, which is taken, and whether it was there. With limit
// it stops after as many bytes.
func (l *lineReader) next(sh *interp, d *fd.Description, delim byte, limit int) (line string, found bool) {
	ctx, done := sh.interruptible()
	defer done()
	b, found, err := d.ReadLine(ctx, delim, limit, l.buf[:0], work{sh})
	l.buf, l.err = b, err
	if !sh.spend(len(b) >> 6) {
		return "", false
	}
	return string(b), found
}
