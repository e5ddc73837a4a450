package text

import (
	"bytes"
	"io"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func indexByte(b []byte, c byte) int { return bytes.IndexByte(b, c) }

func lastIndexByte(b []byte, c byte) int { return bytes.LastIndexByte(b, c) }

func countByte(b []byte, c byte) int64 { return int64(bytes.Count(b, []byte{c})) }

// followedFile is a file that tail -f watches.
type followedFile struct {
	name, label string
	in          io.ReadCloser // nil when there is none of that name
	ino         uint64
	size        int64
}

func (t *tail) newFollowed(name, label string, in io.ReadCloser) *followedFile {
	f := &followedFile{name: name, label: label, in: in}
	if info, err := t.p.Stat(pathOf(name)); err == nil {
		f.ino, f.size = info.Ino, info.Size
	}
	return f
}

func pathOf(name string) string {
	if name == "-" {
		return "/dev/stdin"
	}
	return name
}

// watch writes what is appended to the files until the process ends.
func (t *tail) watch() (status int) {
	if len(t.followed) == 0 {
		t.p.Warn("no files remaining")
		return 1
	}
	if err := t.out.Flush(); err != nil {
		t.ended = err
		return 1
	}
	defer func() {
		for _, f := range t.followed {
			if f.in != nil {
				_ = f.in.Close()
			}
		}
	}()
	for {
		for _, f := range t.followed {
			t.more(f)
		}
		if err := t.out.Flush(); err != nil {
			t.ended = err
		}
		if t.ended != nil || t.pid > 0 && !t.isAlive() {
			return 0
		}
		if !t.p.Sleep(t.interval, nil) {
			t.ended = t.p.Context().Err()
			return 0
		}
	}
}

// isAlive reports whether the process of --pid is still there.
func (t *tail) isAlive() bool {
	return t.p.Run(shell.Spawn{Args: []string{"sh", "-c", "kill -0 " + strconv.Itoa(t.pid)}, Stdout: io.Discard, Stderr: io.Discard}) == 0
}

// more writes what a file has gained.
func (t *tail) more(f *followedFile) {
	if t.byName && f.name != "-" {
		t.reopen(f)
	}
	if f.in == nil {
		return
	}
	if info, err := t.p.Stat(pathOf(f.name)); err == nil && info.Ino == f.ino && info.Mode.IsRegular() {
		if info.Size < f.size {
			_ = t.out.Flush()
			t.p.Warn("%s: file truncated", shell.QuoteIfNeeded(f.name))
			if s, ok := f.in.(io.Seeker); ok {
				_, _ = s.Seek(0, io.SeekStart)
			}
		}
		f.size = info.Size
	}
	buf := make([]byte, program.BufferSize)
	for {
		n, err := t.read(f.in, buf)
		if n > 0 {
			t.header(f.label)
			_, _ = t.out.Write(buf[:n])
		}
		if n == 0 || err != nil || t.out.HasFailed() {
			return
		}
	}
}

// reopen opens the file that has the name now.
func (t *tail) reopen(f *followedFile) {
	info, err := t.p.Stat(f.name)
	switch {
	case err != nil && f.in != nil:
		_ = t.out.Flush()
		t.p.Warn("%s has become inaccessible: %s", shell.Quote(f.name), shell.Strerror(err))
		_ = f.in.Close()
		f.in = nil
		return
	case err != nil || f.in != nil && info.Ino == f.ino:
		return
	}
	in, err := t.p.Open(f.name)
	if err != nil {
		return
	}
	_ = t.out.Flush()
	if f.in == nil {
		t.p.Warn("%s has appeared;  following new file", shell.Quote(f.name))
	} else {
		t.p.Warn("%s has been replaced;  following new file", shell.Quote(f.name))
		_ = f.in.Close()
	}
	f.in, f.ino, f.size = in, info.Ino, info.Size
	if f.label == "" {
		f.label = f.name
	}
}
