package text

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func tailCommand() program.Description {
	return program.Description{
		Name: "tail", Usage: "[OPTION]... [FILE]...",
		Summary: "write the last 10 lines of each FILE",
		Help: `Several FILEs have headers with their names. With no FILE, or when FILE is -, read
standard input.

  -c, --bytes=[+]NUM       write the last NUM bytes; with +, from byte NUM on
  -f, --follow[={name|descriptor}]  go on with what is appended; with name, open the
                             file again when there is a new one of that name
  -F                       the same as --follow=name --retry
  -n, --lines=[+]NUM       write the last NUM lines; with +, from line NUM on
      --max-unchanged-stats=N  does nothing
      --pid=PID            with -f, end when process PID does
  -q, --quiet, --silent    no headers
      --retry              go on trying to open a file
  -s, --sleep-interval=N   with -f, look every N seconds (1)
  -v, --verbose            headers always
  -z, --zero-terminated    lines end in NUL, not in a newline
      --help               show this help and exit
      --version            show the version and exit

NUM may have a unit: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on
for G, T, P, E, Z, Y; KiB is K.`,
		Run: runTail,
	}
}

// Options of tail without a letter.
const (
	tailPid = getopt.First + iota
	tailRetry
	tailUnchanged
	tailPipe
)

var tailOptions = getopt.WithDigits(getopt.None, []getopt.Option{
	{Short: 'c', Long: "bytes", Arg: getopt.Required},
	{Short: 'f', Long: "follow", Arg: getopt.Optional},
	{Short: 'F'},
	{Short: 'n', Long: "lines", Arg: getopt.Required},
	{Long: "max-unchanged-stats", ID: tailUnchanged, Arg: getopt.Required},
	{Long: "pid", ID: tailPid, Arg: getopt.Required},
	{Long: "-presume-input-pipe", ID: tailPipe},
	{Short: 'q', Long: "quiet"},
	{Long: "retry", ID: tailRetry},
	{Short: 'q', Long: "silent"},
	{Short: 's', Long: "sleep-interval", Arg: getopt.Required},
	{Short: 'v', Long: "verbose"},
	{Short: 'z', Long: "zero-terminated"},
})

// tail is a run of tail.
type tail struct {
	fileParts
	fromStart bool   // from the n-th on
	shown     string // whose header was written last
	follow    bool
	byName    bool
	retry     bool
	pid       int
	interval  time.Duration
	followed  []*followedFile
}

func runTail(p *shell.Proc) int {
	t := &tail{fileParts: newFileParts(p), interval: time.Second}
	q := *p
	q.Args = t.obsolete(p.Args)
	o := program.NewOptions(&q, tailCommand, tailOptions)
	for o.Next() {
		t.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if t.retry && !t.follow {
		p.Warn("warning: --retry ignored; --retry is useful only when following")
	}
	status := t.all(t.choose(o.Args()))
	if t.ended == nil && t.follow {
		status = max(status, t.watch())
	}
	if t.ended != nil {
		_ = t.out.Flush()
		return p.Status(t.ended)
	}
	return t.out.Close(status)
}

func (t *tail) all(names []string) (status int) {
	for _, name := range names {
		if !t.file(name) {
			status = 1
		}
		if t.ended != nil {
			break
		}
	}
	return status
}

func (t *tail) option(o *program.Options) {
	switch o.ID {
	case 'c', 'n':
		t.bytes = o.ID == 'c'
		what := "lines"
		if t.bytes {
			what = "bytes"
		}
		text, plus := strings.CutPrefix(o.Value, "+")
		if !plus {
			text = strings.TrimPrefix(text, "-")
		}
		t.fromStart = plus
		if n, ok := program.CountArgument(o, text, what); ok {
			t.n = n
		}
	case 'F':
		t.follow, t.byName, t.retry = true, true, true
	case 'f':
		t.follow = true
		if o.HasValue {
			t.byName = program.Choose(o, "--follow", o.Value, []choice.Choice[bool]{{Name: "descriptor", Value: false}, {Name: "name", Value: true}})
		}
	case 'q':
		t.headers = headersNever
	case 'v':
		t.headers = headersAlways
	case 'z':
		t.delim = 0
	case 's':
		s, err := strconv.ParseFloat(o.Value, 64)
		if err != nil || s < 0 || math.IsNaN(s) {
			o.RejectQuietly("invalid number of seconds: %s", quoting.Name(o.Value))
			return
		}
		t.interval = time.Duration(max(min(s, 1e9), 1e-3) * float64(time.Second))
	default:
		t.rareOption(o)
	}
}

func (t *tail) rareOption(o *program.Options) {
	switch o.ID {
	case tailRetry:
		t.retry = true
	case tailPid:
		n, err := strconv.Atoi(o.Value)
		if err != nil || n < 0 {
			o.RejectQuietly("invalid PID: %s", quoting.Name(o.Value))
			return
		}
		t.pid = n
	case tailUnchanged:
		if _, err := strconv.ParseUint(o.Value, 10, 64); err != nil {
			o.RejectQuietly("invalid maximum number of unchanged stats between opens: %s", quoting.Name(o.Value))
		}
	case tailPipe:
	default:
		o.RejectQuietly("option used in invalid context -- %c", o.ID)
	}
}

// obsolete understands -NUM[bcl][f] and +NUM[bcl][f] as the only option.
func (t *tail) obsolete(args []string) (rest []string) {
	if len(args) < 2 || len(args) > 3 && args[2] != "--" || len(args) > 4 {
		return args
	}
	if len(args) == 3 && len(args[2]) > 1 && args[2][0] == '-' && args[2] != "--" {
		return args
	}
	text := args[1]
	if len(text) < 2 || text[0] != '-' && text[0] != '+' {
		return args
	}
	end := 1
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	digits, tail := text[1:end], text[end:]
	scale := int64(1)
	bytes := false
	if tail != "" && strings.IndexByte("bcl", tail[0]) >= 0 {
		if bytes = tail[0] != 'l'; tail[0] == 'b' {
			scale = 512
		}
		tail = tail[1:]
	}
	follow := strings.HasPrefix(tail, "f")
	if tail = strings.TrimPrefix(tail, "f"); tail != "" || digits == "" && text[0] == '-' {
		return args
	}
	n := int64(10)
	if digits != "" {
		var err error
		if n, err = strconv.ParseInt(digits, 10, 64); err != nil || n > math.MaxInt64/scale {
			n = math.MaxInt64 / scale
		}
	}
	t.n, t.bytes, t.fromStart, t.follow = n*scale, bytes, text[0] == '+', follow
	return append([]string{args[0]}, args[2:]...)
}

func (t *tail) file(name string) bool {
	in, err := program.OpenInput(t.p, name)
	if err != nil {
		_ = t.out.Flush()
		t.p.Errorf(err, "cannot open %s for reading", shell.Quote(name))
		if t.follow && (t.retry || t.byName) && name != "-" {
			t.followed = append(t.followed, &followedFile{name: name})
		}
		return false
	}
	label := name
	if name == "-" {
		label = "standard input"
	}
	t.header(label)
	if err := t.copy(in); err != nil {
		_ = in.Close()
		t.unread(label, err)
		return false
	}
	if !t.follow {
		_ = in.Close()
		return true
	}
	t.followed = append(t.followed, t.newFollowed(name, label, in))
	return true
}

// header writes the name above what comes next, if it is of another file than the last.
func (t *tail) header(label string) {
	if t.headers == headersNever || t.shown == label && !t.first && t.follow {
		return
	}
	t.writeHeader(label)
	t.shown = label
}

// copy writes the end of a stream.
func (t *tail) copy(in io.Reader) error {
	if t.fromStart {
		return t.copyFrom(in)
	}
	if f, ok := in.(tailFile); ok {
		if done, err := t.copyEnd(f); done || err != nil {
			return err
		}
	}
	return t.copyHeld(in)
}

// copyFrom writes a stream from the n-th byte or line on.
func (t *tail) copyFrom(in io.Reader) error {
	buf := make([]byte, program.BufferSize)
	skip := max(t.n-1, 0)
	for {
		n, err := t.read(in, buf)
		b := buf[:n]
		switch {
		case skip == 0:
		case t.bytes:
			k := min(skip, int64(len(b)))
			skip -= k
			b = b[k:]
		default:
			b = t.skipLines(b, &skip)
		}
		if _, e := t.out.Write(b); e != nil {
			return nil //nolint:nilerr // It stays in the writer, for Close.
		}
		if err != nil {
			return notEnd(err)
		}
		if t.follow {
			_ = t.out.Flush()
		}
	}
}

func (t *tail) skipLines(b []byte, skip *int64) []byte {
	for *skip > 0 {
		i := indexByte(b, t.delim)
		if i < 0 {
			return nil
		}
		b = b[i+1:]
		*skip--
	}
	return b
}

// copyHeld writes the end of a stream that cannot be read backwards.
func (t *tail) copyHeld(in io.Reader) error {
	buf := make([]byte, program.BufferSize)
	var held []byte
	lines := int64(0)
	for {
		n, err := t.read(in, buf)
		grown, e := program.GrowBuffer(t.p, held, n)
		if e != nil {
			return e
		}
		held = append(grown, buf[:n]...)
		lines += countByte(buf[:n], t.delim)
		if len(held) > 4*program.BufferSize || err != nil {
			held, lines = t.trim(held, lines)
		}
		if err != nil {
			_, _ = t.out.Write(held)
			return notEnd(err)
		}
	}
}

// trim drops what is before the end that is wanted.
func (t *tail) trim(held []byte, lines int64) (rest []byte, left int64) {
	if t.bytes {
		over := max(int64(len(held))-t.n, 0)
		return held[:copy(held, held[over:])], 0
	}
	want := t.n
	if len(held) > 0 && held[len(held)-1] != t.delim {
		// The last line has no end yet.
		want--
	}
	if t.n == 0 {
		return held[:0], 0
	}
	at := 0
	for lines > want {
		at += indexByte(held[at:], t.delim) + 1
		lines--
	}
	return held[:copy(held, held[at:])], lines
}

// tailFile is a file that can be read backwards.
type tailFile interface {
	io.ReaderAt
	io.Seeker
}

// copyEnd writes the end of a file that has one; done is false when it cannot be
// read in any order.
func (t *tail) copyEnd(f tailFile) (done bool, err error) {
	here, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return false, nil //nolint:nilerr // It is a stream then.
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end <= here {
		_, _ = f.Seek(here, io.SeekStart)
		return false, nil //nolint:nilerr // As above; devices have no end.
	}
	at := max(here, end-min(t.n, end))
	if !t.bytes {
		if at, err = t.lineBefore(f, here, end); err != nil {
			return false, err
		}
	}
	buf := make([]byte, program.BufferSize)
	for at < end && !t.out.HasFailed() {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
		if e := t.p.Spend(1 + n>>6); e != nil {
			t.ended = e
			return true, e
		}
		_, _ = t.out.Write(buf[:n])
		at += int64(n)
		if err != nil && (!errors.Is(err, io.EOF) || n == 0) {
			return true, notEnd(err)
		}
	}
	return true, nil
}

// lineBefore returns where the last n lines begin.
func (t *tail) lineBefore(f io.ReaderAt, here, end int64) (int64, error) {
	left := t.n
	if left == 0 {
		return end, nil
	}
	buf := make([]byte, program.BufferSize)
	for at := end; at > here; {
		size := min(int64(len(buf)), at-here)
		n, err := f.ReadAt(buf[:size], at-size)
		if int64(n) < size {
			return 0, notEnd(err)
		}
		if e := t.p.Spend(1 + n>>6); e != nil {
			t.ended = e
			return 0, e
		}
		b := buf[:n]
		if at == end && b[n-1] == t.delim {
			b = b[:n-1]
		}
		for {
			i := lastIndexByte(b, t.delim)
			if i < 0 {
				break
			}
			if left--; left == 0 {
				return at - size + int64(i) + 1, nil
			}
			b = b[:i]
		}
		at -= size
	}
	return here, nil
}
