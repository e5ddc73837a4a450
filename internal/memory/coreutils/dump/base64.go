package dump

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

const baseHelp = `With no FILE, or when FILE is -, read standard input.

  -d, --decode          decode data
  -i, --ignore-garbage  when decoding, pass over characters that do not belong
  -w, --wrap=COLS       wrap lines after COLS characters; 76, 0 for never
      --help            show this help and exit
      --version         show the version and exit`

func base64Command() program.Description {
	return program.Description{
		Name: "base64", Usage: "[OPTION]... [FILE]",
		Summary: "encode or decode FILE, or standard input, as base64",
		Help:    baseHelp, Run: func(p *shell.Proc) int { return runBase(p, base64Command, "base64") },
	}
}

func base32Command() program.Description {
	return program.Description{
		Name: "base32", Usage: "[OPTION]... [FILE]",
		Summary: "encode or decode FILE, or standard input, as base32",
		Help:    baseHelp, Run: func(p *shell.Proc) int { return runBase(p, base32Command, "base32") },
	}
}

func basencCommand() program.Description {
	return program.Description{
		Name: "basenc", Usage: "[OPTION]... [FILE]",
		Summary: "encode or decode FILE, or standard input, in the encoding that is named",
		Help: `      --base64     as base64
      --base64url  base64 that is safe in file names and addresses
      --base32     as base32
      --base32hex  base32 with the digits in order
      --base16     hexadecimal
      --base2msbf  bits, the most significant one first
      --base2lsbf  bits, the least significant one first
      --z85        as ZeroMQ's spec 32: lengths are multiples of 4, of 5 when decoding

` + baseHelp,
		Run: func(p *shell.Proc) int { return runBase(p, basencCommand, "") },
	}
}

var baseOptions = []getopt.Option{
	{Short: 'd', Long: "decode"},
	{Short: 'i', Long: "ignore-garbage"},
	{Short: 'w', Long: "wrap", Arg: getopt.Required},
}

var basencNames = []string{"base64", "base64url", "base32", "base32hex", "base16", "base2msbf", "base2lsbf", "z85"}

func basencOptions() []getopt.Option {
	table := slices.Clip(baseOptions)
	for i, name := range basencNames {
		table = append(table, getopt.Option{Long: name, ID: getopt.First + i})
	}
	return table
}

// baseJob holds the parsed command line of base64, base32 or basenc.
type baseJob struct {
	p      *shell.Proc
	coding *baseCoding
	wrap   int64
	decode bool
	lax    bool
}

func runBase(p *shell.Proc, describe func() program.Description, name string) int {
	b := &baseJob{p: p, wrap: 76}
	table := baseOptions
	if name == "" {
		table = basencOptions()
	}
	o := program.NewOptions(p, describe, table)
	for o.Next() {
		switch o.ID {
		case 'd':
			b.decode = true
		case 'i':
			b.lax = true
		case 'w':
			n, err := strconv.ParseInt(o.Value, 10, 64)
			if err != nil || n < 0 {
				if numErr := sizes.IsRangeError(err); numErr && n > 0 {
					b.wrap = 0
					continue
				}
				o.RejectQuietly("invalid wrap size: %s", shell.Quote(o.Value))
				continue
			}
			b.wrap = n
		default:
			name = basencNames[o.ID-getopt.First]
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if name == "" {
		return program.UsageError(p, describe, 1, "missing encoding type")
	}
	args := o.Args()
	if len(args) > 1 {
		return program.UsageError(p, describe, 1, "extra operand %s", shell.Quote(args[1]))
	}
	file := "-"
	if len(args) == 1 {
		file = args[0]
	}
	b.coding = baseCodings[name]
	return b.run(file)
}

func (b *baseJob) run(file string) int {
	in, err := program.OpenInput(b.p, file)
	if err != nil {
		b.p.Error(file, err)
		return 1
	}
	defer in.Close()
	src := &readErrors{r: in}
	r := bufio.NewReaderSize(src, program.BufferSize)
	out := program.NewOutput(b.p)
	var msg string
	if b.decode {
		msg, err = b.decodeAll(r, out)
	} else {
		msg, err = b.encodeAll(r, out)
	}
	switch {
	case err != nil:
		return b.p.Status(err)
	case src.err != nil:
		_ = out.Flush()
		b.p.Warn("read error: %s", shell.Strerror(src.err))
		return 1
	case msg != "":
		status := out.Close(1)
		b.p.Warn("%s", msg)
		return status
	}
	return out.Close(0)
}

// readErrors keeps the error of a reader unless it is io.EOF.
type readErrors struct {
	r   io.Reader
	err error
}

func (r *readErrors) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if err != nil && !program.IsEnd(err) {
		r.err = err
	}
	return n, err
}

// encodeAll encodes its input in lines of wrap characters.
func (b *baseJob) encodeAll(r *bufio.Reader, out *program.Output) (string, error) {
	c := b.coding
	block := make([]byte, c.in*1024) // bounded: by the few bytes of a group
	var text []byte
	col := int64(0)
	for !out.HasFailed() {
		n, err := io.ReadFull(r, block)
		if e := b.p.Spend(1 + n>>6); e != nil {
			return "", e
		}
		if c.whole && n%c.in != 0 {
			return "invalid input (length must be multiple of 4 characters)", nil
		}
		text = c.encode(text[:0], block[:n])
		col = wrapText(out, text, b.wrap, col)
		if err != nil {
			break
		}
	}
	if b.wrap > 0 && col > 0 {
		_ = out.WriteByte('\n')
	}
	return "", nil
}

func wrapText(out *program.Output, text []byte, wrap, col int64) int64 {
	if wrap <= 0 {
		_, _ = out.Write(text)
		return 1
	}
	for len(text) > 0 {
		if col == wrap {
			_ = out.WriteByte('\n')
			col = 0
		}
		n := min(int64(len(text)), wrap-col)
		_, _ = out.Write(text[:n])
		text = text[n:]
		col += n
	}
	return col
}

const baseInvalid = "invalid input"

// decodeAll reads groups of characters and ignores newlines.
func (b *baseJob) decodeAll(r *bufio.Reader, out *program.Output) (string, error) {
	c := b.coding
	group := make([]byte, 0, c.out) // bounded: by the few bytes of a group
	for n := 0; ; n++ {
		if n&1023 == 0 {
			if err := b.p.Spend(16); err != nil {
				return "", err
			}
		}
		ch, err := r.ReadByte()
		if err != nil {
			break
		}
		if ch == '\n' || b.lax && !c.member(ch) {
			continue
		}
		group = append(group, ch)
		if len(group) < c.out {
			continue
		}
		data, ok := c.decode(group)
		_, _ = out.Write(data)
		if !ok {
			return baseInvalid, nil
		}
		if out.HasFailed() {
			return "", nil
		}
		group = group[:0]
	}
	if len(group) > 0 {
		_, _ = out.Write(c.decodeEnd(group))
		return baseInvalid, nil
	}
	return "", nil
}
