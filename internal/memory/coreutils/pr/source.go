package pr

import (
	"io"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// prSource is a file that pr reads, page by page and line by line.
type prSource struct {
	*program.ByteFeed
	name     string
	in       io.Closer
	modified time.Time
	state    prState
	full     bool // the page before, which it has not been read from since, had all its lines
}

type prState uint8

const (
	prOpen prState = iota
	prHeld         // a form feed ended the page
	prDone         // the file has ended
)

// open opens a file, or says why it cannot.
func (r *printer) open(name string) (s *prSource, ok bool) {
	if name == "-" {
		if r.stdin == nil {
			r.stdin = program.NewByteFeed(r.p)
			r.stdin.Reset(r.p.Stdin)
		}
		return &prSource{ByteFeed: r.stdin, name: name, modified: r.p.Now()}, true
	}
	in, err := program.OpenInput(r.p, name)
	if err != nil {
		r.report(name, err)
		return nil, false
	}
	s = &prSource{ByteFeed: program.NewByteFeed(r.p), name: name, in: in, modified: r.p.Now()}
	s.Reset(in)
	if info, err := r.p.Stat(name); err == nil {
		s.modified = info.Mtime
	}
	return s, true
}

// Close closes the file.
func (s *prSource) Close() {
	if s.in != nil {
		_ = s.in.Close()
	}
}

// hasLine reports whether there is a line, still on this page. A form feed behind a column that was
// full has done its work already; swallow says that there may be one.
func (s *prSource) hasLine(swallow bool) bool {
	for s.state == prOpen {
		switch {
		case !s.More():
			s.state = prDone
		case s.Ahead[0] != '\f':
			return true
		default:
			s.breakPage()
			if swallow {
				s.state, swallow = prOpen, false
			}
		}
	}
	return false
}

// breakPage passes over a form feed, and a newline behind it.
func (s *prSource) breakPage() {
	s.Ahead = s.Ahead[1:]
	if s.At('\n') {
		s.Ahead = s.Ahead[1:]
	}
	s.state = prHeld
}

// line passes the line that begins to fn, without its end.
func (s *prSource) line(fn func(piece []byte)) {
	for s.More() {
		n := 0
		for n < len(s.Ahead) && s.Ahead[n] != '\n' && s.Ahead[n] != '\f' {
			n++
		}
		if n > 0 {
			fn(s.Ahead[:n])
			s.Ahead = s.Ahead[n:]
		}
		if len(s.Ahead) == 0 {
			continue
		}
		if s.Ahead[0] == '\f' {
			s.breakPage()
		} else {
			s.Ahead = s.Ahead[1:]
		}
		return
	}
	s.state = prDone
}
