package grep

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// grepFilter says which names are searched. The last pattern that matches a name decides. A name that no pattern matches is
// searched unless the first pattern is an --include.
type grepFilter []grepRule

type grepRule struct {
	glob string
	take bool
}

// isSkipped reports whether a name is left out. The pattern may match an operand from any of its path elements on; a name that
// the walk found has to match as a whole.
func (f grepFilter) isSkipped(name string, operand bool) bool {
	if len(f) == 0 {
		return false
	}
	for _, v := range slices.Backward(f) {
		if v.matches(name, operand) {
			return !v.take
		}
	}
	return f[0].take
}

func (r grepRule) matches(name string, operand bool) bool {
	for {
		if fnmatch.Match(r.glob, name, 0) {
			return true
		}
		i := strings.IndexByte(name, '/')
		if !operand || i < 0 {
			return false
		}
		name = name[i+1:]
	}
}

func (g *grep) filterOption(o *program.Options) (fail bool) {
	switch o.ID {
	case grepInclude, grepExclude:
		g.files = append(g.files, grepRule{o.Value, o.ID == grepInclude})
	case grepExcludeDir:
		name := strings.TrimRight(o.Value, "/")
		if name == "" && o.Value != "" {
			name = "/"
		}
		g.foundDirs = append(g.foundDirs, grepRule{name, false})
	case grepExcludeFrom:
		b, err := program.ReadInput(g.p, o.Value)
		if err != nil {
			g.fileError(o.Value, err)
			return true
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimRight(line, "\n"); line != "" {
				g.files = append(g.files, grepRule{line, false})
			}
		}
	}
	return false
}

// run searches the operands and returns the exit status.
func (g *grep) run() int {
	for _, name := range g.operands {
		if g.ended != nil || g.isOver() {
			break
		}
		g.operand(name)
	}
	status := 1
	if g.matched {
		status = 0
	}
	if g.failed && (!g.quiet || !g.matched) {
		status = 2
	}
	if errors.Is(g.ended, syscall.ENOMEM) {
		return 2
	}
	if g.ended != nil {
		return g.p.Status(g.ended)
	}
	if err := g.out.Flush(); err != nil {
		if status = g.p.WriteFailed(err); status == 1 {
			status = 2
		}
	}
	return status
}

// isOver reports whether no further file can change anything.
func (g *grep) isOver() bool { return g.quiet && g.matched || g.out.HasFailed() }

func (g *grep) operand(name string) {
	if name == "-" {
		g.search(g.label, g.p.Stdin)
		return
	}
	info, err := g.p.Stat(name)
	if err != nil {
		g.fileError(name, err)
		return
	}
	if info.Mode.IsDir() {
		g.directory(name, info)
		return
	}
	if g.files.isSkipped(name, true) || g.skipDevices && !info.Mode.IsRegular() {
		return
	}
	g.file(name, info)
}

func (g *grep) directory(name string, info vfs.Info) {
	switch g.dirs {
	case dirsSkip:
	case dirsRead:
		if g.files.isSkipped(name, true) {
			return
		}
		g.fileError(name, syscall.EISDIR)
	case dirsRecurse:
		if !g.dot && g.foundDirs.isSkipped(strings.TrimRight(name, "/"), true) {
			return
		}
		if g.names == 0 {
			g.showNames = true
		}
		g.walk(name, []uint64{info.Ino})
	}
}

// walk searches the content of a directory; above are the directories that lead to it.
func (g *grep) walk(dir string, above []uint64) {
	entries, err := g.p.ReadDir(dir)
	if err != nil {
		g.fileError(dir, err)
		return
	}
	for _, e := range entries {
		if g.ended != nil || g.isOver() {
			return
		}
		if g.ended = g.p.Spend(1); g.ended != nil {
			return
		}
		name := e.Name
		switch {
		case g.dot && dir == ".":
		case strings.HasSuffix(dir, "/"):
			name = dir + name
		default:
			name = dir + "/" + name
		}
		g.found(name, e, above)
	}
}

// found searches an entry of a directory.
func (g *grep) found(name string, e vfs.DirEntry, above []uint64) {
	mode := e.Mode
	if mode&fs.ModeSymlink != 0 {
		if !g.follow {
			return
		}
		info, err := g.p.Stat(name)
		if err != nil {
			g.fileError(name, err)
			return
		}
		mode, e.Ino = info.Mode, info.Ino
	}
	switch {
	case mode.IsDir():
		if g.foundDirs.isSkipped(e.Name, false) {
			return
		}
		if slices.Contains(above, e.Ino) {
			if !g.noMessages {
				g.flush()
				g.p.Warn("%s: warning: recursive directory loop", name)
			}
			return
		}
		g.walk(name, append(slices.Clip(above), e.Ino))
	case mode.IsRegular():
		if !g.files.isSkipped(path.Base(name), false) {
			info, err := g.p.Stat(name)
			if err != nil {
				g.fileError(name, err)
				return
			}
			g.file(name, info)
		}
	}
}

// file searches one file.
func (g *grep) file(name string, info vfs.Info) {
	f, err := g.p.Open(name)
	if err != nil {
		g.fileError(name, err)
		return
	}
	defer f.Close()
	if g.isOwnOutput(info) {
		g.failed = true
		if !g.noMessages {
			g.flush()
			g.p.Warn("%s: input file is also the output", name)
		}
		return
	}
	g.search(name, f)
}

// isOwnOutput reports whether the file is also the output: matches would be found
// again without end.
func (g *grep) isOwnOutput(info vfs.Info) bool {
	if g.quiet || g.list || g.listNot || g.max < 2 || !info.Mode.IsRegular() {
		return false
	}
	if !g.outKnown {
		g.outKnown = true
		if out, err := g.p.Stat("/dev/stdout"); err == nil && out.Mode.IsRegular() {
			g.outIno = out.Ino
		}
	}
	return g.outIno != 0 && info.Ino == g.outIno
}

// search searches one file and prints its results as a whole.
func (g *grep) search(name string, in io.Reader) {
	total := g.scan(name, in)
	if g.ended != nil {
		return
	}
	if total > 0 {
		g.matched = true
	}
	if g.quiet {
		return
	}
	s := &grepScan{grep: g, name: name}
	if g.count {
		if g.showNames {
			s.fileName()
			if g.nulNames {
				_ = g.out.WriteByte(0)
			} else {
				s.mark(':')
			}
		}
		_, _ = g.out.WriteString(strconv.FormatInt(total, 10) + "\n")
	}
	if g.list && total > 0 || g.listNot && total == 0 {
		s.fileName()
		end := byte('\n')
		if g.nulNames {
			end = 0
		}
		_ = g.out.WriteByte(end)
	}
	if g.buffered {
		g.flush()
	}
}
