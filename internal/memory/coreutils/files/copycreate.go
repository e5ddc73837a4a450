package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// rename moves the file if it can be moved by name alone.
func (c *copier) rename(t *copyTask) (done, ok bool) {
	err := c.proc.Rename(t.src, t.dst)
	switch no := shell.Errno(err); {
	case err == nil:
		if c.verbose {
			s := "renamed " + shell.Quote(t.src) + " -> " + shell.Quote(t.dst)
			if t.backup != "" {
				s += " (backup: " + shell.Quote(t.backup) + ")"
			}
			c.say(s)
		}
		c.moved = true
		if t.operand {
			c.made[entryKey(c.proc, t.dst)] = true
		}
		return true, true
	case no == syscall.EINVAL:
		c.proc.Warn("cannot move %s to a subdirectory of itself, %s", shell.Quote(c.top[0]), shell.Quote(c.top[1]))
		return true, false
	case no == syscall.EXDEV:
		return c.leaveDevice(t)
	}
	c.proc.Errorf(err, "cannot move %s to %s", shell.Quote(t.src), shell.Quote(t.dst))
	return true, false
}

// leaveDevice removes the target, so that the source can be copied across file systems.
func (c *copier) leaveDevice(t *copyTask) (done, ok bool) {
	if !t.fresh {
		var err error
		if t.old.IsDir() {
			err = c.proc.Rmdir(t.dst)
		} else {
			err = c.proc.Unlink(t.dst)
		}
		if err != nil && shell.Errno(err) != syscall.ENOENT {
			c.proc.Errorf(err, "inter-device move failed: %s to %s; unable to remove target", shell.Quote(t.src), shell.Quote(t.dst))
			return true, false
		}
	}
	if c.verbose && !t.info.IsDir() {
		c.say("copied " + shell.Quote(t.src) + " -> " + shell.Quote(t.dst))
	}
	t.fresh = true
	return false, true
}

// create makes the target according to the type of the source.
func (c *copier) create(t *copyTask) bool {
	mode := t.info.Mode
	switch {
	case mode.IsDir():
		return c.createDir(t)
	case c.symLink:
		return c.createSymlinkTo(t)
	case c.hardLink && mode&fs.ModeDevice == 0:
		return c.createLink(t)
	case mode&fs.ModeSymlink != 0:
		return c.createSymlink(t) && c.finishAttributes(t)
	case mode.IsRegular() || c.asRegular:
		return c.createFile(t) && c.finishAttributes(t)
	case mode&fs.ModeNamedPipe != 0:
		return c.createNode(t, "cannot create fifo %s") && c.finishAttributes(t)
	}
	return c.createNode(t, "cannot create special file %s") && c.finishAttributes(t)
}

func (c *copier) createDir(t *copyTask) bool {
	if t.above.Has(t.info.Ino) {
		c.proc.Warn("cannot copy cyclic symbolic link %s", shell.Quote(t.src))
		return false
	}
	bits := filemode.Bits(t.info.Mode)
	if t.fresh || !t.old.IsDir() {
		perm := bits &^ (filemode.SetuidBit | filemode.SetgidBit)
		if c.keepOwner {
			perm &^= 0o077
		}
		if err := c.proc.Mkdir(t.dst, filemode.FromBits(perm|0o700)); err != nil {
			c.proc.Errorf(err, "cannot create directory %s", shell.Quote(t.dst))
			return false
		}
		// Against a copy into itself that has no end.
		if info, err := c.proc.Lstat(t.dst); err == nil {
			c.copies[info.Ino] = t.dst
		}
		if c.verbose {
			if c.move {
				c.say("created directory " + shell.Quote(t.dst))
			} else {
				c.sayCopy(t)
			}
		}
		t.fresh = true
	}
	ok := c.createEntries(t)
	if !t.fresh && !c.keepMode && !c.keepOwner && !c.keepTimes && !c.move {
		return ok
	}
	return c.finishAttributes(t) && ok
}

func (c *copier) createEntries(t *copyTask) bool {
	entries, err := c.proc.ReadDir(t.src)
	if err != nil {
		c.proc.Errorf(err, "cannot access %s", shell.Quote(t.src))
		return false
	}
	above := &pathname.Chain{Ino: t.info.Ino, Next: t.above}
	ok := true
	saved := c.deref
	if c.deref == derefOperands {
		c.deref = derefNever
	}
	for _, e := range entries {
		if !c.copy(&copyTask{src: pathname.Join(t.src, e.Name), dst: pathname.Join(t.dst, e.Name), fresh: t.fresh, above: above}) {
			ok = false
		}
		if c.endless || c.proc.Context().Err() != nil {
			break
		}
	}
	c.deref = saved
	return ok
}

// createSymlinkTo makes a link to the source: cp -s.
func (c *copier) createSymlinkTo(t *copyTask) bool {
	if !strings.HasPrefix(t.src, "/") {
		dir, err := c.proc.Stat(pathname.Dir(t.dst))
		here, e := c.proc.Stat(".")
		if pathname.Dir(t.dst) != "." && (err != nil || e != nil || dir.Ino != here.Ino) {
			c.proc.Warn("%s: can make relative symbolic links only in current directory", shell.QuoteIfNeeded(t.dst))
			return false
		}
	}
	err := c.proc.Symlink(t.src, t.dst)
	if shell.Errno(err) == syscall.EEXIST && c.force {
		if err = c.proc.Unlink(t.dst); err == nil {
			err = c.proc.Symlink(t.src, t.dst)
		}
	}
	if err != nil {
		c.proc.Errorf(err, "cannot create symbolic link %s to %s", shell.Quote(t.dst), shell.Quote(t.src))
		return false
	}
	return true
}

// createLink makes a further name of the source: cp -l.
func (c *copier) createLink(t *copyTask) bool {
	src := t.src
	if c.isFollowed(t.operand) {
		if path, err := c.proc.Realpath(src); err == nil {
			src = path
		}
	}
	err := c.proc.Link(src, t.dst)
	if shell.Errno(err) == syscall.EEXIST && c.force {
		if err = c.proc.Unlink(t.dst); err == nil {
			err = c.proc.Link(src, t.dst)
		}
	}
	if err != nil {
		c.proc.Errorf(err, "cannot create hard link %s to %s", shell.Quote(t.dst), shell.Quote(t.src))
		return false
	}
	return true
}

func (c *copier) createSymlink(t *copyTask) bool {
	target, err := c.proc.Readlink(t.src)
	if err != nil {
		c.proc.Errorf(err, "cannot read symbolic link %s", shell.Quote(t.src))
		return false
	}
	err = c.proc.Symlink(target, t.dst)
	if shell.Errno(err) == syscall.EEXIST && c.force {
		if err = c.proc.Unlink(t.dst); err == nil {
			err = c.proc.Symlink(target, t.dst)
		}
	}
	if err != nil {
		c.proc.Errorf(err, "cannot create symbolic link %s", shell.Quote(t.dst))
		return false
	}
	return true
}

// createNode makes a named pipe or a device.
func (c *copier) createNode(t *copyTask, fault string) bool {
	perm := t.info.Mode &^ (fs.ModeSetuid | fs.ModeSetgid) &^ c.proc.Umask()
	make := func() error { return c.proc.FS().Mknod(c.proc.Cred(), c.proc.Abs(t.dst), perm, t.info.Rdev) }
	err := make()
	if shell.Errno(err) == syscall.EEXIST && (c.force || c.deref == derefNever) {
		if err = c.proc.Unlink(t.dst); err == nil {
			err = make()
		}
	}
	if err != nil {
		c.proc.Errorf(err, fault, shell.Quote(t.dst))
		return false
	}
	return true
}

func (c *copier) createFile(t *copyTask) bool {
	src, err := c.proc.Open(t.src)
	if err != nil {
		c.proc.Errorf(err, "cannot open %s for reading", shell.Quote(t.src))
		return false
	}
	defer src.Close()
	dst := c.openTarget(t)
	if dst == nil {
		return false
	}
	ok := c.attributes || c.content(t, src, dst)
	if err := dst.Close(); err != nil && ok {
		c.proc.Errorf(err, "failed to close %s", shell.Quote(t.dst))
		ok = false
	}
	return ok
}

// openTarget opens the target for writing; nil after a message.
func (c *copier) openTarget(t *copyTask) *vfs.File {
	if !t.fresh {
		flag := os.O_WRONLY
		if !c.attributes {
			flag |= os.O_TRUNC
		}
		f, err := c.proc.OpenFile(t.dst, flag, 0)
		if err == nil {
			return f
		}
		if !c.force || shell.Errno(err) == syscall.ENOENT {
			return c.cannotCreate(t, err)
		}
		if err := c.proc.Unlink(t.dst); err != nil {
			c.proc.Errorf(err, "cannot remove %s", shell.Quote(t.dst))
			return nil
		}
		if c.verbose {
			c.say("removed " + shell.Quote(t.dst))
		}
		t.fresh = true
	}
	perm := filemode.FromBits(filemode.Bits(t.info.Mode) & 0o777)
	if c.keepOwner {
		perm &^= 0o077
	}
	if c.setMode != nil {
		perm = 0o600
	}
	f, err := c.proc.OpenFile(t.dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if shell.Errno(err) == syscall.EEXIST && !c.move {
		if info, e := c.proc.Lstat(t.dst); e == nil && info.Mode&fs.ModeSymlink != 0 {
			if _, posix := c.proc.LookupEnv("POSIXLY_CORRECT"); !posix {
				c.proc.Warn("not writing through dangling symlink %s", shell.Quote(t.dst))
				return nil
			}
			f, err = c.proc.OpenFile(t.dst, os.O_WRONLY|os.O_CREATE, perm)
		}
	}
	if err != nil {
		return c.cannotCreate(t, err)
	}
	return f
}

func (c *copier) cannotCreate(t *copyTask, err error) *vfs.File {
	if strings.HasSuffix(t.dst, "/") && shell.Errno(err) == syscall.EISDIR {
		err = syscall.ENOTDIR
	}
	c.proc.Errorf(err, "cannot create regular file %s", shell.Quote(t.dst))
	return nil
}

// hole is the shortest run of zeros that becomes a hole, in bytes.
const hole = 4096

// content copies the bytes, with holes where that is wanted.
func (c *copier) content(t *copyTask, src, dst *vfs.File) bool {
	sparse := c.sparse == sparseAlways ||
		c.sparse == sparseAuto && t.info.Mode.IsRegular() && t.info.Blocks*512 < t.info.Size
	var skipped, total int64
	next := nextChunk(src, t.info.Mode.IsRegular())
	for {
		b, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.proc.Spend(len(b)/64 + 1)
		}
		if err != nil {
			c.proc.Errorf(err, "error reading %s", shell.Quote(t.src))
			return false
		}
		total += int64(len(b))
		if sparse {
			skipped, err = writeSparse(dst, b, skipped)
		} else {
			_, err = dst.Write(b)
		}
		if err != nil {
			c.proc.Errorf(err, "error writing %s", shell.Quote(t.dst))
			return false
		}
	}
	if skipped > 0 {
		if err := dst.Truncate(total); err != nil {
			c.proc.Errorf(err, "error writing %s", shell.Quote(t.dst))
			return false
		}
	}
	return true
}

// nextChunk returns a function that reads a file piece by piece: as the tree holds it where
// it is a regular file.
func nextChunk(f *vfs.File, regular bool) func() ([]byte, error) {
	if regular {
		return func() ([]byte, error) { return f.Next(program.BufferSize) }
	}
	b := make([]byte, program.BufferSize)
	return func() ([]byte, error) {
		n, err := f.Read(b)
		return b[:n], err
	}
}

// writeSparse writes b without its blocks of zeros, behind skipped bytes that were left out.
func writeSparse(dst *vfs.File, b []byte, skipped int64) (int64, error) {
	for len(b) > 0 {
		n := min(len(b), hole)
		if isAllZero(b[:n]) {
			skipped += int64(n)
			b = b[n:]
			continue
		}
		if skipped > 0 {
			if _, err := dst.Seek(skipped, io.SeekCurrent); err != nil {
				return skipped, err
			}
			skipped = 0
		}
		if _, err := dst.Write(b[:n]); err != nil {
			return 0, err
		}
		b = b[n:]
	}
	return skipped, nil
}

func isAllZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// finishAttributes gives the target the times, owner and mode that are wanted.
func (c *copier) finishAttributes(t *copyTask) bool {
	link := t.info.Mode&fs.ModeSymlink != 0
	if c.keepTimes || c.move {
		if err := c.proc.Chtimes(t.dst, t.info.Atime, t.info.Mtime, !link); err != nil {
			c.proc.Errorf(err, "preserving times for %s", shell.Quote(t.dst))
			return false
		}
	}
	bits := filemode.Bits(t.info.Mode)
	if c.keepOwner || c.move {
		if err := c.proc.Chown(t.dst, t.info.UID, t.info.GID, !link); err != nil {
			// Only root can change owners. A copy that keeps another owner loses its set-ID bits.
			bits &^= filemode.SetuidBit | filemode.SetgidBit
		}
	}
	if link {
		return true
	}
	var err error
	umask := uint32(c.proc.Umask())
	switch {
	case c.keepMode || c.move:
		err = c.proc.Chmod(t.dst, filemode.FromBits(bits))
	case c.setMode != nil:
		err = c.proc.Chmod(t.dst, filemode.FromBits(*c.setMode))
	case c.plainMode && t.fresh:
		plain := uint32(0o666)
		if t.info.IsDir() {
			plain = 0o777
		}
		err = c.proc.Chmod(t.dst, filemode.FromBits(plain&^umask))
	case t.fresh && (c.keepOwner || t.info.IsDir() && bits&0o700 != 0o700):
		err = c.proc.Chmod(t.dst, filemode.FromBits(bits&^(filemode.SetuidBit|filemode.SetgidBit)&^umask))
	}
	if err != nil {
		c.proc.Errorf(err, "preserving permissions for %s", shell.Quote(t.dst))
		return false
	}
	return true
}
