package files

import (
	"io/fs"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// meet handles an existing target. done means that nothing
// is left to do.
func (c *copier) meet(t *copyTask) (done, ok bool) {
	var err error
	own := c.isOwnTarget(t)
	if t.old, err = c.stat(t.dst, !own); err != nil {
		if shell.Errno(err) != syscall.ENOENT {
			c.proc.Errorf(err, "cannot stat %s", shell.Quote(t.dst))
			return true, false
		}
		t.fresh = true
		return false, true
	}
	finished, allowed := c.sameFile(t)
	if !allowed {
		c.proc.Warn("%s and %s are the same file", shell.Quote(t.src), shell.Quote(t.dst))
		return true, false
	}
	if c.update && !t.info.IsDir() && !t.info.Mtime.After(t.old.Mtime) || c.keeps(t) || finished {
		c.moved = true
		return true, true
	}
	if !c.kindsAgree(t) {
		return true, false
	}
	return c.makeRoom(t)
}

// isOwnTarget reports whether a link in the target's place stands for itself.
func (c *copier) isOwnTarget(t *copyTask) bool {
	if t.info.Mode&fs.ModeType != 0 && (!c.asRegular || t.info.IsDir() || t.info.Mode&fs.ModeSymlink != 0) {
		return true
	}
	return c.move || c.symLink || c.hardLink || c.backups.kind != backupNone || c.removeFirst
}

// keeps asks, where that is wanted, whether the target is to stay.
func (c *copier) keeps(t *copyTask) bool {
	if t.info.IsDir() && !c.move {
		return false
	}
	if c.ask == askNever {
		return true
	}
	if c.ask == askUser || c.ask == askUnset && c.move && program.IsTerminal(c.proc.Stdin) && !c.writable(t) {
		return !c.overwrites(t)
	}
	return false
}

func (c *copier) writable(t *copyTask) bool {
	return t.old.Mode&fs.ModeSymlink != 0 || c.proc.Cred().UID == 0 || c.proc.Access(t.dst, vfs.MayWrite) == nil
}

// overwrites asks whether the target may be overwritten.
func (c *copier) overwrites(t *copyTask) bool {
	if c.writable(t) {
		return program.Confirm(c.proc, "overwrite %s? ", shell.Quote(t.dst))
	}
	bits := filemode.Bits(t.old.Mode)
	if c.move || c.removeFirst || c.force {
		return program.Confirm(c.proc, "replace %s, overriding mode %04o (%s)? ", shell.Quote(t.dst), bits, filemode.PermString(bits))
	}
	return program.Confirm(c.proc, "unwritable %s (mode %04o, %s); try anyway? ", shell.Quote(t.dst), bits, filemode.PermString(bits))
}

// kindsAgree refuses to put a directory in a file's place and the other way round.
func (c *copier) kindsAgree(t *copyTask) bool {
	kept := c.move && c.backups.kind != backupNone
	if !t.old.IsDir() {
		if t.info.IsDir() && !kept {
			c.proc.Warn("cannot overwrite non-directory %s with directory %s", shell.Quote(t.dst), shell.Quote(t.src))
			return false
		}
		// Against mv a/f b/f c, which would lose a file.
		if t.operand && c.backups.kind != backupNumbered && c.made[entryKey(c.proc, t.dst)] && !t.info.IsDir() {
			c.proc.Warn("will not overwrite just-created %s with %s", shell.Quote(t.dst), shell.Quote(t.src))
			return false
		}
		return true
	}
	if !t.info.IsDir() && !kept {
		c.proc.Warn("cannot overwrite directory %s with non-directory", shell.Quote(t.dst))
		return false
	}
	return true
}

// makeRoom renames the target to its backup, or removes it where it cannot be written to.
func (c *copier) makeRoom(t *copyTask) (done, ok bool) {
	base := pathname.Base(t.src)
	if c.backups.kind != backupNone && base != "." && base != ".." && (c.move || !t.old.IsDir()) {
		return c.backUp(t)
	}
	if t.old.IsDir() {
		return false, true
	}
	replaced := c.keepLinks && t.old.Nlink > 1 || c.deref == derefNever && !t.info.Mode.IsRegular()
	if !c.removeFirst && (c.move || c.hardLink || c.symLink || !replaced) {
		return false, true
	}
	if err := c.proc.Unlink(t.dst); err != nil && shell.Errno(err) != syscall.ENOENT {
		c.proc.Errorf(err, "cannot remove %s", shell.Quote(t.dst))
		return true, false
	}
	t.fresh = true
	if c.verbose {
		c.say("removed " + shell.Quote(t.dst))
	}
	return false, true
}

func (c *copier) backUp(t *copyTask) (done, ok bool) {
	backup := c.backups.name(c.proc, t.dst)
	if c.backups.kind != backupNumbered {
		// Against cp a~ a, which would lose a~.
		if info, err := c.proc.Stat(backup); err == nil && info.Ino == t.info.Ino && pathname.Base(t.src) == pathname.Base(backup) {
			what := "copied"
			if c.move {
				what = "moved"
			}
			c.proc.Warn("backing up %s might destroy source;  %s not %s", shell.Quote(t.dst), shell.Quote(t.src), what)
			return true, false
		}
	}
	if err := c.proc.Rename(t.dst, backup); err != nil {
		if shell.Errno(err) != syscall.ENOENT {
			c.proc.Errorf(err, "cannot backup %s", shell.Quote(t.dst))
			return true, false
		}
	} else {
		t.backup = backup
	}
	t.fresh = true
	return false, true
}

// sameFile finds out whether source and target are one file, which most ways to copy
// would destroy. finished means that no work is left.
func (c *copier) sameFile(t *copyTask) (finished, allowed bool) {
	pair := samePair{copyTask: t, src: t.info, dst: t.old}
	same := t.info.Ino == t.old.Ino
	if same && c.hardLink {
		return true, true
	}
	if c.deref == derefNever {
		pair.linked = same
		if isLink(pair.src) && isLink(pair.dst) {
			return c.sameLinks(&pair)
		}
		return c.samePlace(&pair)
	}
	if !same {
		return false, true
	}
	var err error
	if pair.src, err = c.proc.Lstat(t.src); err != nil {
		return false, true
	}
	if pair.dst, err = c.proc.Lstat(t.dst); err != nil {
		return false, true
	}
	pair.linked = pair.src.Ino == pair.dst.Ino
	if isLink(pair.src) && isLink(pair.dst) && c.removeFirst {
		return false, true
	}
	return c.samePlace(&pair)
}

func isLink(i vfs.Info) bool { return i.Mode&fs.ModeSymlink != 0 }

// samePair is a source and a target that may be one file; src and dst describe the names themselves and do not follow links.
type samePair struct {
	*copyTask
	src, dst vfs.Info
	linked   bool // they are names of one inode
}

// sameLinks decides on two links that are not followed.
func (c *copier) sameLinks(p *samePair) (finished, allowed bool) {
	switch {
	case isSameName(c.proc, p.copyTask.src, p.copyTask.dst):
		return false, false
	case c.backups.kind != backupNone:
		return false, true
	case p.linked:
		// rename(2) of two names of one inode would do nothing and say that it did.
		return true, !c.move
	}
	return false, true
}

// samePlace decides on all other pairs.
func (c *copier) samePlace(p *samePair) (finished, allowed bool) {
	srcName, dstName := p.copyTask.src, p.copyTask.dst
	if c.backups.kind != backupNone {
		if p.linked {
			return false, !isSameName(c.proc, srcName, dstName)
		}
		// The target's name moves aside: a source that is a link to it would lead nowhere.
		return false, c.move || c.deref == derefNever || !isLink(p.src) || isLink(p.dst)
	}
	if c.move || c.removeFirst {
		if isLink(p.dst) {
			return false, true
		}
		if p.linked && p.dst.Nlink > 1 && !isSameName(c.proc, srcName, dstName) {
			return false, !c.move
		}
	}
	if !isLink(p.src) && !isLink(p.dst) && !p.linked {
		return false, true
	}
	if c.move && isLink(p.src) && p.dst.Nlink > 1 {
		if path, err := c.proc.Realpath(srcName); err == nil {
			return false, !isSameName(c.proc, path, dstName)
		}
	}
	if c.symLink && isLink(p.dst) {
		return false, true
	}
	if c.deref != derefNever {
		return false, false
	}
	return c.sameEnd(p)
}

// sameEnd follows links: only names that lead to one file are the same.
func (c *copier) sameEnd(p *samePair) (finished, allowed bool) {
	src, err := c.proc.Stat(p.copyTask.src)
	if err != nil {
		return false, true
	}
	dst, err := c.proc.Stat(p.copyTask.dst)
	if err != nil || src.Ino != dst.Ino {
		return false, true
	}
	return c.hardLink && !isLink(p.dst), c.hardLink
}
