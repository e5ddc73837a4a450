// Package charset holds the program iconv and the character sets that it converts.
package charset

import (
	"io"
	"os"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func iconvCommand() program.Description {
	return program.Description{
		TryHelp: "Try `%[1]s --help' or `%[1]s --usage' for more information.\n",
		Name:    "iconv", Usage: "[OPTION...] [FILE...]",
		Summary: "convert text from one encoding to another",
		Help: `With no FILE, or when FILE is -, read standard input.

  -f, --from-code=NAME   the encoding of the input; that of the locale
  -t, --to-code=NAME     the encoding of the output; that of the locale. Behind NAME may stand
                         //TRANSLIT: write what cannot be encoded in other letters, or as ?
                         //IGNORE: leave it out, and end with status 1
  -c                     leave out what cannot be converted
  -l, --list             list the encodings
  -o, --output=FILE      write to FILE
  -s, --silent           does nothing
      --verbose          say which file is converted
  -?, --help             show this help and exit
  -V, --version          show the version and exit`,
		Run: runIconv,
	}
}

const iconvVerbose = getopt.First

var iconvOptions = []getopt.Option{
	{Short: 'f', Long: "from-code", Arg: getopt.Required},
	{Short: 't', Long: "to-code", Arg: getopt.Required},
	{Short: 'c'},
	{Short: 'l', Long: "list"},
	{Short: 'o', Long: "output", Arg: getopt.Required},
	{Short: 's', Long: "silent"},
	{Long: "verbose", ID: iconvVerbose},
	{Short: '?', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// iconv is a run of iconv.
type iconv struct {
	p         *shell.Proc
	from, to  charset
	omit      bool // leave out what cannot be converted
	tell      bool // report that something was left out
	translit  bool
	bytesOnly bool // the locale has only ASCII letters
	verbose   bool
	target    string
	hold      bool // write only after all input is read: the output is an input file

	file *vfs.File
	out  io.Writer
	in   []byte
	buf  []byte // output that is not written yet
	held int    // bytes of buf that are charged to the machine
}

func runIconv(p *shell.Proc) int {
	c := &iconv{p: p, bytesOnly: program.IsByteLocale(p)}
	from, to, list := "", "", false
	o := program.NewOptions(p, iconvCommand, iconvOptions)
	o.Wrong = 64
	for o.Next() {
		switch o.ID {
		case 'f':
			from = o.Value
		case 't':
			to = o.Value
		case 'c':
			c.omit = true
		case 'l':
			list = true
		case 'o':
			c.target = o.Value
		case iconvVerbose:
			c.verbose = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if list {
		return listCharsets(p)
	}
	if !c.choose(from, to) {
		return 1
	}
	c.in = make([]byte, program.BufferSize)
	return c.run(program.FilesOrStdin(o.Args()))
}

// choose finds the encodings. "" is the encoding of the locale.
func (c *iconv) choose(from, to string) bool {
	from, _, _ = strings.Cut(from, "//")
	to, suffix, _ := strings.Cut(to, "//")
	for word := range strings.FieldsFuncSeq(strings.ToUpper(suffix), func(r rune) bool { return r == '/' || r == ',' }) {
		switch word {
		case "TRANSLIT":
			c.translit = true
		case "IGNORE":
			c.tell = !c.omit
			c.omit = true
		}
	}
	var ok bool
	for _, side := range []struct {
		name, word string
		set        *charset
	}{{from, "from", &c.from}, {to, "to", &c.to}} {
		if side.name == "" {
			if side.name = "UTF-8"; c.bytesOnly {
				side.name = "ASCII"
			}
		}
		if *side.set, ok = findCharset(side.name); !ok {
			c.p.Warn("conversion %s '%s' is not supported", side.word, side.name)
			program.TryHelp(c.p, iconvCommand())
			return false
		}
	}
	return true
}

// run converts files until one fails.
func (c *iconv) run(names []string) int {
	status := 0
	target, err := c.p.Stat(c.target)
	replaces := c.target != "" && err == nil
	for _, name := range names {
		if info, err := c.p.Stat(name); replaces && err == nil && info.Ino == target.Ino {
			c.hold = true
		}
	}
	for _, name := range names {
		if c.verbose {
			_, _ = io.WriteString(c.p.Stderr, name+":\n")
		}
		in, err := program.OpenInput(c.p, name)
		if err != nil {
			c.p.Errorf(err, "cannot open input file `%s'", name)
			status = 1
			continue
		}
		failed, ok := c.convert(in)
		_ = in.Close()
		if !ok {
			return c.close(failed)
		}
	}
	return c.close(status)
}

func (c *iconv) close(status int) int {
	if c.hold {
		c.hold = false
		if failed, ok := c.write(); !ok {
			return failed
		}
	}
	if c.file != nil {
		if err := c.file.Close(); err != nil && status == 0 {
			c.p.Errorf(err, "error while closing output file")
			return 1
		}
	}
	return status
}

// write writes the buffer. It creates the file with the first byte.
func (c *iconv) write() (status int, ok bool) {
	if c.hold {
		if err := c.p.Reserve(max(0, cap(c.buf)-c.held)); err != nil {
			c.p.Errorf(err, "conversion stopped due to problem in writing the output")
			return 1, false
		}
		c.held = max(c.held, cap(c.buf))
		return 0, true
	}
	if len(c.buf) == 0 {
		return 0, true
	}
	if c.out == nil {
		c.out = c.p.Stdout
		if c.target != "" && c.target != "-" {
			var err error
			if c.file, err = c.p.OpenFile(c.target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666); err != nil {
				c.p.Errorf(err, "cannot open output file")
				return 1, false
			}
			c.out = c.file
		}
	}
	_, err := c.out.Write(c.buf)
	c.buf = c.buf[:0]
	if err != nil {
		if status := c.p.Status(err); status != 1 {
			return status, false
		}
		c.p.Errorf(err, "conversion stopped due to problem in writing the output")
		return 1, false
	}
	return 0, true
}

// convert converts one file. ok is false after an error that ends the command.
func (c *iconv) convert(in io.Reader) (status int, ok bool) {
	t := &transcoder{iconv: c, decode: c.from.decoder(), encode: c.to.encoder()}
	held := 0
	for {
		n, err := in.Read(c.in[held:])
		if e := c.p.Spend(1 + n>>4); e != nil {
			return c.p.Status(e), false
		}
		used, good := t.feed(c.in[:held+n])
		if status, ok := c.write(); !ok {
			return status, false
		}
		if !good {
			c.p.Warn("illegal input sequence at position %d", t.at)
			return 1, false
		}
		held = copy(c.in, c.in[used:held+n])
		if err == nil {
			continue
		}
		switch {
		case !program.IsEnd(err):
			c.p.Errorf(err, "error while reading the input")
		case held > 0:
			c.p.Warn("incomplete character or shift sequence at end of buffer")
		case t.omitted && c.tell:
			c.p.Warn("illegal input sequence at position %d", t.at)
		default:
			return 0, true
		}
		return 1, false
	}
}

// transcoder converts one file.
type transcoder struct {
	*iconv
	decode  func(b []byte) (rune, int)
	encode  func(b []byte, r rune) ([]byte, bool)
	at      int64 // the place in the file
	omitted bool
}

// feed converts b, but for the beginning of a character at its end. good is false at a character that cannot be converted.
func (t *transcoder) feed(b []byte) (used int, good bool) {
	for used < len(b) {
		r, n := t.decode(b[used:])
		if n == 0 {
			return used, true
		}
		good = r >= 0
		if good && r != noRune {
			good = t.put(r)
		}
		if !good {
			if !t.omit {
				return used, false
			}
			t.omitted = true
		}
		used += n
		t.at += int64(n)
	}
	return used, true
}

// put encodes a character, in other letters if need be.
func (t *transcoder) put(r rune) (ok bool) {
	if t.buf, ok = t.encode(t.buf, r); ok || !t.translit {
		return ok
	}
	before := len(t.buf)
	if text, known := otherLetters(r, t.bytesOnly); known {
		fits := true
		for _, l := range text {
			if t.buf, ok = t.encode(t.buf, l); !ok {
				fits = false
				break
			}
		}
		if fits {
			return true
		}
		t.buf = t.buf[:before]
	}
	t.buf, ok = t.encode(t.buf, '?')
	return ok
}
