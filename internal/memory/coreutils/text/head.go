package text

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func headCommand() program.Description {
	return program.Description{
		Name: "head", Usage: "[OPTION]... [FILE]...",
		Summary: "write the first 10 lines of each FILE",
		Help: `Several FILEs have headers with their names. With no FILE, or when FILE is -, read
standard input.

  -c, --bytes=[-]NUM       write the first NUM bytes; with -, all but the last NUM
  -n, --lines=[-]NUM       write the first NUM lines; with -, all but the last NUM
  -q, --quiet, --silent    no headers
  -v, --verbose            headers always
  -z, --zero-terminated    lines end in NUL, not in a newline
      --help               show this help and exit
      --version            show the version and exit

NUM may have a unit: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on
for G, T, P, E, Z, Y; KiB is K.`,
		Run: runHead,
	}
}

var headOptions = getopt.WithDigits(getopt.None, []getopt.Option{
	{Short: 'c', Long: "bytes", Arg: getopt.Required},
	{Short: 'n', Long: "lines", Arg: getopt.Required},
	{Long: "presume-input-pipe", ID: getopt.First},
	{Short: 'q', Long: "quiet"},
	{Short: 'q', Long: "silent"},
	{Short: 'v', Long: "verbose"},
	{Short: 'z', Long: "zero-terminated"},
})

// headers says when the name of a file is written above its part.
type headers uint8

const (
	headersForSeveral headers = iota
	headersAlways
	headersNever
)

// fileParts holds the options that head and tail share: the wanted part of each file.
type fileParts struct {
	p       *shell.Proc
	out     *program.Output
	n       int64
	bytes   bool // not lines
	delim   byte
	headers headers
	first   bool
	ended   error
}

func newFileParts(p *shell.Proc) fileParts {
	return fileParts{p: p, out: program.NewOutput(p), n: 10, delim: '\n', first: true}
}

// choose settles for how many files there are names above their parts.
func (f *fileParts) choose(names []string) []string {
	names = program.FilesOrStdin(names)
	if f.headers == headersForSeveral && len(names) < 2 {
		f.headers = headersNever
	}
	return names
}

// writeHeader writes a file's name above its part.
func (f *fileParts) writeHeader(name string) {
	if !f.first {
		_ = f.out.WriteByte('\n')
	}
	f.first = false
	_, _ = f.out.WriteString("==> " + name + " <==\n")
}

// read reads and takes fuel.
func (f *fileParts) read(in io.Reader, b []byte) (int, error) {
	n, err := in.Read(b)
	if e := f.p.Spend(1 + n>>6); e != nil {
		f.ended = e
		return 0, e
	}
	return n, err
}

// unread says that a file could not be read to its part's end.
func (f *fileParts) unread(label string, err error) {
	if f.ended == nil {
		_ = f.out.Flush()
		f.p.Errorf(err, "error reading %s", shell.Quote(label))
	}
}

// head is a run of head.
type head struct {
	fileParts
	butLast bool // all but the last n
	buf     []byte
}

func runHead(p *shell.Proc) int {
	h := &head{fileParts: newFileParts(p)}
	args, err := h.obsolete(p.Args)
	if err != "" {
		return program.UsageError(p, headCommand, 1, "%s", err)
	}
	q := *p
	q.Args = args
	o := program.NewOptions(&q, headCommand, headOptions)
	for o.Next() {
		h.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	status := 0
	for _, name := range h.choose(o.Args()) {
		if !h.file(name) {
			status = 1
		}
		if h.ended != nil {
			return p.Status(h.ended)
		}
	}
	return h.out.Close(status)
}

func (h *head) option(o *program.Options) {
	switch o.ID {
	case 'c', 'n':
		h.bytes = o.ID == 'c'
		text := o.Value
		if h.butLast = strings.HasPrefix(text, "-"); h.butLast {
			text = text[1:]
		}
		what := "lines"
		if h.bytes {
			what = "bytes"
		}
		n, ok := program.CountArgument(o, text, what)
		if ok {
			h.n = n
		}
	case 'q':
		h.headers = headersNever
	case 'v':
		h.headers = headersAlways
	case 'z':
		h.delim = 0
	default:
		if o.ID >= '0' && o.ID <= '9' {
			o.Reject("invalid trailing option -- %c", o.ID)
		}
	}
}

// obsolete understands -NUM[bkm][cqvlz] as the first argument.
func (h *head) obsolete(args []string) (rest []string, fault string) {
	if len(args) < 2 || len(args[1]) < 2 || args[1][0] != '-' || args[1][1] < '0' || args[1][1] > '9' {
		return args, ""
	}
	text := args[1][1:]
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	number, unit := text[:end], ""
	for _, c := range text[end:] {
		switch c {
		case 'c':
			h.bytes, unit = true, ""
		case 'b', 'k', 'm':
			h.bytes, unit = true, string(c)
		case 'l':
			h.bytes = false
		case 'q':
			h.headers = headersNever
		case 'v':
			h.headers = headersAlways
		case 'z':
			h.delim = 0
		default:
			return nil, "invalid trailing option -- " + string(c)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	scale := map[string]int64{"": 1, "b": 512, "k": 1024, "m": 1 << 20}[unit]
	if h.n = n * scale; n > math.MaxInt64/scale {
		h.n = math.MaxInt64
	}
	return append([]string{args[0]}, args[2:]...), ""
}

func (h *head) file(name string) bool {
	in, err := program.OpenInput(h.p, name)
	if err != nil {
		_ = h.out.Flush()
		h.p.Errorf(err, "cannot open %s for reading", shell.Quote(name))
		return false
	}
	defer in.Close()
	label := name
	if name == "-" {
		label = "standard input"
	}
	if h.headers != headersNever {
		h.writeHeader(label)
	}
	if err := h.copy(in, name); err != nil {
		h.unread(label, err)
		return false
	}
	return true
}

// copy writes the requested part of a stream.
func (h *head) copy(in io.Reader, name string) error {
	if h.buf == nil {
		h.buf = make([]byte, program.BufferSize)
	}
	switch {
	case h.butLast && h.bytes:
		return h.allButBytes(in)
	case h.butLast:
		return h.allButLines(in)
	}
	left := h.n
	for left > 0 && !h.out.HasFailed() {
		buf := h.buf
		if h.bytes {
			buf = buf[:min(int64(len(buf)), left)]
		}
		n, err := h.read(in, buf)
		b := buf[:n]
		if h.bytes {
			left -= int64(n)
		} else {
			b = h.lines(b, &left)
		}
		_, _ = h.out.Write(b)
		if back := n - len(b); back > 0 && name == "-" {
			h.giveBack(int64(back))
		}
		if err != nil {
			return notEnd(err)
		}
	}
	return nil
}

// lines returns the first lines of b, as many as are left.
func (h *head) lines(b []byte, left *int64) []byte {
	for i := 0; i < len(b); {
		n := bytes.IndexByte(b[i:], h.delim)
		if n < 0 {
			break
		}
		i += n + 1
		if *left--; *left == 0 {
			return b[:i]
		}
	}
	return b
}

// giveBack returns the surplus of standard input to the next reader.
func (h *head) giveBack(n int64) {
	f, err := h.p.Stream(0)
	if err != nil {
		return
	}
	defer f.Close()
	// A pipe cannot go back, and need not.
	_, _ = f.Seek(-n, io.SeekCurrent)
}

func notEnd(err error) error {
	if program.IsEnd(err) {
		return nil
	}
	return err
}

// allButBytes writes a stream but for its last n bytes, which it has to hold.
func (h *head) allButBytes(in io.Reader) error {
	var held []byte
	for {
		n, err := h.read(in, h.buf)
		grown, e := program.GrowBuffer(h.p, held, n)
		if e != nil {
			return e
		}
		held = append(grown, h.buf[:n]...)
		if over := int64(len(held)) - h.n; over > 0 && (over > int64(len(h.buf)) || err != nil) {
			_, _ = h.out.Write(held[:over])
			held = held[:copy(held, held[over:])]
		}
		if err != nil || h.out.HasFailed() {
			return notEnd(err)
		}
	}
}

// allButLines writes a stream but for its last n lines.
func (h *head) allButLines(in io.Reader) error {
	var held []byte
	lines := int64(0)
	for {
		n, err := h.read(in, h.buf)
		grown, e := program.GrowBuffer(h.p, held, n)
		if e != nil {
			return e
		}
		held = append(grown, h.buf[:n]...)
		lines += int64(bytes.Count(h.buf[:n], []byte{h.delim}))
		if err != nil && len(held) > 0 && held[len(held)-1] != h.delim {
			lines++
		}
		over := 0
		for lines > h.n {
			end := bytes.IndexByte(held[over:], h.delim)
			if end < 0 {
				over = len(held)
			} else {
				over += end + 1
			}
			lines--
		}
		_, _ = h.out.Write(held[:over])
		held = held[:copy(held, held[over:])]
		if err != nil || h.out.HasFailed() {
			return notEnd(err)
		}
	}
}
