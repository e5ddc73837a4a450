package text

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// maxSort bounds what sort holds in memory; an input without an end does not fit.
const maxSort = 1 << 30

func (s *sorter) run(names []string) int {
	if !s.prepareRandom() {
		return 2
	}
	if s.check != 0 {
		return s.checkOrder(names[0])
	}
	for _, name := range names {
		if err := s.load(name); err != nil {
			return s.readFailed(name, err)
		}
	}
	if !s.split() {
		s.p.Warn("%v", errSortMemory)
		return 2
	}
	// The fuel of a sort: some comparisons for each line.
	if err := s.p.Spend(len(s.lines) / 2); err != nil {
		return s.p.Status(err)
	}
	s.sort()
	return s.write()
}

func (s *sorter) prepareRandom() bool {
	binary.LittleEndian.PutUint64(s.seed[:], s.p.Rand().Uint64())
	binary.LittleEndian.PutUint64(s.seed[8:], s.p.Rand().Uint64())
	if s.source == "" {
		return true
	}
	in, err := program.OpenInput(s.p, s.source)
	if err != nil {
		s.p.Errorf(err, "open failed: %s", shell.QuoteIfNeeded(s.source))
		return false
	}
	defer in.Close()
	if _, err := io.ReadFull(in, s.seed[:]); err != nil {
		s.p.Warn("%s: end of file", shell.QuoteIfNeeded(s.source))
		return false
	}
	return true
}

var errSortMemory = errors.New("memory exhausted")

func (s *sorter) readFailed(name string, err error) int {
	switch {
	case s.p.Context().Err() != nil || errors.Is(err, shell.ErrFuel):
		return s.p.Status(err)
	case errors.Is(err, errSortMemory):
		s.p.Warn("%v", err)
	case shell.Errno(err) == syscall.EISDIR:
		s.p.Errorf(err, "read failed: %s", shell.QuoteIfNeeded(name))
	default:
		s.p.Errorf(err, "cannot read: %s", shell.QuoteIfNeeded(name))
	}
	return 2
}

// load appends a file to the text; its last line gets an end.
func (s *sorter) load(name string) error {
	in, err := program.OpenInput(s.p, name)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := s.p.Stat(pathOf(name)); err == nil && info.Mode.IsRegular() && info.Size < maxSort {
		if s.text, err = program.GrowBuffer(s.p, s.text, int(info.Size)+program.BufferSize); err != nil {
			return errSortMemory
		}
	}
	for {
		if s.text, err = program.GrowBuffer(s.p, s.text, program.BufferSize); err != nil {
			return errSortMemory
		}
		n, err := in.Read(s.text[len(s.text):cap(s.text)])
		s.text = s.text[:len(s.text)+n]
		if e := s.p.Spend(1 + n>>6); e != nil {
			return e
		}
		if len(s.text) > maxSort {
			return errSortMemory
		}
		if err != nil {
			if n := len(s.text); n > 0 && s.text[n-1] != s.eol {
				s.text = append(s.text, s.eol)
			}
			return notEnd(err)
		}
	}
}

// lineWeight is the size of a sortLine in bytes.
const lineWeight = 16

// split finds the lines; false: the memory does not hold them twice, as sorting needs.
func (s *sorter) split() bool {
	n := bytes.Count(s.text, []byte{s.eol})
	if s.p.Reserve(2*n*lineWeight) != nil {
		return false
	}
	s.lines = make([]sortLine, 0, n)
	for at := 0; at < len(s.text); {
		n := bytes.IndexByte(s.text[at:], s.eol)
		line := s.text[at : at+n]
		s.lines = append(s.lines, sortLine{prefix: s.prefixOf(line), at: uint32(at), n: uint32(n)})
		at += n + 1
	}
	return true
}

// order is the order of lines that are not the same line: those that compare equal
// stay as they came.
func (s *sorter) order(a, b sortLine) int {
	if c := s.compare(a, b); c != 0 {
		return c
	}
	if a.at < b.at {
		return -1
	}
	return 1
}

// sort sorts the lines: into buckets by the first byte in which prefixes differ, then each bucket.
func (s *sorter) sort() {
	const few = 1 << 12
	if len(s.lines) < few {
		slices.SortFunc(s.lines, s.order)
		return
	}
	shift := s.firstByte()
	var ends [257]int
	for _, l := range s.lines {
		ends[l.prefix>>shift&0xFF+1]++
	}
	for i := range 256 {
		ends[i+1] += ends[i]
	}
	sorted := make([]sortLine, len(s.lines))
	next := ends
	for _, l := range s.lines {
		k := l.prefix >> shift & 0xFF
		sorted[next[k]] = l
		next[k]++
	}
	s.lines = sorted
	s.sortBuckets(ends[:])
}

// firstByte returns the position of the highest byte that differs between prefixes.
func (s *sorter) firstByte() int {
	var differ uint64
	for _, l := range s.lines {
		differ |= l.prefix ^ s.lines[0].prefix
	}
	for shift := 56; shift > 0; shift -= 8 {
		if differ>>shift != 0 {
			return shift
		}
	}
	return 0
}

// sortBuckets sorts the parts between ends, two at a time.
func (s *sorter) sortBuckets(ends []int) {
	work := make(chan []sortLine, len(ends))
	for i := range len(ends) - 1 {
		if ends[i+1]-ends[i] > 1 {
			work <- s.lines[ends[i]:ends[i+1]]
		}
	}
	close(work)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for part := range work {
				if s.p.Context().Err() != nil {
					return
				}
				slices.SortFunc(part, s.order)
			}
		})
	}
	all.Wait()
}

// checkOrder checks that a file is sorted.
func (s *sorter) checkOrder(name string) int {
	if err := s.load(name); err != nil {
		return s.readFailed(name, err)
	}
	if !s.split() {
		s.p.Warn("%v", errSortMemory)
		return 2
	}
	for i := 1; i < len(s.lines); i++ {
		c := s.compare(s.lines[i-1], s.lines[i])
		if c < 0 || c == 0 && !s.unique {
			continue
		}
		if s.check == 'c' {
			s.p.Warn("%s:%d: disorder: %s", name, i+1, s.line(s.lines[i]))
		}
		return 1
	}
	return 0
}

// write writes the lines.
func (s *sorter) write() int {
	out := program.NewOutput(s.p)
	if s.hasOut && s.output != "-" {
		f, err := s.p.Create(s.output)
		if err != nil {
			s.p.Errorf(err, "open failed: %s", shell.QuoteIfNeeded(s.output))
			return 2
		}
		defer f.Close()
		out.Reset(f)
	}
	var last sortLine
	for i, l := range s.lines {
		if s.unique && i > 0 && s.compare(last, l) == 0 {
			continue
		}
		last = l
		if _, err := out.Write(s.text[l.at : l.at+l.n+1]); err != nil {
			break
		}
	}
	if err := out.Flush(); err != nil {
		if status := s.p.Status(err); status != 1 {
			return status
		}
		s.p.Errorf(err, "write failed: %s", shell.Quote(s.outputName()))
		return 2
	}
	return 0
}

func (s *sorter) outputName() string {
	if s.hasOut && s.output != "-" {
		return s.output
	}
	return "standard output"
}
