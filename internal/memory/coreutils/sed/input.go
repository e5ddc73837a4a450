package sed

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// sedInput reads the lines of all files.
type sedInput struct {
	names  []string
	name   string // of the current file
	in     io.ReadCloser
	number int // of the current line
	fresh  bool
	stdin  bool // in is standard input

	buf  []byte
	r, w int
	eof  bool // of in

	// In-place editing.
	mode   fs.FileMode
	uid    uint32
	gid    uint32
	target string
	temp   string
}

// readLine takes the next line into the pattern space; more appends it. It returns
// false at the end of all files.
func (s *sed) readLine(more bool) bool {
	s.flushAppends()
	s.replaced = false
	if s.unbuffered {
		_ = s.main.Flush()
	}
	if more {
		s.own()
	}
	line, complete, ok := s.nextLine()
	if !ok || s.ended != nil {
		return false
	}
	if more {
		s.extend(line)
		if !s.charge(len(line)) {
			return false
		}
	} else {
		s.line, s.borrowed = line, true
		s.spend(1)
	}
	s.complete = complete
	s.input.number++
	return s.ended == nil
}

// nextLine returns the next line without its end; it is valid until more is read.
func (s *sed) nextLine() (line []byte, complete, ok bool) {
	in := &s.input
	for {
		if in.in == nil && !s.nextFile() {
			return nil, false, false
		}
		seen := 0
		for {
			if n := bytes.IndexByte(in.buf[in.r+seen:in.w], s.delim); n >= 0 {
				line = in.buf[in.r : in.r+seen+n]
				in.r += len(line) + 1
				return line, true, true
			}
			seen = in.w - in.r
			if !s.fill() {
				break
			}
		}
		if s.ended != nil {
			return nil, false, false
		}
		if in.w > in.r {
			line = in.buf[in.r:in.w]
			in.r = in.w
			return line, false, true
		}
		s.closeInput(true)
	}
}

// fill reads more of the current file; false at its end.
func (s *sed) fill() bool {
	in := &s.input
	if in.eof {
		return false
	}
	if in.r > 0 {
		in.w = copy(in.buf, in.buf[in.r:in.w])
		in.r = 0
	}
	if in.w == len(in.buf) {
		grow := max(program.BufferSize, len(in.buf))
		if len(in.buf) > 0 && s.p.Reserve(grow) != nil {
			s.panic(sedErrMemory)
			return false
		}
		in.buf = append(in.buf, make([]byte, grow)...)
	}
	room := in.buf[in.w:]
	if s.unbuffered && in.stdin {
		room = room[:1] // The next reader gets the text behind the line.
	}
	n, err := in.in.Read(room)
	in.w += n
	s.spend(1 + n>>6)
	if err != nil {
		in.eof = true
		if !program.IsEnd(err) {
			s.panic("read error on %s: %s", in.name, shell.Strerror(err))
		}
	}
	return s.ended == nil && (n > 0 || !in.eof)
}

// nextFile opens the next file that can be read.
func (s *sed) nextFile() bool {
	in := &s.input
	for len(in.names) > 0 && s.ended == nil {
		name := in.names[0]
		in.names = in.names[1:]
		if in.fresh {
			s.separateFile()
		}
		in.name, in.eof, in.r, in.w = name, false, 0, 0
		if in.stdin = name == "-" && !s.inPlace; in.stdin {
			in.in = io.NopCloser(s.p.Stdin)
			return true
		}
		f, err := s.p.Open(name)
		if err != nil {
			s.p.Warn("can't read %s: %s", name, shell.Strerror(err))
			s.status = sedBadInput
			continue
		}
		in.in = f
		if s.inPlace && !s.beginInPlace() {
			_ = f.Close()
			in.in = nil
			continue
		}
		return true
	}
	return false
}

// separateFile begins a file that has lines of its own.
func (s *sed) separateFile() {
	s.input.fresh = false
	s.input.number = 0
	s.hold, s.holdComplete = s.hold[:0], true
	for i := range s.prog.list {
		c := &s.prog.list[i]
		c.state = sedBefore
		if c.a1 != nil && c.a1.kind == sedLine && c.a1.number == 0 {
			c.state = sedInside
		}
	}
	for _, l := range s.readers {
		if l.in != nil {
			_ = l.in.Close()
		}
		*l = sedLines{name: l.name}
	}
}

// closeInput is done with the current file; ended reports whether all of it was read.
func (s *sed) closeInput(ended bool) {
	in := &s.input
	if in.in == nil {
		return
	}
	if in.stdin && !ended {
		s.giveBack()
	}
	_ = in.in.Close()
	in.in = nil
	in.fresh = s.separate
	if s.inPlace && in.temp != "" {
		s.endInPlace()
	}
}

// giveBack returns the surplus of standard input to the next reader.
func (s *sed) giveBack() {
	n := s.input.w - s.input.r
	if n == 0 {
		return
	}
	f, err := s.p.Stream(0)
	if err != nil {
		return
	}
	defer f.Close()
	// A pipe cannot go back, and need not.
	_, _ = f.Seek(-int64(n), io.SeekCurrent)
}

// isLast reports whether no line follows: in this file, or in any.
func (s *sed) isLast() bool {
	in := &s.input
	if in.r < in.w {
		return false
	}
	s.own()
	for s.ended == nil {
		if in.in != nil {
			for in.r == in.w {
				if !s.fill() {
					break
				}
			}
			if in.r < in.w {
				return false
			}
		}
		if s.separate {
			return true
		}
		if in.in != nil {
			s.closeInput(true)
		}
		if !s.nextFile() {
			return true
		}
	}
	return true
}

// beginInPlace makes the file that takes the place of the current one.
func (s *sed) beginInPlace() bool {
	in := &s.input
	name := in.name
	if s.follow {
		if real, err := s.p.Realpath(name); err == nil {
			name = real
		}
	}
	info, err := s.p.Stat(name)
	if err != nil || !info.Mode.IsRegular() {
		s.panic("couldn't edit %s: not a regular file", in.name)
		return false
	}
	dir := ""
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir = name[:i+1]
	}
	for {
		in.temp = dir + "sed" + pathname.RandomLetters(s.p.Rand(), 6)
		f, err := s.p.OpenFile(in.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if shell.Errno(err) == syscall.EEXIST && s.spend(1) {
			continue
		}
		if err != nil {
			in.temp = ""
			shown := dir
			if shown == "" {
				shown = "./"
			}
			s.panic("couldn't open temporary file %ssed%s: %s", shown, "XXXXXX", shell.Strerror(err))
			return false
		}
		in.target, in.mode, in.uid, in.gid = name, info.Mode.Perm()|info.Mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky), info.UID, info.GID
		s.main = newSedFile(f)
		return true
	}
}

// endInPlace puts the new file in the place of the old one, which may be saved under another name.
func (s *sed) endInPlace() {
	in := &s.input
	temp := in.temp
	in.temp = ""
	err := s.main.Flush()
	if e := s.main.closer.Close(); err == nil {
		err = e
	}
	s.main = s.stdout
	if err != nil {
		_ = s.p.Unlink(temp)
		s.panic("couldn't write to %s: %s", in.name, shell.Strerror(err))
		return
	}
	// Without the rights for this, the file keeps the process's owner or mode.
	_ = s.p.Chown(temp, in.uid, in.gid, false)
	_ = s.p.Chmod(temp, in.mode)
	if s.suffix != "" {
		if err := s.p.Rename(in.target, backupName(in.target, s.suffix)); err != nil {
			_ = s.p.Unlink(temp)
			s.panic("cannot rename %s: %s", in.target, shell.Strerror(err))
			return
		}
	}
	if err := s.p.Rename(temp, in.target); err != nil {
		_ = s.p.Unlink(temp)
		s.panic("cannot rename %s: %s", temp, shell.Strerror(err))
	}
}

// dropInPlace leaves the current file as it was.
func (s *sed) dropInPlace() {
	if in := &s.input; in.temp != "" {
		_ = s.main.closer.Close()
		s.main = s.stdout
		_ = s.p.Unlink(in.temp)
		in.temp = ""
	}
}

// backupName returns the name of a backup: the suffix is put behind its name, or each * in it is the name.
func backupName(name, suffix string) string {
	dir, base := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i+1], name[i+1:]
	}
	if !strings.Contains(suffix, "*") {
		return dir + base + suffix
	}
	backup := strings.ReplaceAll(suffix, "*", base)
	if strings.Contains(backup, "/") {
		return backup
	}
	return dir + backup
}
