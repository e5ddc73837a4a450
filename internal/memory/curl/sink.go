package curl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// sink is the destination of a response. A file is created with the first byte.
type sink struct {
	t        *transfer
	name     string // "": standard output
	fixed    bool   // it may not get another name
	file     *vfs.File
	opened   bool
	resumeAt int64
	nothing  bool // the rest is not wanted
	skip     bool
	start    int64 // of this attempt in the file
	headers  io.Writer
	out      io.Writer // in the place of standard output; nil: that
}

// newSink finds out where the transfer's output goes.
func (t *transfer) newSink() (*sink, *fault) {
	c := t.config
	s := &sink{t: t}
	switch {
	case t.out.remote:
		s.name = t.url.path[strings.LastIndexByte(t.url.path, '/')+1:]
		if s.name == "" {
			if !t.tool.silent {
				t.tool.say("curl: Remote file name has no length!\n")
			}
			return nil, failed(codeWrite, "Failed writing received data to disk/application")
		}
	case t.out.hasFile && t.out.file != "-":
		s.name = fileName(t.out.file, t.values)
	}
	if s.name != "" && c.outputDir != "" && !strings.HasPrefix(s.name, "/") {
		s.name = strings.TrimRight(c.outputDir, "/") + "/" + s.name
	} else if s.name != "" && c.outputDir != "" {
		s.name = strings.TrimRight(c.outputDir, "/") + "/" + strings.TrimLeft(s.name, "/")
	}
	if s.name != "" && c.createDirs {
		if f := s.makeDirs(); f != nil {
			return nil, f
		}
	}
	if c.hasResume && t.upload == "" {
		s.resumeAt = c.resume
		if c.resume < 0 {
			s.resumeAt = 0
			if info, err := t.tool.p.Stat(s.name); s.name != "" && err == nil {
				s.resumeAt = info.Size
			}
		}
	}
	return s, s.openHeaders()
}

// makeDirs makes the directories of the name.
func (s *sink) makeDirs() *fault {
	dir := path.Dir(s.name)
	for i := 1; i <= len(dir); i++ {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		err := s.t.tool.p.Mkdir(dir[:i], 0o750)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			if !s.t.tool.silent {
				s.t.tool.say("curl: Failed to create directory " + dir[:i] + "\n")
			}
			return failed(codeWrite, "Failed writing received data to disk/application")
		}
	}
	return nil
}

// openHeaders opens the file of -D.
func (s *sink) openHeaders() *fault {
	name := s.t.config.dumpHeader
	switch name {
	case "":
		return nil
	case "-":
		s.headers = s.t.tool.p.Stdout
		return nil
	}
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if s.t.tool.files[name] != nil {
		s.headers = s.t.tool.files[name]
		return nil
	}
	f, err := s.t.tool.p.OpenFile(name, flag, 0o666)
	if err != nil {
		s.t.tool.warn("Failed to open %s", name)
		return failed(codeWrite, "Failed writing received data to disk/application")
	}
	if s.t.tool.files == nil {
		s.t.tool.files = map[string]io.WriteCloser{}
	}
	s.t.tool.files[name] = f                       // bounded: by options, each of which is charged
	s.t.tool.closers = append(s.t.tool.closers, f) // bounded: by options, each of which is charged
	s.headers = f
	return nil
}

// named takes the name that the server gives, for -J.
func (s *sink) named(res *response) {
	if !s.t.config.remoteName || !s.t.out.remote || s.opened {
		return
	}
	text := res.value("Content-Disposition")
	for p := range strings.SplitSeq(text, ";") {
		value, ok := cutFold(strings.TrimSpace(p), "filename=")
		if !ok {
			continue
		}
		if strings.HasPrefix(value, `"`) {
			value, _, _ = strings.Cut(value[1:], `"`)
		}
		if i := strings.LastIndexAny(value, `/\`); i >= 0 {
			value = value[i+1:]
		}
		if value != "" && value != "." && value != ".." {
			s.name = value
			if dir := s.t.config.outputDir; dir != "" {
				s.name = strings.TrimRight(dir, "/") + "/" + value
			}
			s.fixed = true
		}
		return
	}
}

// open makes the file.
func (s *sink) open() *fault {
	s.opened = true
	t := s.t
	flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if s.resumeAt > 0 {
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	if t.config.noClobber || s.fixed {
		flag = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	}
	var err error
	name := s.name
	for n := 1; ; n++ {
		s.file, err = t.tool.p.OpenFile(name, flag, 0o666)
		if !t.config.noClobber || s.fixed || !errors.Is(err, fs.ErrExist) || n > 100 {
			break
		}
		name = fmt.Sprintf("%s.%d", s.name, n)
	}
	if err != nil {
		t.tool.warn("Failed to open the file %s: %s", s.name, shell.Strerror(err))
		return failed(codeWrite, "Failure writing output to destination")
	}
	s.name, s.start = name, s.resumeAt
	return nil
}

// write writes a piece of the answer.
func (s *sink) write(b []byte) *fault {
	if s.name == "" {
		out := s.t.tool.p.Stdout
		if s.out != nil {
			out = s.out
		}
		if _, err := out.Write(b); err != nil {
			return &fault{codeWrite, "Failure writing output to destination", err}
		}
		return nil
	}
	if !s.opened {
		if f := s.open(); f != nil {
			return f
		}
	}
	if s.file == nil {
		return failed(codeWrite, "Failure writing output to destination")
	}
	if _, err := s.file.Write(b); err != nil {
		return &fault{codeWrite, "Failure writing output to destination", err}
	}
	return nil
}

// rewind removes the output of a failed attempt.
func (s *sink) rewind() {
	if s == nil || s.file == nil {
		return
	}
	if at, err := s.file.Seek(0, io.SeekCurrent); err == nil && at > s.start && !s.t.tool.silent {
		s.t.tool.say(fmt.Sprintf("Throwing away %d bytes\n", at-s.start))
	}
	if s.file.Truncate(s.start) == nil {
		_, _ = s.file.Seek(s.start, io.SeekStart) // Seeking in a regular file cannot fail.
	}
}

// finish closes the file. An answer without a body leaves an empty one.
func (s *sink) finish(f *fault) *fault {
	if s.name == "" {
		return nil
	}
	if !s.opened && f == nil && s.t.last != nil && !s.nothing {
		if f := s.open(); f != nil {
			return f
		}
	}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	switch {
	case f != nil && s.t.config.removeOnError:
		_ = s.t.tool.p.Unlink(s.name) // It may be gone.
	case err != nil && f == nil:
		return &fault{codeWrite, "Failure writing output to destination", err}
	case s.t.config.remoteTime && s.t.last != nil:
		if at, err := time.Parse(time.RFC1123, s.t.last.value("Last-Modified")); err == nil {
			_ = s.t.tool.p.Chtimes(s.name, at, at, true) // A warning in curl; the data is there.
		}
	}
	return nil
}

// headerLine writes a line of a header where it is wanted.
func (t *transfer) headerLine(line string) error {
	if t.sink.headers != nil {
		if _, err := io.WriteString(t.sink.headers, line); err != nil {
			return &fault{codeWrite, "Failure writing output to destination", err}
		}
	}
	if t.config.include || t.config.head {
		if f := t.sink.write([]byte(line)); f != nil {
			return f
		}
	}
	return nil
}

// saveETag writes the file of --etag-save.
func (t *transfer) saveETag(tag string) *fault {
	f, err := t.tool.p.Create(t.config.etagSave)
	if err == nil {
		if tag != "" {
			_, err = io.WriteString(f, tag+"\n")
		}
		_ = f.Close() // Each write has already returned its error.
	}
	if err != nil {
		return &fault{codeWrite, "Failure writing output to destination", err}
	}
	return nil
}
