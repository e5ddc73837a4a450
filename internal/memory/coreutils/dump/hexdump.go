package dump

import (
	"bytes"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func hexdumpCommand() program.Description {
	return program.Description{
		Origin: "util-linux 2.38.1",
		Name:   "hexdump", Aliases: []string{"hd"}, Usage: "[OPTION]... [FILE]...",
		Summary: "write the bytes of FILEs in hexadecimal or other formats",
		Help: `  -b, --one-byte-octal     bytes in octal
  -c, --one-byte-char      bytes as characters
  -C, --canonical          bytes in hexadecimal beside their characters, as hd does
  -d, --two-bytes-decimal  pairs of bytes in decimal
  -o, --two-bytes-octal    pairs of bytes in octal
  -x, --two-bytes-hex      pairs of bytes in hexadecimal
  -L, --color[=WHEN]       colours, which only never and auto leave out
  -e, --format=FORMAT      show data as FORMAT says
  -f, --format-file=FILE   read formats from FILE, one on a line
  -n, --length=LENGTH      read at most LENGTH bytes
  -s, --skip=OFFSET        skip OFFSET bytes
  -v, --no-squeezing       write lines that repeat the one before, too
  -h, --help               show this help and exit
  -V, --version            show the version and exit

A FORMAT is made of units: [COUNT]["/"BYTES] "TEXT", with the conversions of printf and
%_a[dox] the offset, %_A[dox] the offset at the end, %_c a character or escape, %_p a
character or a dot, %_u a character or its name.`,
		Run: runHexdump,
	}
}

var hexdumpOptions = []getopt.Option{
	{Short: 'b', Long: "one-byte-octal"},
	{Short: 'c', Long: "one-byte-char"},
	{Short: 'C', Long: "canonical"},
	{Short: 'd', Long: "two-bytes-decimal"},
	{Short: 'o', Long: "two-bytes-octal"},
	{Short: 'x', Long: "two-bytes-hex"},
	{Short: 'L', Long: "color", Arg: getopt.Optional},
	{Short: 'e', Long: "format", Arg: getopt.Required},
	{Short: 'f', Long: "format-file", Arg: getopt.Required},
	{Short: 'n', Long: "length", Arg: getopt.Required},
	{Short: 's', Long: "skip", Arg: getopt.Required},
	{Short: 'v', Long: "no-squeezing"},
	{Short: 'h', ID: getopt.Help},
	{Short: 'V', ID: getopt.Version},
}

const hexdumpAddress = `"%07.7_Ax\n"`

// hexdumpFormats maps option letters to formats.
var hexdumpFormats = map[int][]string{
	'b': {hexdumpAddress, `"%07.7_ax " 16/1 "%03o " "\n"`},
	'c': {hexdumpAddress, `"%07.7_ax " 16/1 "%3_c " "\n"`},
	'C': {`"%08.8_Ax\n"`, `"%08.8_ax  " 8/1 "%02x " "  " 8/1 "%02x "`, `"  |" 16/1 "%_p" "|\n"`},
	'd': {hexdumpAddress, `"%07.7_ax " 8/2 "  %05u " "\n"`},
	'o': {hexdumpAddress, `"%07.7_ax " 8/2 " %06o " "\n"`},
	'x': {hexdumpAddress, `"%07.7_ax " 8/2 "   %04x " "\n"`},
	0:   {hexdumpAddress, `"%07.7_ax " 8/2 "%04x " "\n"`},
}

// hexdumpJob holds the parsed command line of hexdump.
type hexdumpJob struct {
	p       *shell.Proc
	out     *program.Output
	formats []*hexFormat
	skip    int64
	limit   int64 // -1: none
	all     bool
	block   int
	end     *hexUnit // shown after the last block

	address int64 // of the block
	ended   int64 // offset of the end; -1 while it is not known
}

func runHexdump(p *shell.Proc) int {
	h := &hexdumpJob{p: p, limit: -1, ended: -1}
	o := program.NewOptions(p, hexdumpCommand, hexdumpOptions)
	for o.Next() {
		h.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if len(h.formats) == 0 {
		id := 0
		if p.Name() == "hd" {
			id = 'C'
		}
		h.add(o, hexdumpFormats[id]...)
	}
	if msg := h.layout(); msg != "" {
		p.Warn("%s", msg)
		return 1
	}
	in := program.NewInputFiles(p, o.Args())
	defer in.Close()
	h.out = program.NewOutput(p)
	if !in.Skip(h.skip) {
		if in.Ended == nil && !in.Failed {
			p.Warn("cannot skip past end of input")
			return 1
		}
	}
	h.address = h.skip
	if p.Reserve(2*h.block) != nil { // A block, and the one before.
		p.Warn("memory exhausted")
		return 1
	}
	h.run(in)
	status := in.Status()
	if in.Failed {
		p.Warn("all input file arguments failed")
	}
	return h.out.Close(status)
}

func (h *hexdumpJob) option(o *program.Options) {
	switch o.ID {
	case 'L':
		if o.HasValue && o.Value != "never" && o.Value != "auto" {
			o.RejectQuietly("unsupported color mode")
		}
	case 'e':
		h.add(o, o.Value)
	case 'f':
		h.file(o, o.Value)
	case 'n', 's':
		n, err := sizes.ParseBytes(o.Value)
		if err != "" {
			what := map[int]string{'n': "length", 's': "offset"}[o.ID]
			o.RejectQuietly("failed to parse %s: '%s'", what, o.Value)
			return
		}
		if o.ID == 'n' {
			h.limit = n
		} else {
			h.skip = n
		}
	case 'v':
		h.all = true
	default:
		h.add(o, hexdumpFormats[o.ID]...)
	}
}

// hexMemory is about how many bytes of memory a byte of a format takes: a part has two bytes at least.
const hexMemory = 128

func (h *hexdumpJob) add(o *program.Options, formats ...string) {
	for _, s := range formats {
		if h.p.Reserve(hexMemory*len(s)) != nil {
			o.RejectQuietly("memory exhausted")
			return
		}
		f, err := parseHexFormat(s)
		if err != nil {
			o.RejectQuietly("%v", err)
			return
		}
		h.formats = append(h.formats, f) // bounded: by the formats of an argument, which are charged
	}
}

func (h *hexdumpJob) file(o *program.Options, name string) {
	f, err := h.p.Open(name)
	if err != nil {
		o.RejectQuietly("can't read %s: %s", name, shell.Strerror(err))
		return
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		o.RejectQuietly("can't read %s: %s", name, shell.Strerror(err))
		return
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			h.add(o, line)
		}
	}
}

// layout decides how many bytes a block has, and repeats the last unit of formats
// that do not fill it.
func (h *hexdumpJob) layout() string {
	for _, f := range h.formats {
		h.block = max(h.block, f.size())
	}
	if h.block > 1<<20 {
		return "block is too large"
	}
	for _, f := range h.formats {
		for _, u := range f.units {
			if u.atEnd {
				h.end = u
			}
		}
		if n := len(f.units); n > 0 {
			last := f.units[n-1]
			if size := last.size(); size > 0 && !last.counted {
				last.count += (h.block - f.size()) / size
			}
		}
		for _, u := range f.units {
			u.trim()
		}
	}
	return ""
}

func (h *hexdumpJob) run(in io.Reader) {
	if h.block == 0 {
		return
	}
	if h.limit >= 0 {
		in = io.LimitReader(in, h.limit)
	}
	block, last := make([]byte, h.block), make([]byte, h.block) // bounded: runHexdump has charged for them
	first, starred := true, false
	for !h.out.HasFailed() {
		n, err := io.ReadFull(in, block)
		if n == 0 {
			break
		}
		if n < h.block {
			clear(block[n:])
			h.ended = h.address + int64(n)
		}
		if n == h.block && !h.all && !first && bytes.Equal(block, last) {
			if !starred {
				_, _ = h.out.WriteString("*\n")
			}
			starred = true
			h.address += int64(n)
			continue
		}
		starred, first = false, false
		copy(last, block)
		for _, f := range h.formats {
			h.show(f, block)
		}
		h.address += int64(n)
		if err != nil {
			break
		}
	}
	h.showEnd()
}

func (h *hexdumpJob) showEnd() {
	if h.end == nil {
		return
	}
	if h.ended < 0 {
		if h.address == 0 {
			return
		}
		h.ended = h.address
	}
	for i := range h.end.parts {
		part := &h.end.parts[i]
		_, _ = h.out.WriteString(part.before + part.address(h.ended) + part.after)
	}
}

func (h *hexdumpJob) show(f *hexFormat, block []byte) {
	at := 0
	for _, u := range f.units {
		if u.atEnd {
			continue
		}
		for k := u.count; k > 0; k-- {
			for i := range u.parts {
				part := &u.parts[i]
				h.showPart(part, block, at, u.count > 1 && k == 1 && i == len(u.parts)-1)
				at += part.size
			}
		}
	}
}

func (h *hexdumpJob) showPart(part *hexPart, block []byte, at int, last bool) {
	after := part.after
	if last {
		after = part.lastAfter
	}
	before := part.before
	if last && part.verb == 0 {
		before = part.lastAfter
	}
	_, _ = h.out.WriteString(before)
	if part.verb == 0 {
		return
	}
	switch {
	case part.verb == 'a':
		_, _ = h.out.WriteString(part.address(h.address + int64(at)))
	case h.ended >= 0 && h.address+int64(at) >= h.ended:
		_, _ = h.out.WriteString(strings.Repeat(" ", part.Width)) // bounded: by LeadingNumber
	case at+part.size <= len(block):
		_, _ = h.out.WriteString(part.field(block[at : at+part.size]))
	}
	_, _ = h.out.WriteString(after)
}
