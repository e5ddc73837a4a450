package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
)

var errChanged = errors.New("it changed in the workspace just now")

// applier does the operations of a journal.
type applier struct {
	*differ
	resumed bool              // some may have been done before
	failed  map[string]error  // by path
	placed  map[uint64]string // files with several names in the stage: where the first went
}

// run does every operation that can be done.
func (a *applier) run(ops []operation) {
	for _, op := range ops {
		path := string(op.Path)
		if above := a.blocked(op); above != "" {
			a.fail(path, errors.New(patch.Quote(above)+" is not applied"))
			continue
		}
		if err := a.do(op, path); err != nil {
			a.fail(path, err)
		}
	}
}

func (a *applier) fail(path string, err error) {
	if a.failed[path] == nil {
		a.failed[path] = err
	}
}

// blocked returns the path whose failure keeps op from being tried.
func (a *applier) blocked(op operation) string {
	path := string(op.Path)
	if op.Step == stepMode && a.failed[path] != nil {
		return path
	}
	if op.Step == stepRemove || op.Step == stepRmdir || op.Step == stepMode {
		return ""
	}
	for dir := parentOf(path); dir != ""; dir = parentOf(dir) {
		if a.failed[dir] != nil {
			return dir
		}
	}
	return ""
}

func (a *applier) do(op operation, path string) error {
	low, err := a.low.lstat(path)
	if err != nil {
		return err
	}
	switch op.Step {
	case stepMkdir:
		return a.mkdir(path, low, op.Pre)
	case stepPut:
		return a.put(path, low, op.Pre)
	case stepRemove:
		return a.remove(path, low, op.Pre)
	case stepRmdir:
		if !low.isDir() {
			return a.absent(low)
		}
		err := a.low.rmdir(path)
		if errors.Is(err, unix.ENOTEMPTY) {
			err = errors.New("it is not empty")
		}
		return err
	case stepChmod, stepMode:
		return a.mode(op, path, low)
	}
	return errors.New("unknown step " + op.Step + " in the journal")
}

// unchanged refuses when low is not what the decision was made about.
func unchanged(low info, pre *fingerprint) error {
	if pre != nil && low.isDir() && pre.Mode == low.Mode && pre.Inode == low.Ino {
		return nil // its times moved with what we removed from it
	}
	if low.exists != (pre != nil) || pre != nil && !pre.same(low.fingerprint()) {
		return errChanged
	}
	return nil
}

func (a *applier) absent(low info) error {
	if low.exists {
		return errChanged
	}
	return nil
}

func (a *applier) remove(path string, low info, pre *fingerprint) error {
	if !low.exists {
		return nil
	}
	if err := unchanged(low, pre); err != nil {
		return err
	}
	return a.low.unlink(path)
}

func (a *applier) mkdir(path string, low info, pre *fingerprint) error {
	if low.isDir() {
		return nil
	}
	up, err := a.up.lstat(path)
	if err != nil {
		return err
	}
	if !up.isDir() {
		return errChanged
	}
	if err := unchanged(low, pre); err != nil {
		return err
	}
	mode := up.Mode&0o777 | 0o700
	if !low.exists {
		return a.low.mkdir(path, mode)
	}
	return a.place(path, low, func(temp string) error { return a.low.mkdir(temp, mode) })
}

// mode sets the permission bits, and keeps those of others that are there.
func (a *applier) mode(op operation, path string, low info) error {
	up, err := a.up.lstat(path)
	if err != nil || !up.exists {
		return err // taken out of the stage already
	}
	if !low.exists || low.format() != up.format() {
		return errChanged
	}
	want := up.Mode & applied
	if low.isDir() {
		want |= low.Mode & special
	}
	if low.Mode&0o7777 == want {
		return nil
	}
	if op.Step == stepChmod {
		if err := unchanged(low, op.Pre); err != nil {
			return err
		}
	}
	return a.low.chmod(path, want)
}

func (a *applier) put(path string, low info, pre *fingerprint) error {
	up, err := a.up.lstat(path)
	if err != nil {
		return err
	}
	if !up.exists && a.resumed {
		return nil // taken out of the stage already
	}
	if err := unchanged(low, pre); err != nil {
		return a.arrived(path, up, low, err)
	}
	err = a.place(path, low, func(temp string) error { return a.build(temp, path, up, low) })
	if err == nil && up.isFile() && up.Nlink > 1 {
		a.placed[up.Ino] = path
	}
	return err
}

// arrived reports an entry that is not what it was as such, unless this Apply's
// killed predecessor put it there.
func (a *applier) arrived(path string, up, low info, changed error) error {
	if !a.resumed || !low.exists || low.format() != up.format() {
		return changed
	}
	now, err := entryOf(a.up, path, up)
	if err != nil {
		return err
	}
	was, err := entryOf(a.low, path, low)
	if err != nil {
		return err
	}
	differs, err := a.contentDiffers(path, up, low, now, was)
	if err != nil {
		return err
	}
	if differs || now.Type != patch.Symlink && low.Mode&0o7777 != up.Mode&applied {
		return changed
	}
	return nil
}

// place makes a new entry with make, under a name of ours beside path, and puts it
// in the place of low in one step.
func (a *applier) place(path string, low info, make func(temp string) error) error {
	temp := join(parentOf(path), reserved+rand.Text())
	err := make(temp)
	if err == nil {
		err = a.swap(temp, path, low)
	}
	if err != nil {
		a.discard(temp)
	}
	return err
}

func (a *applier) discard(temp string) {
	if err := a.low.unlink(temp); errors.Is(err, unix.EISDIR) {
		_ = a.low.rmdir(temp) // what led here is the error to report
	}
}

func (a *applier) swap(temp, path string, low info) error {
	up, err := a.low.lstat(temp)
	if err != nil {
		return err
	}
	if !low.exists {
		err := a.low.rename(temp, path, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EEXIST) {
			return errChanged
		}
		if !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	if low.exists && low.isDir() != up.isDir() {
		return a.exchange(temp, path, low)
	}
	// Once more, close to the step itself: the copy may have taken its time.
	if err := a.still(path, low); err != nil {
		return err
	}
	return a.low.rename(temp, path, 0)
}

func (a *applier) still(path string, low info) error {
	now, err := a.low.lstat(path)
	if err != nil {
		return err
	}
	if now.exists != low.exists || low.exists && !low.fingerprint().same(now.fingerprint()) {
		return errChanged
	}
	return nil
}

// exchange puts a directory in the place of a file, or the reverse, and removes
// what was there. A directory that got entries meanwhile is put back.
func (a *applier) exchange(temp, path string, low info) error {
	if !low.isDir() {
		if err := a.still(path, low); err != nil {
			return err
		}
	}
	remove := a.low.unlink
	if low.isDir() {
		remove = a.low.rmdir
	}
	err := a.low.rename(temp, path, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) { // this file system cannot
		if err := remove(path); err != nil {
			return err
		}
		return a.low.rename(temp, path, 0)
	}
	if err != nil {
		return err
	}
	if err := remove(temp); err != nil {
		return errors.Join(err, a.low.rename(temp, path, unix.RENAME_EXCHANGE))
	}
	return nil
}

// build makes the stage's entry at path under the name temp.
func (a *applier) build(temp, path string, up, low info) error {
	switch up.kind() {
	case patch.Symlink:
		target, err := a.up.readlink(path)
		if err != nil {
			return err
		}
		return a.low.symlink(target, temp)
	case patch.FIFO:
		if err := a.low.mkfifo(temp); err != nil {
			return err
		}
		return a.low.chmod(temp, up.Mode&applied)
	case patch.File:
		return a.file(temp, path, up, low)
	case patch.Directory, patch.Socket, patch.Device:
	}
	return errChanged
}

func (a *applier) file(temp, path string, up, low info) error {
	if first, ok := a.placed[up.Ino]; ok && up.Nlink > 1 {
		return a.low.link(first, temp)
	}
	src, err := a.up.open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := a.low.create(temp)
	if err != nil {
		return err
	}
	defer dst.Close() // closed below when all went well
	if err := unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())); err != nil {
		if err := copySparse(context.Background(), dst, src); err != nil {
			return err
		}
	}
	if low.isFile() {
		if err := a.inherit(dst, path, low); err != nil {
			return err
		}
	}
	// After the owner, which clears bits.
	if err := unix.Fchmod(int(dst.Fd()), up.Mode&applied); err != nil {
		return err
	}
	return dst.Close()
}

// inherit gives a new version the owner, the access list and the user's
// attributes of the old one.
func (a *applier) inherit(dst *os.File, path string, low info) error {
	if int(low.Uid) != os.Geteuid() || int(low.Gid) != os.Getegid() {
		err := unix.Fchown(int(dst.Fd()), int(low.Uid), int(low.Gid))
		if err != nil && os.Geteuid() == 0 {
			return err
		}
		// A plain user may give files to their groups and to nobody else.
		if err != nil {
			_ = unix.Fchown(int(dst.Fd()), -1, int(low.Gid)) // as good as it gets
		}
	}
	old, err := a.low.open(path)
	if err != nil {
		return nil // not ours to read
	}
	defer old.Close()
	for _, name := range attributes(int(old.Fd())) {
		value := make([]byte, 64<<10)
		n, err := unix.Fgetxattr(int(old.Fd()), name, value)
		if err == nil {
			_ = unix.Fsetxattr(int(dst.Fd()), name, value[:n], 0) // the file matters more
		}
	}
	return nil
}

// attributes lists what belongs to a file's name rather than to its content.
func attributes(fd int) []string {
	buf := make([]byte, 64<<10)
	n, err := unix.Flistxattr(fd, buf)
	if err != nil {
		return nil
	}
	var names []string
	for name := range strings.SplitSeq(string(buf[:n]), "\x00") {
		if name == "system.posix_acl_access" || strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "user.overlay.") {
			names = append(names, name)
		}
	}
	return names
}
