package listing

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// lsLister writes the listing.
type lsLister struct {
	*lsConfig
	out    *program.Output
	held   int  // bytes that are charged for files
	first  bool // no directory has been written yet
	header bool // directories are written with their names
	status int
	stack  []lsDir // directories to list; the last is next
	above  map[uint64]bool
	widths lsWidths
	offset lsOffsets
	color  bool // a colour has been written
}

// lsDir is a directory that waits to be listed.
type lsDir struct {
	path    string
	operand bool
	leave   uint64 // not 0: the inode of a directory that is done with its subdirectories
}

// lsFile is a file that is listed.
type lsFile struct {
	name      string
	path      string // for further questions
	mode      fs.FileMode
	ino       uint64
	info      vfs.Info
	known     bool // info is filled in
	failed    bool
	target    string      // what a link says
	leads     fs.FileMode // the mode of the target
	leadsOK   bool
	shown     string // the name as written
	width     int
	operand   bool
	linkShown bool
}

func (f *lsFile) dir() bool { return f.mode.IsDir() }

// fail keeps the worst status.
func (l *lsLister) fail(operand bool) {
	if operand {
		l.status = 2
	} else if l.status == 0 {
		l.status = 1
	}
}

func (l *lsLister) run(operands []string) int {
	if len(operands) == 0 {
		operands = []string{"."}
	}
	var files []*lsFile
	for _, name := range operands {
		if err := l.charge(len(name)); err != nil {
			return l.proc.Status(err)
		}
		f, ok := l.lookAtOperand(name)
		if ok {
			files = append(files, f)
		}
	}
	l.sortFiles(files)
	var plain []*lsFile
	for _, f := range files {
		if f.dir() && !l.itself {
			l.stack = append(l.stack, lsDir{path: f.name, operand: true})
		} else {
			plain = append(plain, f)
		}
	}
	slices.Reverse(l.stack)
	l.header = l.recursive || len(operands) > 1
	if len(plain) > 0 {
		// The directories among the operands count for the widths, though they come later.
		l.measure(files)
		l.write(plain)
		if len(l.stack) > 0 {
			l.put("\n")
		}
	}
	if err := l.listAll(); err != nil {
		_ = l.out.Flush()
		return l.proc.Status(err)
	}
	l.end()
	return l.status
}

// lsFileWeight is the memory of a file that is to be listed, in bytes, without its path.
const lsFileWeight = 320

// charge counts a file that is to be listed. It asks for time, too.
func (l *lsLister) charge(path int) error {
	n := lsFileWeight + 2*path
	err := l.proc.Spend(4)
	if err == nil {
		if err = l.proc.Reserve(n); err != nil {
			l.proc.Warn("memory exhausted")
			return err
		}
	}
	l.held += n
	return err
}

func (l *lsLister) listAll() error {
	l.above = make(map[uint64]bool)
	for len(l.stack) > 0 {
		d := l.stack[len(l.stack)-1]
		l.stack = l.stack[:len(l.stack)-1]
		if d.leave != 0 {
			delete(l.above, d.leave)
			continue
		}
		if err := l.proc.Spend(1); err != nil {
			return err
		}
		if err := l.listDir(d); err != nil {
			return err
		}
		if l.out.HasFailed() {
			return nil
		}
	}
	return nil
}

// lookAtOperand finds out what an operand is.
func (l *lsLister) lookAtOperand(name string) (*lsFile, bool) {
	f := &lsFile{name: name, path: name, operand: true}
	var err error
	switch l.follow {
	case followAll, followOperands:
		f.info, err = l.proc.Stat(name)
	case followDirOperands:
		f.info, err = l.proc.Stat(name)
		if err != nil && shell.Errno(err) == syscall.ENOENT || err == nil && !f.info.IsDir() {
			f.info, err = l.proc.Lstat(name)
		}
	default:
		f.info, err = l.proc.Lstat(name)
	}
	if err != nil {
		l.proc.Errorf(err, "cannot access %s", shell.Quote(name))
		l.fail(true)
		return nil, false
	}
	f.known, f.mode, f.ino = true, f.info.Mode, f.info.Ino
	l.lookAtLink(f)
	l.shape(f)
	return f, true
}

// lookAtLink reads a link where its target is shown or decides on something.
func (l *lsLister) lookAtLink(f *lsFile) {
	if f.mode&fs.ModeSymlink == 0 || f.failed {
		return
	}
	if l.format == formatLong {
		target, err := l.proc.Readlink(f.path)
		if err != nil {
			l.proc.Errorf(err, "cannot read symbolic link %s", shell.Quote(f.path))
			l.fail(f.operand)
		} else {
			f.target, f.linkShown = target, true
		}
	}
	if l.format == formatLong && l.indicator > indicateDirs || l.dirsFirst || l.colors.asksLinks(l.format) {
		if info, err := l.proc.Stat(f.path); err == nil {
			f.leads, f.leadsOK = info.Mode, true
		}
	}
}

// needsInfo reports whether more than an entry's name and type has to be known.
func (l *lsConfig) needsInfo(e vfs.DirEntry) bool {
	if l.format == formatLong || l.blocks || l.sort == sortSize || l.sort == sortTime || l.indicator == indicateAll ||
		l.colors != nil || l.context {
		return true
	}
	return l.follow == followAll && e.Mode&fs.ModeSymlink != 0 &&
		(l.inode || l.recursive || l.dirsFirst || l.indicator != indicateNone)
}

// shape makes the name as it is written.
func (l *lsLister) shape(f *lsFile) {
	f.shown = l.quoteName(f.name)
	quoting.EachPrintable(f.shown, func(text string, _ byte) {
		if text != "" {
			f.width += utf8.RuneCountInString(text)
		}
	})
}

// quoteName writes a name in the style of the listing.
func (l *lsConfig) quoteName(name string) string {
	s := quoting.Quote(name, l.quoting, l.special)
	if !l.hideControl {
		return s
	}
	var b strings.Builder
	quoting.EachPrintable(s, func(text string, _ byte) {
		if text == "" {
			text = "?"
		}
		b.WriteString(text) // bounded: by the quoted name
	})
	return b.String()
}

// listDir writes a directory and puts what is below it on the stack.
func (l *lsLister) listDir(d lsDir) error {
	entries, err := l.proc.ReadDir(d.path)
	if err != nil {
		l.proc.Errorf(err, "cannot open directory %s", shell.Quote(d.path))
		l.fail(d.operand)
		return nil
	}
	if l.recursive && !l.enter(d) {
		return nil
	}
	if l.header {
		l.writeHeader(d.path)
	}
	held := l.held
	files, err := l.gather(d.path, entries)
	if err != nil {
		return err
	}
	l.sortFiles(files)
	if l.recursive {
		l.push(d.path, files)
	}
	if l.format == formatLong || l.blocks {
		var total int64
		for _, f := range files {
			total += f.info.Blocks * 512
		}
		l.indent()
		l.put("total " + l.blockUnit.Show(total))
		l.put(string(l.eol))
	}
	l.measure(files)
	l.write(files)
	l.proc.Release(l.held - held)
	l.held = held
	return nil
}

// enter remembers the directory, against a circle of links with -L.
func (l *lsLister) enter(d lsDir) bool {
	info, err := l.proc.Stat(d.path)
	if err != nil {
		return true
	}
	if l.above[info.Ino] {
		l.proc.Warn("%s: not listing already-listed directory", shell.QuoteIfNeeded(d.path))
		l.fail(true)
		return false
	}
	l.above[info.Ino] = true
	l.stack = append(l.stack, lsDir{leave: info.Ino})
	return true
}

func (l *lsLister) writeHeader(path string) {
	if !l.first {
		l.put("\n")
	}
	l.first = false
	l.indent()
	start := l.offset.at
	if l.hyperlink {
		l.putLink(path)
	}
	style := l.quoting
	l.put(quoting.Quote(path, style, l.special+":"))
	if l.hyperlink {
		l.put("\033]8;;\a")
	}
	l.offset.dir(start)
	l.put(":\n")
}

// gather looks at the entries that are to be listed.
func (l *lsLister) gather(dir string, entries []vfs.DirEntry) ([]*lsFile, error) {
	files := make([]*lsFile, 0, len(entries)+2)
	add := func(e vfs.DirEntry) {
		f := &lsFile{name: e.Name, path: pathname.Beside(dir, e.Name), mode: e.Mode, ino: e.Ino}
		if l.needsInfo(e) || e.Name == "." || e.Name == ".." {
			l.lookAt(f)
		}
		l.lookAtLink(f)
		l.shape(f)
		files = append(files, f)
	}
	if l.hidden == lsAll {
		for _, name := range []string{".", ".."} {
			if !fnmatch.MatchesAny(l.ignore, name) {
				add(vfs.DirEntry{Name: name, Mode: fs.ModeDir})
			}
		}
	}
	for i, e := range entries {
		if i%64 == 0 {
			if err := l.proc.Spend(64); err != nil {
				return nil, err
			}
		}
		if l.skips(e.Name) {
			continue
		}
		if err := l.charge(len(dir) + len(e.Name)); err != nil {
			return nil, err
		}
		add(e)
	}
	return files, nil
}

func (l *lsLister) lookAt(f *lsFile) {
	var err error
	if l.follow == followAll {
		f.info, err = l.proc.Stat(f.path)
	} else {
		f.info, err = l.proc.Lstat(f.path)
	}
	if err != nil {
		l.proc.Errorf(err, "cannot access %s", shell.Quote(f.path))
		l.fail(false)
		f.failed = true
		return
	}
	f.known, f.mode, f.ino = true, f.info.Mode, f.info.Ino
}

func (l *lsLister) skips(name string) bool {
	if l.hidden == lsPlain && (strings.HasPrefix(name, ".") || fnmatch.MatchesAny(l.hide, name)) {
		return true
	}
	return fnmatch.MatchesAny(l.ignore, name)
}

// lsDirMemory is about how many bytes a directory takes beside its path, in a list that grows.
const lsDirMemory = 96

// push puts subdirectories on the stack, the first on top.
func (l *lsLister) push(dir string, files []*lsFile) {
	for _, f := range slices.Backward(files) {
		if f.dir() && f.name != "." && f.name != ".." {
			path := pathname.Join(dir, f.name)
			if l.proc.Reserve(len(path)+lsDirMemory) != nil {
				return
			}
			l.stack = append(l.stack, lsDir{path: path})
		}
	}
}
