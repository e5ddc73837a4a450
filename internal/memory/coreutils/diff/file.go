package diff

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// diffFile is one of two files that are compared.
type diffFile struct {
	name   string
	info   vfs.Info
	absent bool
	err    error

	text       string
	lines      []string // without newlines
	incomplete bool     // the last line has no newline
}

// stat looks at a file; one that may be missing is absent.
func (d *diffJob) stat(name string) *diffFile {
	f := &diffFile{name: name}
	switch {
	case name == "-":
		f.info = vfs.Info{Name: "-", Mode: fs.ModeNamedPipe, Mtime: d.p.Now()}
		if info, err := d.p.Stat("/dev/stdin"); err == nil && info.Mode.IsRegular() {
			f.info = info
		}
	case d.noFollow:
		f.info, f.err = d.p.Lstat(name)
	default:
		f.info, f.err = d.p.Stat(name)
	}
	return f
}

// compare compares two names and returns 0, 1 or 2; within says that they come from
// directories.
func (d *diffJob) compare(first, second string, within bool) int {
	if err := d.p.Spend(1); err != nil {
		d.ended = err
		return 2
	}
	a, b := d.stat(first), d.stat(second)
	if !within {
		d.intoDirectory(a, b)
	}
	if status, done := d.missing(a, b, within); done {
		return status
	}
	switch {
	case a.isDir() && b.isDir():
		if within && !d.recursive {
			d.message("Common subdirectories: %s and %s\n", a.name, b.name)
			return 0
		}
		return d.directories(a, b)
	case within && d.kindsDiffer(a, b):
		d.message("File %s is a %s while file %s is a %s\n", d.shown(0, a), diffKind(a.info), d.shown(1, b), diffKind(b.info))
		return 1
	case d.noFollow && a.info.Mode&fs.ModeSymlink != 0 && b.info.Mode&fs.ModeSymlink != 0:
		return d.links(a, b)
	}
	return d.files(a, b, within)
}

func (f *diffFile) isDir() bool { return f.err == nil && f.info.IsDir() }

// intoDirectory makes "DIR FILE" mean the file of that name in DIR.
func (d *diffJob) intoDirectory(a, b *diffFile) {
	into := func(dir, file *diffFile) {
		if file.name == "-" {
			return
		}
		*dir = *d.stat(strings.TrimRight(dir.name, "/") + "/" + path.Base(file.name))
	}
	switch {
	case a.isDir() && b.err == nil && !b.isDir():
		into(a, b)
	case b.isDir() && a.err == nil && !a.isDir():
		into(b, a)
	}
}

// missing handles files that stat fails for.
func (d *diffJob) missing(a, b *diffFile, within bool) (status int, done bool) {
	gone := func(f *diffFile) bool { return f.err != nil && shell.Strerror(f.err) == "No such file or directory" }
	if gone(a) && b.err == nil && d.newFirst {
		a.absent, a.err = true, nil
		a.info = vfs.Info{Mode: b.info.Mode, Mtime: time.Unix(0, 0)}
	} else if gone(b) && a.err == nil && d.newFile {
		b.absent, b.err = true, nil
		b.info = vfs.Info{Mode: a.info.Mode, Mtime: time.Unix(0, 0)}
	}
	for _, f := range []*diffFile{a, b} {
		if f.err != nil {
			d.complain(f)
			status, done = 2, true
		}
	}
	if !done && !within {
		if dir, other := a, b; a.isDir() != b.isDir() {
			if b.isDir() {
				dir, other = b, a
			}
			if other.name == "-" {
				_ = dir
				_ = d.out.Flush()
				d.p.Warn("cannot compare '-' to a directory")
				return 2, true
			}
			return 0, false
		}
	}
	return status, done
}

func (d *diffJob) complain(f *diffFile) {
	_ = d.out.Flush()
	d.p.Warn("%s: %s", f.name, shell.Strerror(f.err))
}

func (d *diffJob) message(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

func (d *diffJob) kindsDiffer(a, b *diffFile) bool {
	if a.absent || b.absent {
		return a.info.IsDir() != b.info.IsDir()
	}
	plain := func(f *diffFile) bool { return f.info.Mode.IsRegular() }
	if a.info.Mode.Type() != b.info.Mode.Type() {
		return true
	}
	return !plain(a) && a.info.Mode&fs.ModeSymlink == 0
}

// shown is a file's label, or else its name.
func (d *diffJob) shown(i int, f *diffFile) string {
	if l := d.labels[i]; l != nil {
		return *l
	}
	return f.name
}

func diffKind(i vfs.Info) string {
	switch m := i.Mode; {
	case m.IsRegular() && i.Size == 0:
		return "regular empty file"
	case m.IsRegular():
		return "regular file"
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "fifo"
	case m&fs.ModeCharDevice != 0:
		return "character special file"
	case m&fs.ModeDevice != 0:
		return "block special file"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "weird file"
}

func (d *diffJob) links(a, b *diffFile) int {
	x, err := d.p.Readlink(a.name)
	if err != nil {
		a.err = err
		d.complain(a)
		return 2
	}
	y, err := d.p.Readlink(b.name)
	if err != nil {
		b.err = err
		d.complain(b)
		return 2
	}
	if x != y {
		d.message("Symbolic links %s and %s differ\n", a.name, b.name)
		return 1
	}
	return 0
}

// maxDepth bounds how deep directories are compared.
const maxDepth = 1000

// directories compares the entries of two directories.
func (d *diffJob) directories(a, b *diffFile) int {
	d.depth++
	defer func() { d.depth-- }()
	if d.depth > maxDepth {
		a.err = fs.ErrInvalid
		d.complain(a)
		return 2
	}
	x, okX := d.list(a)
	y, okY := d.list(b)
	if !okX || !okY {
		return 2
	}
	status := 0
	for len(x) > 0 || len(y) > 0 {
		if d.ended != nil || d.out.HasFailed() {
			return status
		}
		order := d.order(x, y)
		var left, right string
		if order <= 0 {
			left, x = x[0], x[1:]
		}
		if order >= 0 {
			right, y = y[0], y[1:]
		}
		if left == "" && !d.newFirst || right == "" && !d.newFile {
			dir, name := a.name, left
			if left == "" {
				dir, name = b.name, right
			}
			d.message("Only in %s: %s\n", dir, name)
			status = max(status, 1)
			continue
		}
		if left == "" {
			left = right
		} else if right == "" {
			right = left
		}
		status = max(status, d.compare(diffJoin(a.name, left), diffJoin(b.name, right), true))
	}
	return status
}

func diffJoin(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

func (d *diffJob) order(x, y []string) int {
	switch {
	case len(x) == 0:
		return 1
	case len(y) == 0:
		return -1
	}
	return d.nameOrder(x[0], y[0])
}

func (d *diffJob) nameOrder(a, b string) int {
	if d.foldNames {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	}
	return strings.Compare(a, b)
}

func (d *diffJob) list(dir *diffFile) ([]string, bool) {
	if dir.absent {
		return nil, true
	}
	entries, err := d.p.ReadDir(dir.name)
	if err != nil {
		dir.err = err
		d.complain(dir)
		return nil, false
	}
	var names []string
	for _, e := range entries {
		if !d.excluded(e.Name) && (d.depth > 1 || d.startAt == "" || d.nameOrder(e.Name, d.startAt) >= 0) {
			names = append(names, e.Name)
		}
	}
	slices.SortFunc(names, d.nameOrder)
	return names, true
}

// read loads a file's content.
func (d *diffJob) read(f *diffFile) bool {
	if f.absent {
		return true
	}
	if f.name == "-" && d.hasIn {
		f.text = string(d.stdin)
		return true
	}
	in, err := program.OpenInput(d.p, f.name)
	if err != nil {
		f.err = err
		d.complain(f)
		return false
	}
	defer in.Close()
	text, err := program.ReadWhole(d.p, in)
	if err != nil {
		if d.p.Context().Err() != nil {
			d.ended = err
			return false
		}
		f.err = err
		d.complain(f)
		return false
	}
	if f.name == "-" {
		d.stdin, d.hasIn = text, true
	}
	f.text = string(text)
	return true
}

// split makes lines of the text.
func (f *diffFile) split(stripCR bool) {
	text := f.text
	if stripCR {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if text == "" {
		return
	}
	f.lines = strings.Split(text, "\n") // bounded: ReadWhole has charged for lines
	if last := len(f.lines) - 1; f.lines[last] == "" {
		f.lines = f.lines[:last]
	} else {
		f.incomplete = true
	}
}
