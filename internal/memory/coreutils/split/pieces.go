package split

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// splitPieces creates the outputs of split one after another: files, or the input of a filter.
type splitPieces struct {
	p          *shell.Proc
	prefix     string
	additional string
	digits     string
	length     int
	fixed      bool   // the length does not grow
	begins     bool   // at from
	from       string // without leading zeros
	filter     string
	filters    bool
	verbose    bool
	input      vfs.Info
	hasInput   bool

	suffix []int // of the current piece; nil before the first
	piece  *splitPiece
}

// splitPiece is a piece that is being written.
type splitPiece struct {
	name  string
	file  *vfs.File
	child *shell.Child // the filter; nil for a file
}

var (
	errSplitSuffixes = errors.New("output file suffixes exhausted")
	errSplitInput    = errors.New("would overwrite input; aborting")
)

// splitFailure is a filter's failure that has already been reported.
type splitFailure struct{ status int }

func (splitFailure) Error() string { return "the filter failed" }

func newSplitPieces(p *shell.Proc) *splitPieces {
	return &splitPieces{p: p, prefix: "x", digits: "abcdefghijklmnopqrstuvwxyz"}
}

// settle decides how long suffixes are. count is how many pieces there will be; 0: unknown.
func (s *splitPieces) settle(o *program.Options, count int64, none bool) {
	need, last := 0, uint64(0)
	if count > 0 {
		last = uint64(count - 1)
		if n, err := strconv.ParseUint("0"+s.from, len(s.digits), 63); s.begins && err == nil && n < uint64(count) {
			last += n
		}
		for ; last > 0; last /= uint64(len(s.digits)) {
			need++
		}
	}
	switch {
	case s.length == 0:
		s.length = max(2, need)
		s.fixed = count > 0 || s.begins
	case s.length < need:
		o.RejectQuietly("the suffix length needs to be at least %d", need)
	}
	if len(s.from) > s.length && !none {
		o.Reject("numerical suffix start value is too large for the suffix length")
	}
}

// knowInput remembers the file that is read, which must not become a piece.
func (s *splitPieces) knowInput(name string) {
	if name == "-" {
		name = "/dev/stdin"
	}
	info, err := s.p.Stat(name)
	s.input, s.hasInput = info, err == nil
}

// name is that of the current piece.
func (s *splitPieces) name() string {
	var b strings.Builder
	b.WriteString(s.prefix)
	for _, d := range s.suffix {
		b.WriteByte(s.digits[d])
	}
	return b.String() + s.additional
}

// advance goes to the next name.
func (s *splitPieces) advance() error {
	if s.suffix == nil {
		s.suffix = make([]int, s.length) // bounded: 255 letters
		for i := range s.from {
			s.suffix[s.length-len(s.from)+i] = strings.IndexByte(s.digits, s.from[i])
		}
		return nil
	}
	i := len(s.suffix) - 1
	for ; i >= 0; i-- {
		if s.suffix[i]++; s.suffix[i] < len(s.digits) {
			break
		}
		s.suffix[i] = 0
	}
	if i < 0 {
		return errSplitSuffixes
	}
	// Before the last names of a length are used up, names become longer: yz, zaaa.
	if !s.fixed && i == 0 && s.suffix[0] == len(s.digits)-1 {
		s.prefix += s.digits[len(s.digits)-1:] // bounded: one letter for each 26 times as many files
		s.suffix = make([]int, len(s.suffix)+1)
	}
	return nil
}

// open begins the next piece, beside the current one.
func (s *splitPieces) open() (*splitPiece, error) {
	if err := s.advance(); err != nil {
		return nil, err
	}
	piece := &splitPiece{name: s.name()}
	if err := s.announce(piece.name); err != nil {
		return nil, err
	}
	if s.filters {
		return piece, s.startFilter(piece)
	}
	if info, err := s.p.Stat(piece.name); s.hasInput && err == nil && info.Ino == s.input.Ino {
		return nil, errSplitInput
	}
	var err error
	piece.file, err = s.p.OpenFile(piece.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	return piece, err
}

func (s *splitPieces) announce(name string) error {
	if !s.verbose {
		return nil
	}
	text := "creating file " + shell.Quote(name)
	if s.filters {
		text = "executing with FILE=" + shell.QuoteIfNeeded(name)
	}
	_, err := s.p.Stdout.Write([]byte(text + "\n"))
	return err
}

// startFilter starts a filter that reads the piece.
func (s *splitPieces) startFilter(piece *splitPiece) error {
	sh := s.p.Getenv("SHELL")
	if sh == "" {
		sh = "/bin/sh"
	}
	if _, err := s.p.LookPath(sh); err != nil {
		s.p.Warn("failed to run command: \"%s -c %s\": %s", sh, s.filter, shell.Strerror(err))
		return s.filterFailed(piece, 1)
	}
	r, w := vfs.Pipe()
	child, err := s.p.Start(shell.Spawn{
		Args: []string{sh, "-c", s.filter}, Stdin: r, Env: program.SetVariable(s.p.Environ(), "FILE", "FILE="+piece.name),
	})
	_ = r.Close() // The child has its own.
	if err != nil {
		_ = w.Close()
		s.p.Errorf(err, "fork system call failed")
		return splitFailure{1}
	}
	piece.file, piece.child = w.WithContext(s.p.Context()), child
	return nil
}

// next ends the current piece and begins another.
func (s *splitPieces) next() error {
	err := s.close()
	if err == nil {
		s.piece, err = s.open()
	}
	return err
}

func (s *splitPieces) write(b []byte) error { return s.piece.write(b) }

// close ends the current piece.
func (s *splitPieces) close() error {
	piece := s.piece
	s.piece = nil
	return s.end(piece)
}

// write adds to the piece. A filter need not read everything.
func (piece *splitPiece) write(b []byte) error {
	_, err := piece.file.Write(b)
	if piece.child != nil && shell.Errno(err) == syscall.EPIPE {
		return nil
	}
	return err
}

// end ends a piece, and waits for its filter.
func (s *splitPieces) end(piece *splitPiece) error {
	if piece == nil || piece.file == nil {
		return nil
	}
	err := piece.file.Close()
	if piece.child == nil {
		return err
	}
	status := piece.child.Wait()
	if status == 0 || status == 128+int(syscall.SIGPIPE) {
		return nil
	}
	return s.filterFailed(piece, status)
}

func (s *splitPieces) filterFailed(piece *splitPiece, status int) error {
	how := "exit " + strconv.Itoa(status)
	if n := status - 128; n > 0 && n <= len(program.SignalNames) {
		how = "signal " + program.SignalNames[n-1]
	}
	s.p.Warn("with FILE=%s, %s from command: %s", shell.QuoteIfNeeded(piece.name), how, s.filter)
	return splitFailure{status}
}

// abandon ends a piece after a failure.
func (piece *splitPiece) abandon() {
	if piece.file == nil {
		return
	}
	_ = piece.file.Close()
	if piece.child != nil {
		piece.child.Wait()
	}
}

// fail prints the error of a piece, and returns the exit status.
func (s *splitPieces) fail(err error) int {
	if failure, ok := errors.AsType[splitFailure](err); ok {
		return failure.status
	}
	if status := s.p.Status(err); status != 1 {
		return status
	}
	switch {
	case errors.Is(err, errSplitSuffixes):
		s.p.Warn("%v", err)
	case errors.Is(err, errSplitInput):
		s.p.Warn("%s %v", shell.Quote(s.name()), err)
	default:
		s.p.Error(s.name(), err)
	}
	return 1
}
