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

// applier executes the operations of a journal.
type applier struct {
	*differ
	resumed bool              // an earlier Apply may have done some of them
	failed  map[string]error  // by path
	placed  map[uint64]string // by inode in the stage, for files with several names: the path of the first name
}

// run executes every operation that is possible.
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

// blocked returns the path whose failure makes op impossible, or "".
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

// checkUnchanged returns errChanged if low is not the entry for which the change was planned.
func checkUnchanged(low tree.Info, pre *tree.Fingerprint) error {
	if pre != nil && low.IsDir() && pre.Mode == low.Mode && pre.Inode == low.Ino {
		return nil // removing its entries changed its times
	}
	if low.Exists != (pre != nil) || pre != nil && !pre.IsSame(low.Fingerprint()) {
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
	if err := checkUnchanged(low, pre); err != nil {
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
	if err := checkUnchanged(low, pre); err != nil {
		return err
	}
	mode := up.Mode&0o777 | 0o700
	if !low.Exists {
		return a.low.Mkdir(path, mode)
	}
	return a.place(path, low, func(temp string) error { return a.low.Mkdir(temp, mode) })
}

// mode sets the permission bits of an entry. A directory keeps its set-ID bits.
func (a *applier) mode(op operation, path string, low tree.Info) error {
	up, err := a.up.Lstat(path)
	if err != nil || !up.Exists {
		return err // removed from the stage already
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
		if err := checkUnchanged(low, op.Pre); err != nil {
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
		return nil // removed from the stage already
	}
	if err := checkUnchanged(low, pre); err != nil {
		return a.arrived(path, up, low, err)
	}
	err = a.place(path, low, func(temp string) error { return a.build(temp, path, up, low) })
	if err == nil && up.IsFile() && up.Nlink > 1 {
		a.placed[up.Ino] = path
	}
	return err
}

// arrived returns changed, or nil if a killed Apply, which this one resumes, has already put the
// stage's entry there.
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

// place creates a new entry with make under a temporary name in the directory of path, and
// replaces low by it in one step.
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
		_ = a.low.Rmdir(temp) // the caller reports the first error
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
	// Check again right before the replacement, because the copy may have taken long.
	if err := a.checkSame(path, low); err != nil {
		return err
	}
	return a.low.Rename(temp, path, 0)
}

// checkSame returns errChanged unless low is still the entry at path.
func (a *applier) checkSame(path string, low tree.Info) error {
	now, err := a.low.Lstat(path)
	if err != nil {
		return err
	}
	if now.Exists != low.Exists || low.Exists && !low.Fingerprint().IsSame(now.Fingerprint()) {
		return errChanged
	}
	return nil
}

// exchange replaces a file by a directory, or a directory by a file, and removes the old entry.
// It restores an old directory that got entries meanwhile.
func (a *applier) exchange(temp, path string, low tree.Info) error {
	if !low.IsDir() {
		if err := a.checkSame(path, low); err != nil {
			return err
		}
	}
	remove := a.low.Unlink
	if low.IsDir() {
		remove = a.low.Rmdir
	}
	err := a.low.Rename(temp, path, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) { // the file system does not support it
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

// build copies the stage's entry at path to the name temp.
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
	defer dst.Close() // no effect after the Close below
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
	// Set the mode after the owner, because a change of owner clears bits.
	if err := unix.Fchmod(int(dst.Fd()), up.Mode&applied); err != nil {
		return err
	}
	return dst.Close()
}

// inherit copies the owner, the access list and the user attributes of the old version to the
// new one.
func (a *applier) inherit(dst *os.File, path string, low tree.Info) error {
	if int(low.Uid) != os.Geteuid() || int(low.Gid) != os.Getegid() {
		err := unix.Fchown(int(dst.Fd()), int(low.Uid), int(low.Gid))
		if err != nil && os.Geteuid() == 0 {
			return err
		}
		// A plain user may change the group to another group of the user, but not the owner.
		if err != nil {
			_ = unix.Fchown(int(dst.Fd()), -1, int(low.Gid)) // the file matters more
		}
	}
	old, err := a.low.Open(path)
	if err != nil {
		return nil // this user may not read the file
	}
	defer old.Close()
	for _, name := range listAttributes(int(old.Fd())) {
		value := make([]byte, 64<<10)
		n, err := unix.Fgetxattr(int(old.Fd()), name, value)
		if err == nil {
			_ = unix.Fsetxattr(int(dst.Fd()), name, value[:n], 0) // the file matters more
		}
	}
	return nil
}

// listAttributes returns the names of the extended attributes that a new version keeps.
func listAttributes(fd int) []string {
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
