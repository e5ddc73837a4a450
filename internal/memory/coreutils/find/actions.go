package find

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// plainAction reads the actions without arguments.
func (p *findParser) plainAction(w string) (predicate, bool) {
	switch w {
	case "-print":
		p.acts = true
		return p.printer(p.standardOutput(), "\n"), true
	case "-print0":
		p.acts = true
		return p.printer(p.standardOutput(), "\x00"), true
	case "-ls":
		p.acts = true
		return p.lister(p.standardOutput()), true
	case "-prune":
		p.prunes = true
		return func(e *findEntry) bool {
			e.pruned = true
			return true
		}, true
	case "-quit":
		return func(e *findEntry) bool {
			e.finder.quit = true
			return true
		}, true
	case "-delete":
		p.acts, p.depthFirst, p.deletes = true, true, true
		return p.remove, true
	}
	return nil, false
}

func (p *findParser) standardOutput() *findFile {
	return &findFile{w: p.out, close: func() error { return nil }}
}

// file opens a file for -fprint and its like; several actions share one.
func (p *findParser) file(name string) *findFile {
	switch name {
	case "/dev/stdout":
		return p.standardOutput()
	case "/dev/stderr":
		return &findFile{w: p.proc.Stderr, close: func() error { return nil }}
	}
	if f, ok := p.files[name]; ok {
		return f
	}
	file, err := p.proc.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		p.fault("%s: %s", quoting.Name(name), shell.Strerror(err))
		return nil
	}
	f := &findFile{w: file, close: file.Close}
	p.files[name] = f
	return f
}

func (p *findParser) printer(to *findFile, end string) predicate {
	return func(e *findEntry) bool {
		to.write(e.path + end)
		return true
	}
}

func (p *findParser) fprint(w, name string) predicate {
	p.acts = true
	to := p.file(name)
	if to == nil {
		return nil
	}
	if w == "-fprint0" {
		return p.printer(to, "\x00")
	}
	return p.printer(to, "\n")
}

func (p *findParser) fls(_, name string) predicate {
	p.acts = true
	to := p.file(name)
	if to == nil {
		return nil
	}
	return p.lister(to)
}

func (p *findParser) printf(_, format string) predicate {
	p.acts = true
	return p.formatter(p.standardOutput(), format)
}

func (p *findParser) fprintf(w, name string) predicate {
	p.acts = true
	to := p.file(name)
	if to == nil {
		return nil
	}
	if p.pos >= len(p.words) {
		p.fault("invalid argument `%s' to `%s'", name, w)
		return nil
	}
	p.pos++
	return p.formatter(to, p.words[p.pos-1])
}

// remove is -delete.
func (f *finder) remove(e *findEntry) bool {
	if e.path == "." || strings.HasSuffix(e.path, "/.") && e.depth == 0 {
		return true
	}
	var err error
	if e.mode.IsDir() {
		err = f.proc.Rmdir(e.path)
	} else {
		err = f.proc.Unlink(e.path)
	}
	if err != nil {
		f.proc.Errorf(err, "cannot delete %s", quoting.Name(e.path))
		f.status = 1
		return false
	}
	return true
}

// lister is -ls: a line as of ls -dils.
func (p *findParser) lister(to *findFile) predicate {
	return func(e *findEntry) bool {
		if !e.stat() {
			return false
		}
		i := &e.info
		size := fmt.Sprintf("%8d", i.Size)
		if i.Mode&fs.ModeDevice != 0 {
			size = fmt.Sprintf("%3d, %3d", vfs.Major(i.Rdev), vfs.Minor(i.Rdev))
		}
		line := fmt.Sprintf("%9d %6d %s %3d %-8s %-8s %s %s %s", i.Ino, sizes.CeilDiv(i.Blocks, 2), filemode.String(i.Mode), i.Nlink,
			p.accounts.User(i.UID), p.accounts.Group(i.GID), size, p.listTime(i.Mtime), quoting.EscapeC(e.path, " "))
		if i.Mode&fs.ModeSymlink != 0 {
			if target, err := p.proc.Readlink(e.path); err == nil {
				line += " -> " + quoting.EscapeC(target, " ")
			}
		}
		to.write(line + "\n")
		return true
	}
}

func (p *findParser) listTime(t time.Time) string {
	if t.Before(p.now.Add(-filetime.HalfYear)) || t.After(p.now.Add(time.Hour)) {
		return strftime.Format("%b %e  %Y", t.In(p.zone))
	}
	return strftime.Format("%b %e %H:%M", t.In(p.zone))
}
