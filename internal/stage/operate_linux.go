package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
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
	for dir := tree.Parent(path); dir != ""; dir = tree.Parent(dir) {
		if a.failed[dir] != nil {
			return dir
		}
	}
	return ""
}

func (a *applier) do(op operation, path string) error {
	low, err := a.low.Lstat(path)
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
		if !low.IsDir() {
			return a.absent(low)
		}
		err := a.low.Rmdir(path)
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
func unchanged(low tree.Info, pre *tree.Fingerprint) error {
	if pre != nil && low.IsDir() && pre.Mode == low.Mode && pre.Inode == low.Ino {
		return nil // its times moved with what we removed from it
	}
	if low.Exists != (pre != nil) || pre != nil && !pre.Same(low.Fingerprint()) {
		return errChanged
	}
	return nil
}

func (a *applier) absent(low tree.Info) error {
	if low.Exists {
		return errChanged
	}
	return nil
}

func (a *applier) remove(path string, low tree.Info, pre *tree.Fingerprint) error {
	if !low.Exists {
		return nil
	}
	if err := unchanged(low, pre); err != nil {
		return err
	}
	return a.low.Unlink(path)
}

func (a *applier) mkdir(path string, low tree.Info, pre *tree.Fingerprint) error {
	if low.IsDir() {
		return nil
	}
	up, err := a.up.Lstat(path)
	if err != nil {
		return err
	}
	if !up.IsDir() {
		return errChanged
	}
	if err := unchanged(low, pre); err != nil {
		return err
	}
	mode := up.Mode&0o777 | 0o700
	if !low.Exists {
		return a.low.Mkdir(path, mode)
	}
	return a.place(path, low, func(temp string) error { return a.low.Mkdir(temp, mode) })
}

// mode sets the permission bits, and keeps those of others that are there.
func (a *applier) mode(op operation, path string, low tree.Info) error {
	up, err := a.up.Lstat(path)
	if err != nil || !up.Exists {
		return err // taken out of the stage already
	}
	if !low.Exists || low.Format() != up.Format() {
		return errChanged
	}
	want := up.Mode & applied
	if low.IsDir() {
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
	return a.low.Chmod(path, want)
}

func (a *applier) put(path string, low tree.Info, pre *tree.Fingerprint) error {
	up, err := a.up.Lstat(path)
	if err != nil {
		return err
	}
	if !up.Exists && a.resumed {
		return nil // taken out of the stage already
	}
	if err := unchanged(low, pre); err != nil {
		return a.arrived(path, up, low, err)
	}
	err = a.place(path, low, func(temp string) error { return a.build(temp, path, up, low) })
	if err == nil && up.IsFile() && up.Nlink > 1 {
		a.placed[up.Ino] = path
	}
	return err
}

// arrived reports an entry that is not what it was as such, unless this Apply's
// killed predecessor put it there.
func (a *applier) arrived(path string, up, low tree.Info, changed error) error {
	if !a.resumed || !low.Exists || low.Format() != up.Format() {
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
func (a *applier) place(path string, low tree.Info, make func(temp string) error) error {
	temp := tree.Join(tree.Parent(path), reserved+rand.Text())
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
	if err := a.low.Unlink(temp); errors.Is(err, unix.EISDIR) {
		_ = a.low.Rmdir(temp) // what led here is the error to report
	}
}

func (a *applier) swap(temp, path string, low tree.Info) error {
	up, err := a.low.Lstat(temp)
	if err != nil {
		return err
	}
	if !low.Exists {
		err := a.low.Rename(temp, path, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EEXIST) {
			return errChanged
		}
		if !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	if low.Exists && low.IsDir() != up.IsDir() {
		return a.exchange(temp, path, low)
	}
	// Once more, close to the step itself: the copy may have taken its time.
	if err := a.still(path, low); err != nil {
		return err
	}
	return a.low.Rename(temp, path, 0)
}

func (a *applier) still(path string, low tree.Info) error {
	now, err := a.low.Lstat(path)
	if err != nil {
		return err
	}
	if now.Exists != low.Exists || low.Exists && !low.Fingerprint().Same(now.Fingerprint()) {
		return errChanged
	}
	return nil
}

// exchange puts a directory in the place of a file, or the reverse, and removes
// what was there. A directory that got entries meanwhile is put back.
func (a *applier) exchange(temp, path string, low tree.Info) error {
	if !low.IsDir() {
		if err := a.still(path, low); err != nil {
			return err
		}
	}
	remove := a.low.Unlink
	if low.IsDir() {
		remove = a.low.Rmdir
	}
	err := a.low.Rename(temp, path, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) { // this file system cannot
		if err := remove(path); err != nil {
			return err
		}
		return a.low.Rename(temp, path, 0)
	}
	if err != nil {
		return err
	}
	if err := remove(temp); err != nil {
		return errors.Join(err, a.low.Rename(temp, path, unix.RENAME_EXCHANGE))
	}
	return nil
}

// build makes the stage's entry at path under the name temp.
func (a *applier) build(temp, path string, up, low tree.Info) error {
	switch up.Kind() {
	case patch.Symlink:
		target, err := a.up.Readlink(path)
		if err != nil {
			return err
		}
		return a.low.Symlink(target, temp)
	case patch.FIFO:
		if err := a.low.Mkfifo(temp); err != nil {
			return err
		}
		return a.low.Chmod(temp, up.Mode&applied)
	case patch.File:
		return a.file(temp, path, up, low)
	case patch.Directory, patch.Socket, patch.Device:
	}
	return errChanged
}

func (a *applier) file(temp, path string, up, low tree.Info) error {
	if first, ok := a.placed[up.Ino]; ok && up.Nlink > 1 {
		return a.low.Link(first, temp)
	}
	src, err := a.up.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := a.low.Create(temp)
	if err != nil {
		return err
	}
	defer dst.Close() // closed below when all went well
	if err := unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())); err != nil {
		if err := copySparse(context.Background(), dst, src); err != nil {
			return err
		}
	}
	if low.IsFile() {
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
func (a *applier) inherit(dst *os.File, path string, low tree.Info) error {
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
	old, err := a.low.Open(path)
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
