package files

import (
	"io/fs"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// copier copies and moves files for cp, mv and install.
type copier struct {
	proc    *shell.Proc
	out     *program.Output
	backups backups

	ask         asking
	deref       dereference
	move        bool
	recursive   bool
	asRegular   bool // what is not a directory or link is read as a file
	keepMode    bool
	keepOwner   bool
	keepTimes   bool
	keepLinks   bool
	plainMode   bool // --no-preserve=mode
	setMode     *uint32
	force       bool // a target that cannot be opened is removed
	removeFirst bool
	update      bool
	verbose     bool
	hardLink    bool
	symLink     bool
	attributes  bool // no content
	sparse      sparseness

	sources map[string]bool   // operands that were copied
	made    map[string]bool   // what was made for operands
	copies  map[uint64]string // where files went, by inode
	top     [2]string         // the operand and its target
	endless bool              // a directory is being copied into itself
	moved   bool              // the file was renamed: the source is already gone
}

// asking says what happens before a file is overwritten.
type asking uint8

const (
	askUnset asking = iota
	askNot
	askUser
	askNever // and do not overwrite
)

type dereference uint8

const (
	derefUnset dereference = iota
	derefNever
	derefOperands
	derefAlways
)

type sparseness uint8

const (
	sparseAuto sparseness = iota
	sparseAlways
	sparseNever
)

var sparseWords = []choice.Choice[sparseness]{{Name: "never", Value: sparseNever}, {Name: "auto", Value: sparseAuto}, {Name: "always", Value: sparseAlways}}

func newCopier(p *shell.Proc, out *program.Output) *copier {
	return &copier{
		proc: p, out: out, asRegular: true, sources: make(map[string]bool), made: make(map[string]bool),
		copies: make(map[uint64]string),
	}
}

// copyTask is the copy of one file.
type copyTask struct {
	src, dst string
	info     vfs.Info // of src
	old      vfs.Info // of dst unless fresh
	fresh    bool     // dst does not exist
	operand  bool
	backup   string
	above    *pathname.Chain
}

func (c *copier) say(s string) { _, _ = c.out.WriteString(s + "\n") } // The error stays in out.

// isFollowed reports whether a link that is src is followed.
func (c *copier) isFollowed(operand bool) bool {
	return c.deref == derefAlways || c.deref == derefOperands && operand
}

func (c *copier) stat(path string, follow bool) (vfs.Info, error) {
	if follow {
		return c.proc.Stat(path)
	}
	return c.proc.Lstat(path)
}

// operand copies or moves one operand.
func (c *copier) operand(src, dst string) bool {
	c.top = [2]string{src, dst}
	c.moved, c.endless = false, false
	return c.copy(&copyTask{src: src, dst: dst, operand: true})
}

// copy brings one file over, with its descendants.
func (c *copier) copy(t *copyTask) bool {
	if c.proc.Spend(4) != nil || c.out.HasFailed() {
		return false
	}
	var err error
	if t.info, err = c.stat(t.src, c.isFollowed(t.operand)); err != nil {
		c.proc.Errorf(err, "cannot stat %s", shell.Quote(t.src))
		return false
	}
	if t.info.IsDir() && !c.recursive {
		hint := ""
		if c.proc.Name() != "install" {
			hint = "-r not specified; "
		}
		c.proc.Warn("%somitting directory %s", hint, shell.Quote(t.src))
		return false
	}
	if t.operand && c.isRepeated(t) {
		return true
	}
	if !t.fresh {
		if done, ok := c.meet(t); done {
			return ok
		}
	}
	if !c.safeTarget(t) {
		return false
	}
	if c.verbose && !c.move && !t.info.IsDir() {
		c.sayCopy(t)
	}
	if done, ok := c.earlier(t); done {
		return ok || c.undo(t)
	}
	if c.move {
		if done, ok := c.rename(t); done {
			return ok || c.undo(t)
		}
	}
	if !c.create(t) {
		return c.undo(t)
	}
	if t.operand {
		c.made[entryKey(c.proc, t.dst)] = true
	}
	return true
}

// undo gives a file its name back whose place was not taken. It returns false.
func (c *copier) undo(t *copyTask) bool {
	if t.backup == "" {
		return false
	}
	if err := c.proc.Rename(t.backup, t.dst); err != nil {
		c.proc.Errorf(err, "cannot un-backup %s", shell.Quote(t.dst))
	} else if c.verbose {
		c.say(shell.Quote(t.backup) + " -> " + shell.Quote(t.dst) + " (unbackup)")
	}
	return false
}

func (c *copier) sayCopy(t *copyTask) {
	s := shell.Quote(t.src) + " -> " + shell.Quote(t.dst)
	if t.backup != "" {
		s += " (backup: " + shell.Quote(t.backup) + ")"
	}
	c.say(s)
}

// isRepeated reports whether an operand was copied before, and says so.
func (c *copier) isRepeated(t *copyTask) bool {
	if t.info.IsDir() || c.backups.kind != backupNone {
		return false
	}
	key := entryKey(c.proc, t.src)
	if c.sources[key] {
		c.proc.Warn("warning: source file %s specified more than once", shell.Quote(t.src))
		return true
	}
	c.sources[key] = true
	return false
}

// entryKey is the same for all paths of one name in one directory.
func entryKey(p *shell.Proc, path string) string {
	dir, err := p.Realpath(pathname.Dir(path))
	if err != nil {
		return p.Abs(path)
	}
	return pathname.Join(dir, pathname.Base(path))
}

// safeTarget refuses to write through a link that an operand has just become.
func (c *copier) safeTarget(t *copyTask) bool {
	if !t.operand || c.move {
		return true
	}
	info, err := c.proc.Lstat(t.dst)
	if err != nil || info.Mode&fs.ModeSymlink == 0 || !c.made[entryKey(c.proc, t.dst)] || c.backups.kind != backupNone {
		return true
	}
	c.proc.Warn("will not copy %s through just-created symlink %s", shell.Quote(t.src), shell.Quote(t.dst))
	return false
}

// earlier makes a link when the file was copied before, and finds directories that would
// be copied into themselves.
func (c *copier) earlier(t *copyTask) (done, ok bool) {
	first, known := c.copies[t.info.Ino]
	switch {
	case c.recursive && t.info.IsDir():
		if !known {
			if t.operand {
				c.copies[t.info.Ino] = t.dst
			}
			return false, false
		}
		return c.earlierDir(t, first)
	case c.move && t.info.Nlink == 1, !c.keepLinks:
		return false, false
	case t.info.Nlink > 1 || c.isFollowed(t.operand):
		if !known {
			c.copies[t.info.Ino] = t.dst
			return false, false
		}
		return true, c.linkTo(first, t)
	}
	return false, false
}

func (c *copier) earlierDir(t *copyTask, first string) (done, ok bool) {
	switch {
	case isSameName(c.proc, t.src, first):
		c.proc.Warn("cannot copy a directory, %s, into itself, %s", shell.Quote(c.top[0]), shell.Quote(c.top[1]))
		c.endless = true
	case isSameName(c.proc, t.dst, first):
		c.proc.Warn("warning: source directory %s specified more than once", shell.Quote(c.top[0]))
		return true, true
	case c.isFollowed(t.operand):
		return false, false
	default:
		c.proc.Warn("will not create hard link %s to directory %s", shell.Quote(t.dst), shell.Quote(first))
	}
	return true, false
}

// linkTo makes dst a further name of a copy.
func (c *copier) linkTo(first string, t *copyTask) bool {
	err := c.proc.Link(first, t.dst)
	if shell.Errno(err) == syscall.EEXIST {
		if err = c.proc.Unlink(t.dst); err == nil {
			err = c.proc.Link(first, t.dst)
		}
	}
	if err != nil {
		c.proc.Errorf(err, "cannot create hard link %s to %s", shell.Quote(t.dst), shell.Quote(first))
		return false
	}
	return true
}

// isSameName reports whether two paths are the same entry of the same directory.
func isSameName(p *shell.Proc, a, b string) bool {
	return pathname.Base(a) == pathname.Base(b) && entryKey(p, a) == entryKey(p, b)
}
