package tar

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// tarTaking holds the options for extraction.
type tarTaking struct {
	old                            oldFiles
	overwriteDir, keepDirLink      bool
	recursiveUnlink, touch, stdout bool
	sameOwner, samePermissions     bool
}

// oldFiles says how existing files are treated.
type oldFiles uint8

const (
	oldReplace   oldFiles = iota
	oldOverwrite          // write into them
	oldKeep               // an error
	oldSkip               // none
	oldKeepNewer
	oldUnlinkFirst
)

func (j *tarJob) takingOption(o *program.Options) bool {
	t := &j.take
	switch o.ID {
	case 'k':
		t.old = oldKeep
	case tarSkipOld:
		t.old = oldSkip
	case tarKeepNewer:
		t.old = oldKeepNewer
	case tarOverwrite:
		t.old = oldOverwrite
	case 'U':
		t.old = oldUnlinkFirst
	case tarOverwriteDir, tarNoOverwriteDir:
		t.overwriteDir = o.ID == tarOverwriteDir
	case tarKeepDirSymlink:
		t.keepDirLink = true
	case tarRecursiveUnlink:
		t.recursiveUnlink, t.old = true, oldUnlinkFirst
	case 'm':
		t.touch = true
	case 'O':
		t.stdout = true
	case 'p':
		t.samePermissions = true
	case tarNoSamePermissions:
		t.samePermissions = false
	case tarSameOwner, tarNoSameOwner:
		t.sameOwner = o.ID == tarSameOwner
	case tarAccepted, tarAcceptedValue:
	default:
		return false
	}
	return true
}

// tarUnpacker makes files of members.
type tarUnpacker struct {
	*tarJob
	dir     string // where members go
	dirs    []tarLater
	links   []tarLater
	holders map[uint64]int // placeholders of links, by inode
	buf     []byte
}

// tarLater is the work after all members are extracted: directories get their times, and
// links that lead elsewhere are made, so that nothing is written through them.
type tarLater struct {
	path, target string
	ino          uint64
	also         []string // further names of the link
	h            *tarfile.Header
}

// extract takes members out.
func (j *tarJob) extract() error {
	u := &tarUnpacker{tarJob: j, dir: joinDirs(j.names.dirs), holders: make(map[uint64]int)}
	if j.take.stdout {
		j.tellElsewhere()
	}
	if u.dir != "" {
		if info, err := j.p.Stat(u.dir); err != nil || !info.IsDir() {
			if err == nil {
				err = syscall.ENOTDIR
			}
			j.warn("%s: Cannot open: %s", quoteTarName(u.dir), shell.Strerror(err))
			return j.giveUp()
		}
	}
	err := j.eachMember(u.member)
	u.finish()
	return err
}

// finish does what was put off.
func (u *tarUnpacker) finish() {
	for i := range u.links {
		l := &u.links[i]
		made := ""
		for _, path := range append([]string{l.path}, l.also...) {
			info, err := u.p.Lstat(path)
			if err != nil || info.Ino != l.ino {
				continue // replaced since
			}
			if err = u.p.Unlink(path); err == nil && made != "" {
				err = u.p.Link(made, path)
			} else if err == nil {
				err = u.p.Symlink(l.target, path)
				made = path
			}
			if err != nil {
				u.failFile(path, "create symlink to "+quoting.Name(l.target), err)
				continue
			}
			u.attributes(path, l.h)
		}
	}
	for i := range slices.Backward(u.dirs) {
		if info, err := u.p.Lstat(u.dirs[i].path); err == nil && info.IsDir() {
			u.attributes(u.dirs[i].path, u.dirs[i].h)
		}
	}
}

// later puts something off.
func (u *tarUnpacker) later(list *[]tarLater, l tarLater) {
	if u.ended = u.p.Reserve(len(l.path) + len(l.target) + 400); u.ended == nil {
		*list = append(*list, l)
	}
}

// member takes one member out. An error ends all.
func (u *tarUnpacker) member(a *tarInput, h *tarfile.Header) error {
	if h.Type == tarfile.Volume {
		return nil
	}
	rel, ok := u.memberPath(h.Name, ofMember)
	if !ok {
		return nil
	}
	if !u.rename.absolute && hasDotDot(h.Name) {
		u.fail("%s: Member name contains '..'", quoteTarName(h.Name))
		return nil
	}
	if u.verbose > 0 {
		shown := h.Name
		if u.show.transformed {
			shown = rel
		}
		if h.Type == tarfile.Dir && !strings.HasSuffix(shown, "/") {
			shown += "/"
		}
		u.say(h, shown, u.verbose == 1)
	}
	if u.take.stdout {
		if h.Type == tarfile.Regular || h.Type == tarfile.Contiguous || h.Type == tarfile.Sparse {
			return u.writeOut(a, h, u.out)
		}
		return nil
	}
	path := pathname.Resolve(u.dir, rel)
	u.checkTime(h, rel)
	if u.take.old == oldKeepNewer && h.Type != tarfile.Dir && u.newerThere(h, path) {
		u.warn("Current %s is newer or same age", quoting.Name(rel))
		return nil
	}
	if u.take.old == oldUnlinkFirst {
		if err := u.remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			u.failFile(rel, "unlink", err)
			return u.ended
		}
	}
	return u.place(a, h, path, rel)
}

func (u *tarUnpacker) newerThere(h *tarfile.Header, path string) bool {
	info, err := u.p.Lstat(path)
	return err == nil && !info.IsDir() && !info.Mtime.Truncate(time.Second).Before(h.Mtime.Truncate(time.Second))
}

// checkTime warns of implausible times.
func (u *tarUnpacker) checkTime(h *tarfile.Header, name string) {
	if u.take.touch {
		return
	}
	now := u.p.Now()
	stamp := strftime.Format("%Y-%m-%d %H:%M:%S", h.Mtime.In(program.Zone(u.p)))
	if h.Mtime.Unix() < 0 {
		u.warn("%s: implausibly old time stamp %s", quoteTarName(name), stamp)
	} else if d := h.Mtime.Sub(now); d > 0 {
		u.warn("%s: time stamp %s is %s s in the future", quoteTarName(name), stamp, strings.TrimRight(strings.TrimRight(d.Round(time.Nanosecond).String(), "s"), "0"))
	}
}

// place makes the file.
func (u *tarUnpacker) place(a *tarInput, h *tarfile.Header, path, rel string) error {
	switch h.Type {
	case tarfile.Dir, tarfile.DumpDir:
		u.directory(h, path, rel)
	case tarfile.Symlink:
		u.symlink(h, path, rel)
	case tarfile.Link:
		u.hardLink(h, path, rel)
	case tarfile.Fifo:
		if u.try(path, rel, "mkfifo", func() error { return u.p.Mkfifo(path, 0o600) }) {
			u.attributes(path, h)
		}
	case tarfile.Char, tarfile.Block:
		mode := fs.ModeDevice | 0o600
		if h.Type == tarfile.Char {
			mode |= fs.ModeCharDevice
		}
		if u.try(path, rel, "mknod", func() error { return u.p.FS().Mknod(u.p.Cred(), u.p.Abs(path), mode, vfs.Device(h.Major, h.Minor)) }) {
			u.attributes(path, h)
		}
	case tarfile.Continued:
		u.fail("%s: Cannot extract -- file is continued from another volume", quoteTarName(rel))
	case tarfile.Regular, tarfile.Contiguous, tarfile.Sparse:
		return u.regular(a, h, path, rel)
	default:
		u.warn("%s: Unknown file type '%c'; extracted as normal file", quoteTarName(rel), byte(h.Type))
		return u.regular(a, h, path, rel)
	}
	return u.ended
}

// try calls fn until it works: directories are made on the way, and what is in the way is removed.
func (u *tarUnpacker) try(path, rel, what string, fn func() error) bool {
	for range 3 {
		err := fn()
		if err == nil {
			return true
		}
		_, hopeless := errors.AsType[*noSource](err)
		switch no := shell.Errno(err); {
		case no == syscall.ENOENT && !hopeless && u.parents(path):
			continue
		case no == syscall.EEXIST && u.take.old == oldSkip:
			u.skipped(rel)
			return false
		case no == syscall.EEXIST && u.take.old != oldKeep && u.take.old != oldUnlinkFirst && u.clear(path):
			continue
		case (no == syscall.EISDIR || no == syscall.ELOOP) && u.take.old == oldOverwrite && u.clear(path):
			continue
		}
		u.failFile(rel, what, err)
		return false
	}
	u.failFile(rel, what, syscall.EEXIST)
	return false
}

// clear removes an existing file at the path; a directory only when it is empty.
func (u *tarUnpacker) clear(path string) bool { return u.remove(path) == nil }

func (u *tarUnpacker) remove(path string) error {
	info, err := u.p.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return u.p.Unlink(path)
	case u.take.recursiveUnlink:
		return u.p.RemoveAll(path)
	}
	return u.p.Rmdir(path)
}

// skipped reports a file that stays as it is.
func (u *tarUnpacker) skipped(rel string) {
	if u.verbose > 0 {
		u.warn("%s: skipping existing file", rel)
	}
}

// parents makes the directories above path; false when there was none to make.
func (u *tarUnpacker) parents(path string) bool {
	made := false
	for i := 1; i < len(path); i++ {
		if path[i] != '/' || path[i-1] == '/' {
			continue
		}
		switch err := u.p.Mkdir(path[:i], 0o777); {
		case err == nil:
			made = true
		case !errors.Is(err, fs.ErrExist):
			return false
		}
	}
	return made
}

func (u *tarUnpacker) directory(h *tarfile.Header, path, rel string) {
	for range 3 {
		err := u.p.Mkdir(path, 0o700)
		fresh := err == nil
		if errors.Is(err, fs.ErrExist) {
			info, e := u.p.Lstat(path)
			if e == nil && info.Mode&fs.ModeSymlink != 0 && u.take.keepDirLink {
				if to, e := u.p.Stat(path); e == nil && to.IsDir() {
					return
				}
			}
			if e == nil && info.IsDir() && u.take.old != oldSkip {
				err = nil
			}
		}
		if err == nil {
			if fresh || u.take.overwriteDir && (u.take.old == oldReplace || u.take.old == oldOverwrite || u.take.old == oldUnlinkFirst) {
				u.later(&u.dirs, tarLater{path: path, h: h})
			}
			return
		}
		switch no := shell.Errno(err); {
		case no == syscall.ENOENT && u.parents(path):
			continue
		case no == syscall.EEXIST && u.take.old == oldSkip:
			u.skipped(rel)
			return
		case no == syscall.EEXIST && u.take.old == oldKeep:
			return
		case no == syscall.EEXIST && u.clear(path):
			continue
		}
		u.failFile(rel, "mkdir", err)
		return
	}
}

// symlink makes a link. A link that may lead out of the target directory is made last.
func (u *tarUnpacker) symlink(h *tarfile.Header, path, rel string) {
	target, _ := u.memberPath(h.Link, ofSymlink)
	what := "create symlink to " + quoting.Name(target)
	if u.rename.absolute || !canLeadOut(target) {
		if u.try(path, rel, what, func() error { return u.p.Symlink(target, path) }) {
			u.attributes(path, h)
		}
		return
	}
	made := u.try(path, rel, what, func() error {
		f, err := u.p.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0)
		if err == nil {
			err = f.Close()
		}
		return err
	})
	if !made {
		return
	}
	info, err := u.p.Lstat(path)
	if err != nil {
		u.failFile(rel, what, err)
		return
	}
	u.holders[info.Ino] = len(u.links)
	u.later(&u.links, tarLater{path: path, target: target, ino: info.Ino, h: h})
}

// canLeadOut reports whether a link's target is absolute or goes up.
func canLeadOut(target string) bool {
	return strings.HasPrefix(target, "/") || hasDotDot(target)
}

func hasDotDot(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

func (u *tarUnpacker) hardLink(h *tarfile.Header, path, rel string) {
	target, ok := u.memberPath(h.Link, ofLink)
	if !ok {
		return
	}
	from := pathname.Resolve(u.dir, target)
	done := u.try(path, rel, "hard link to "+quoting.Name(target), func() error {
		err := u.p.Link(from, path)
		if errors.Is(err, fs.ErrExist) {
			a, e := u.p.Lstat(from)
			b, e2 := u.p.Lstat(path)
			if e == nil && e2 == nil && a.Ino == b.Ino {
				return nil
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			if _, e := u.p.Lstat(from); e != nil && !u.isParentMissing(path) {
				return &noSource{err}
			}
		}
		return err
	})
	if !done {
		return
	}
	if info, err := u.p.Lstat(path); err == nil {
		if i, ok := u.holders[info.Ino]; ok && u.links[i].ino == info.Ino && u.p.Reserve(len(path)+16) == nil {
			u.links[i].also = append(u.links[i].also, path)
		}
	}
}

// isParentMissing reports whether the directory of path does not exist.
func (u *tarUnpacker) isParentMissing(path string) bool {
	_, err := u.p.Stat(pathname.Dir(path))
	return err != nil
}

// noSource is the error of a hard link to a missing file. Making directories does not help then.
type noSource struct{ err error }

func (n *noSource) Error() string { return n.err.Error() }

func (n *noSource) Unwrap() error { return n.err }

// regular writes a file.
func (u *tarUnpacker) regular(a *tarInput, h *tarfile.Header, path, rel string) error {
	flag := os.O_WRONLY | os.O_CREATE | os.O_EXCL | syscall.O_NONBLOCK
	if u.take.old == oldOverwrite {
		flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	}
	var f *vfs.File
	if !u.try(path, rel, "open", func() (err error) {
		f, err = u.p.OpenFile(path, flag, 0o600)
		return err
	}) {
		return u.ended
	}
	err := u.content(a, h, f)
	if e := f.Close(); err == nil {
		err = e
	}
	if packing.IsWriteError(err) {
		u.failFile(rel, "write", err)
		err = u.ended
	}
	if err == nil {
		u.attributes(path, h)
	}
	return err
}

// content writes what the member holds; holes stay holes.
func (u *tarUnpacker) content(a *tarInput, h *tarfile.Header, f *vfs.File) error {
	if !h.Holes {
		return u.copy(a, f, h.Stored)
	}
	for _, r := range h.Runs {
		if _, err := f.Seek(r.Off, 0); err != nil {
			return &packing.WriteError{Err: err}
		}
		if err := u.copy(a, f, r.Size); err != nil {
			return err
		}
	}
	if err := f.Truncate(h.Size); err != nil {
		return &packing.WriteError{Err: err}
	}
	return nil
}

func (u *tarUnpacker) copy(a *tarInput, f *vfs.File, size int64) error {
	if u.buf == nil {
		u.buf = make([]byte, program.BufferSize)
	}
	for size > 0 {
		n, err := a.Read(u.buf[:min(int64(len(u.buf)), size)])
		size -= int64(n)
		if n > 0 {
			if _, err := f.Write(u.buf[:n]); err != nil {
				return &packing.WriteError{Err: err}
			}
		}
		if err != nil && size > 0 {
			if program.IsEnd(err) {
				return tarfile.ErrTruncated
			}
			return err
		}
	}
	return nil
}

// writeOut writes a member to out, with zeros for holes.
func (j *tarJob) writeOut(a *tarInput, h *tarfile.Header, out io.Writer) error {
	at := int64(0)
	zero := func(to int64) error {
		n, err := packing.Copy(j.p, out, &zeroReader{to - at})
		at += n
		return err
	}
	runs := h.Runs
	if !h.Holes {
		runs = []tarfile.Run{{Off: 0, Size: h.Stored}}
	}
	for _, r := range runs {
		if err := zero(r.Off); err != nil {
			return err
		}
		n, err := packing.Copy(j.p, out, &limitedReader{a, r.Size})
		if at += n; err != nil {
			return err
		}
	}
	return zero(h.Size)
}

// limitedReader reads so many bytes.
type limitedReader struct {
	in   *tarInput
	left int64
}

func (l *limitedReader) Read(b []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	n, err := l.in.Read(b[:min(int64(len(b)), l.left)])
	if l.left -= int64(n); program.IsEnd(err) && l.left > 0 {
		err = tarfile.ErrTruncated
	}
	return n, err
}

// zeroReader is so many zeros.
type zeroReader struct{ left int64 }

func (z *zeroReader) Read(b []byte) (int, error) {
	if z.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), z.left))
	clear(b[:n])
	z.left -= int64(n)
	return n, nil
}

// attributes gives a file its owner, permissions and times.
func (u *tarUnpacker) attributes(path string, h *tarfile.Header) {
	link := h.Type == tarfile.Symlink
	if u.take.sameOwner {
		uid, gid := h.UID, h.GID
		if !u.as.numeric {
			if e, ok := accounts.ByName(u.accounts.AllUsers(), h.User); ok && h.User != "" {
				uid = e.ID
			}
			if e, ok := accounts.ByName(u.accounts.AllGroups(), h.Group); ok && h.Group != "" {
				gid = e.ID
			}
		}
		if err := u.p.Chown(path, uid, gid, false); err != nil {
			u.fail("%s: Cannot change ownership to uid %d, gid %d: %s", quoteTarName(path), uid, gid, shell.Strerror(err))
		}
	}
	if !link {
		mode := h.Mode
		if !u.take.samePermissions {
			mode &^= uint32(u.p.Umask().Perm())
			mode &= 0o777
		}
		if err := u.p.Chmod(path, filemode.FromBits(mode)); err != nil {
			u.fail("%s: Cannot change mode to %s: %s", quoteTarName(path), filemode.PermString(mode), shell.Strerror(err))
		}
	}
	if u.take.touch {
		return
	}
	atime := h.Atime
	if atime.IsZero() {
		atime = u.p.Now()
	}
	if err := u.p.Chtimes(path, atime, h.Mtime, false); err != nil {
		u.fail("%s: Cannot utime: %s", quoteTarName(path), shell.Strerror(err))
	}
}
