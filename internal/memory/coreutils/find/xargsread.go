package find

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// xargsReader takes items out of the input.
type xargsReader struct {
	x       *xargs
	in      *bufio.Reader
	ended   bool
	lineEnd bool // the item that was read ends a line, as -L counts them
}

// run reads all items and runs the commands.
func (x *xargs) run(in io.Reader) int {
	x.initial = 0
	for _, w := range x.command {
		x.initial += len(w) + 1
	}
	x.chars = x.initial
	if x.initial > x.maxChars {
		x.proc.Warn("cannot fit single argument within argument list size limit")
		return 1
	}
	r := &xargsReader{x: x, in: bufio.NewReaderSize(in, program.BufferSize)}
	x.pool.open(x)
	if x.replace != "" {
		r.replaceAll()
	} else {
		r.fillAll()
	}
	x.pool.wait()
	return x.status
}

// fillAll puts items behind the command until it is full, and runs it.
func (r *xargsReader) fillAll() {
	x := r.x
	for !x.fatal {
		item, ok := r.next()
		if !ok {
			break
		}
		if len(x.batch) > 0 && x.chars+len(item)+1 > x.maxChars {
			if x.exit && (x.items > 0 || x.lines > 0) {
				x.die("argument list too long")
				break
			}
			x.flush()
		}
		if x.initial+len(item)+1 > x.maxChars {
			x.die("argument line too long")
			break
		}
		x.batch = append(x.batch, item) // bounded: a command line of maxChars, 2 MiB at most
		x.chars += len(item) + 1
		if r.lineEnd {
			x.filled++
		}
		if x.items > 0 && len(x.batch) == x.items || x.lines > 0 && r.lineEnd && x.filled == x.lines {
			x.flush()
		}
	}
	if !x.fatal && (len(x.batch) > 0 || !x.ran && !x.noEmpty) {
		x.flush()
	}
}

// die ends everything with a message.
func (x *xargs) die(format string, args ...any) {
	x.proc.Warn(format, args...)
	x.status, x.fatal = 1, true
	x.batch = nil
}

// flush runs the command with the items that are there.
func (x *xargs) flush() {
	args := append(append([]string(nil), x.command...), x.batch...)
	x.batch, x.chars, x.filled = x.batch[:0], x.initial, 0
	x.ran = true
	x.start(args)
}

// replaceAll runs the command once for each line, with the line in the place of the mark.
func (r *xargsReader) replaceAll() {
	x := r.x
	for !x.fatal {
		line, ok := r.line()
		if !ok {
			return
		}
		args := make([]string, len(x.command))
		size := 0
		for i, w := range x.command {
			if size += len(w) + 1; i > 0 {
				size += strings.Count(w, x.replace) * (len(line) - len(x.replace))
			}
		}
		if size > x.maxChars {
			x.die("command too long")
			return
		}
		for i, w := range x.command {
			if i > 0 {
				w = strings.ReplaceAll(w, x.replace, line)
			}
			args[i] = w
		}
		x.start(args)
	}
}

// spend counts the work for some bytes.
func (r *xargsReader) spend(n int) bool {
	if err := r.x.proc.Spend(n/64 + 1); err != nil {
		r.x.fatal, r.x.status = true, r.x.proc.Status(err)
		return false
	}
	return true
}

func (r *xargsReader) next() (string, bool) {
	if r.ended {
		return "", false
	}
	if r.x.delimited {
		return r.delimitedItem()
	}
	item, ok := r.quotedItem(false)
	return item, ok
}

func (r *xargsReader) delimitedItem() (string, bool) {
	var b []byte // bounded: fits
	r.lineEnd = true
	for {
		part, err := r.in.ReadSlice(r.x.delimiter)
		if !r.spend(len(part)) || !r.fits(len(b)+len(part)) {
			return "", false
		}
		b = append(b, part...)
		switch {
		case err == nil:
			return string(b[:len(b)-1]), true
		case errors.Is(err, bufio.ErrBufferFull):
		case len(b) > 0:
			return string(b), true
		default:
			r.fault(err)
			return "", false
		}
	}
}

// fits ends everything when an item has more bytes than a command line may have, before the rest of the item is read.
func (r *xargsReader) fits(n int) bool {
	if r.x.initial+n > r.x.maxChars+2 { // The delimiter may be among them.
		r.x.die("argument line too long")
		return false
	}
	return true
}

// fault reports a failure to read.
func (r *xargsReader) fault(err error) {
	r.ended = true
	if err != nil && !errors.Is(err, io.EOF) && !r.x.fatal {
		r.x.die("read error: %v", err)
	}
}

// line reads a line for -I: without blanks before it, with quotes.
func (r *xargsReader) line() (string, bool) {
	if r.ended {
		return "", false
	}
	if r.x.delimited {
		return r.delimitedItem()
	}
	return r.quotedItem(true)
}

// quotedItem reads an item in which quotes and backslashes protect blanks; whole reads up
// to the end of the line.
func (r *xargsReader) quotedItem(whole bool) (string, bool) {
	var b strings.Builder // bounded: fits
	in, quote, n := false, byte(0), 0
	for {
		c, err := r.in.ReadByte()
		if n++; n%64 == 0 && (!r.spend(64) || !r.fits(b.Len())) {
			return "", false
		}
		if err != nil {
			r.fault(err)
			if quote != 0 {
				r.unmatched(quote)
				return "", false
			}
			r.lineEnd = true
			return b.String(), in && !r.isEnd(b.String())
		}
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0 && c == '\n':
			r.unmatched(quote)
			return "", false
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			in, quote = true, c
		case c == '\\':
			if c, err = r.in.ReadByte(); err == nil {
				in = true
				b.WriteByte(c)
			}
		case c == '\n' || !whole && (c == ' ' || c == '\t'):
			if !in {
				continue
			}
			if r.isEnd(b.String()) {
				r.ended = true
				return "", false
			}
			// A line that ends in a blank goes on in the next one, for -L.
			r.lineEnd = c == '\n'
			return b.String(), true
		case whole && !in && (c == ' ' || c == '\t'):
		default:
			in = true
			b.WriteByte(c)
		}
	}
}

func (r *xargsReader) isEnd(item string) bool { return r.x.eof != "" && item == r.x.eof }

func (r *xargsReader) unmatched(quote byte) {
	kind := "double"
	if quote == '\'' {
		kind = "single"
	}
	r.ended = true
	if len(r.x.batch) > 0 { // What came before is run.
		r.x.flush()
	}
	r.x.pool.wait()
	r.x.die("unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", kind)
}
