package shell

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/ifs"
)

// readOptions are those of the read builtin.
type readOptions struct {
	raw     bool
	array   string
	delim   byte
	max     int // characters; 0: no limit
	exact   bool
	prompt  string
	timeout time.Duration // <0: none
	fd      int
}

func (sh *interp) read(args []string) int {
	list, names, st := sh.parseOptions(args, "ersa:d:i:n:N:p:t:u:")
	if st >= 0 {
		return st
	}
	o := readOptions{delim: '\n', timeout: -1}
	for _, f := range list {
		if st := o.set(sh, f); st >= 0 {
			return st
		}
	}
	for _, n := range names {
		base, _, _ := splitSubscript(n)
		if !isName(base) {
			return sh.fail("`%s': not a valid identifier", n)
		}
	}
	d := sh.fds.Get(o.fd)
	if d == nil || d.Mode&fd.ModeRead == 0 {
		return sh.fail("read error: %d: Bad file descriptor", o.fd)
	}
	if o.timeout == 0 {
		return sh.readable(d)
	}
	if o.max < 0 {
		return sh.storeRead(&o, names, "", nil, 0)
	}
	if o.raw && o.max == 0 && o.timeout < 0 {
		return sh.readPlain(&o, d, names)
	}
	return sh.readChars(&o, d, names)
}

// set takes an option; -1 when it is fine.
func (o *readOptions) set(sh *interp, f flag) int {
	switch f.c {
	case 'r':
		o.raw = true
	case 'a':
		o.array = f.arg
	case 'd':
		o.delim = 0
		if f.arg != "" {
			o.delim = f.arg[0]
		}
	case 'n', 'N':
		n, err := strconv.Atoi(f.arg)
		if err != nil || n < 0 {
			return sh.fail("%s: invalid number", f.arg)
		}
		if o.max = n; n == 0 {
			o.max = -1
		}
		o.exact = f.c == 'N'
	case 'p':
		o.prompt = f.arg
	case 't':
		secs, err := strconv.ParseFloat(f.arg, 64)
		if err != nil || secs < 0 {
			return sh.fail("%s: invalid timeout specification", f.arg)
		}
		o.timeout = time.Duration(min(secs, 1e9) * float64(time.Second))
	case 'u':
		n, err := strconv.Atoi(f.arg)
		if err != nil || n < 0 {
			return sh.fail("%s: invalid file descriptor specification", f.arg)
		}
		if sh.fds.Get(n) == nil {
			return sh.fail("%d: invalid file descriptor: Bad file descriptor", n)
		}
		o.fd = n
	}
	return -1
}

// readable is read -t 0: whether a read would not wait.
func (sh *interp) readable(d *fd.Description) int {
	if d.Seek || d.IsText() {
		return 0
	}
	ctx, cancel := context.WithTimeout(sh.ctx, time.Millisecond)
	defer cancel()
	b := make([]byte, 1)
	n, err := d.Read(ctx, b)
	if n > 0 {
		d.Unread(b[:n])
	}
	if err != nil && ctx.Err() != nil {
		return 1
	}
	return 0
}

// readPlain is read -r: a line without escapes.
func (sh *interp) readPlain(o *readOptions, d *fd.Description, names []string) int {
	ctx, done := sh.interruptible()
	b, found, err := d.ReadLine(ctx, o.delim, 0, sh.readBuf[:0], work{sh})
	sh.readBuf = b
	done()
	if !sh.spend(len(b) >> 6) {
		return sh.status
	}
	st := 0
	if !found {
		st = 1
		if err != nil && errors.Is(err, syscall.EISDIR) {
			sh.fail("read error: %d: Is a directory", o.fd)
		}
		if s := sh.interrupted(err); s > 0 {
			return s
		}
	}
	if cap(b) > 1<<16 {
		sh.readBuf = nil
	}
	if len(b) > 1<<12 && !sh.hold(len(b)) {
		return sh.status
	}
	line := string(b)
	if o.delim != 0 && strings.IndexByte(line, 0) >= 0 {
		line = strings.ReplaceAll(line, "\x00", "")
	}
	return sh.storeRead(o, names, line, nil, st)
}

// interrupted tells of a wait that a trapped signal ended: the trap has run, and the status is 128+n.
func (c *jobControl) interrupted(err error) int {
	if err == nil || c.exec.ctx.Err() != nil {
		return 0
	}
	if bits := c.exec.p.Pending.Load(); bits != 0 {
		return 128 + c.taken(bits)
	}
	return 0
}

// readChars reads byte by byte: escapes, a number of characters, a timeout.
func (sh *interp) readChars(o *readOptions, d *fd.Description, names []string) int {
	ctx, done := sh.interruptible()
	defer done()
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	var line []byte
	var escaped []bool // bytes that a backslash protects
	st, chars, one := 1, 0, make([]byte, 1)
	backslash := false
	var failed error
	for o.max <= 0 || chars < o.max {
		n, err := d.Read(ctx, one)
		if n == 0 {
			failed = err
			break
		}
		c := one[0]
		if !sh.tick() {
			return sh.status
		}
		if backslash {
			backslash = false
			if c == '\n' {
				continue
			}
			line, escaped = append(line, c), append(escaped, true)
			chars++
			continue
		}
		if c == '\\' && !o.raw {
			backslash = true
			continue
		}
		if c == o.delim && !o.exact {
			st = 0
			break
		}
		if c == 0 {
			continue
		}
		line, escaped = append(line, c), append(escaped, false)
		if len(line)&0xfff == 0 && !sh.hold(6<<12) {
			return sh.status
		}
		if o.max > 0 {
			c, e := sh.restOfRune(ctx, d, line)
			for range len(c) - len(line) {
				escaped = append(escaped, e)
			}
			line = c
		}
		if chars++; o.max > 0 && chars == o.max {
			st = 0
		}
	}
	if errors.Is(failed, syscall.EISDIR) {
		sh.fail("read error: %d: Is a directory", o.fd)
	}
	if failed != nil && ctx.Err() != nil && sh.ctx.Err() == nil {
		if o.timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			st = 128 + 14
		} else if s := sh.interrupted(failed); s > 0 {
			return s
		}
	}
	if sh.ctx.Err() != nil {
		sh.tickSlow()
		return sh.status
	}
	return sh.storeRead(o, names, string(line), escaped, st)
}

// restOfRune completes a character that takes several bytes.
func (sh *interp) restOfRune(ctx context.Context, d *fd.Description, line []byte) ([]byte, bool) {
	c := line[len(line)-1]
	need := 0
	switch {
	case sh.bytewise():
	case c >= 0xf0:
		need = 3
	case c >= 0xe0:
		need = 2
	case c >= 0xc0:
		need = 1
	}
	one := make([]byte, 1)
	for range need {
		n, _ := d.Read(ctx, one)
		if n == 0 {
			break
		}
		if one[0]&0xc0 != 0x80 {
			d.Unread(one)
			break
		}
		line = append(line, one[0])
	}
	return line, false
}

// storeRead stores the input in the variables.
func (sh *interp) storeRead(o *readOptions, names []string, line string, escaped []bool, st int) int {
	hasEscape := false
	for _, e := range escaped {
		hasEscape = hasEscape || e
	}
	if !hasEscape {
		escaped = nil
	}
	if o.array != "" {
		sh.separators()
		var list []string
		for words := ifs.NewWords(&sh.ifs, line, escaped); !words.IsEmpty(); {
			list = append(list, words.Next())
		}
		base := sh.slot(o.array)
		if !isName(o.array) {
			return sh.fail("`%s': not a valid identifier", o.array)
		}
		if sh.isAssoc(base) {
			return sh.fail("%s: cannot convert associative to indexed array", o.array)
		}
		if !sh.setList(base, list) {
			return 1
		}
		return st
	}
	if len(names) == 0 {
		if !sh.assign(slotREPLY, line) {
			return 1
		}
		return st
	}
	if o.exact {
		for i, n := range names {
			v := ""
			if i == 0 {
				v = line
			}
			if !sh.assignNamed(n, v) {
				return 1
			}
		}
		return st
	}
	sh.separators()
	words := ifs.NewWords(&sh.ifs, line, escaped)
	for i, n := range names {
		v := ""
		if i == len(names)-1 {
			v = words.Rest()
		} else if !words.IsEmpty() {
			v = words.Next()
		}
		if !sh.assignRead(n, v) {
			return 1
		}
	}
	return st
}

func (v *variables) assignRead(name, value string) bool {
	if isName(name) {
		return v.assign(v.exec.slot(name), value)
	}
	return v.assignNamed(name, value)
}

// mapfile reads lines into an array.
func (sh *interp) mapfile(args []string) int {
	list, rest, st := sh.parseOptions(args, "d:n:O:s:tu:C:c:")
	if st >= 0 {
		return st
	}
	o := mapOptions{delim: '\n', every: 5000, origin: -1}
	for _, f := range list {
		if st := o.set(sh, f); st >= 0 {
			return st
		}
	}
	slot := slotMAPFILE
	if len(rest) > 0 {
		if !isName(rest[0]) {
			return sh.fail("`%s': not a valid identifier", rest[0])
		}
		slot = sh.slot(rest[0])
	}
	d := sh.fds.Get(o.fd)
	if d == nil || d.Mode&fd.ModeRead == 0 {
		return sh.fail("%d: invalid file descriptor: Bad file descriptor", o.fd)
	}
	if sh.isAssoc(slot) {
		return sh.fail("%s: not an indexed array", rest[0])
	}
	return sh.mapLines(&o, d, slot)
}

// mapOptions are those of mapfile.
type mapOptions struct {
	delim    byte
	max      int
	origin   int64
	skip     int
	trim     bool
	fd       int
	callback string
	every    int
}

func (o *mapOptions) set(sh *interp, f flag) int {
	number := func(what string) (int, bool) {
		n, err := strconv.Atoi(f.arg)
		if err != nil || n < 0 {
			sh.fail("%s: invalid %s", f.arg, what)
			return 0, false
		}
		return n, true
	}
	ok := true
	switch f.c {
	case 'd':
		o.delim = 0
		if f.arg != "" {
			o.delim = f.arg[0]
		}
	case 'n':
		o.max, ok = number("line count")
	case 'O':
		var n int
		n, ok = number("array origin")
		o.origin = int64(n)
	case 's':
		o.skip, ok = number("line count")
	case 't':
		o.trim = true
	case 'u':
		o.fd, ok = number("file descriptor specification")
	case 'C':
		o.callback = f.arg
	case 'c':
		o.every, ok = number("callback quantum")
		if ok && o.every == 0 {
			sh.fail("%s: invalid callback quantum", f.arg)
			ok = false
		}
	}
	if !ok {
		return 1
	}
	return -1
}

func (sh *interp) mapLines(o *mapOptions, d *fd.Description, slot int) int {
	if o.origin < 0 {
		if !sh.setList(slot, []string{}) {
			return 1
		}
		o.origin = 0
	}
	_, c := sh.writable(slot)
	if c == nil {
		return 1
	}
	lines := &lineReader{}
	for n := 0; o.max == 0 || n < o.max; {
		line, found := lines.next(sh, d, o.delim, 0)
		if sh.ctl != ctlNone {
			return sh.status
		}
		if line == "" && !found {
			break
		}
		if o.skip > 0 {
			o.skip--
			continue
		}
		if found && !o.trim {
			line += string(o.delim)
		}
		if i := strings.IndexByte(line, 0); i >= 0 { // bash's strings end there
			line = line[:i]
		}
		if o.callback != "" && (n+1)%o.every == 0 {
			text := o.callback + " " + strconv.FormatInt(o.origin+int64(n), 10) + " " + sh.quoteShell(line)
			if sh.evalText(text, sh.line, "mapfile"); sh.ctl != ctlNone {
				return sh.status
			}
		}
		if !sh.assignIndex(slot, o.origin+int64(n), line, false, "") || !sh.tick() {
			return 1
		}
		n++
		if !found {
			break
		}
	}
	return 0
}

// getopts takes the next option of the arguments.
func (sh *interp) getopts(args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	if len(args) < 3 {
		return sh.usage(sh.usageText(), "")
	}
	if len(args[1]) > 1 && args[1][0] == '-' && args[1] != "-" && !strings.Contains(args[1], ":") && len(args) < 3 {
		return sh.badOption(args[1][:2])
	}
	spec, name := args[1], args[2]
	list := sh.params
	if len(args) > 3 {
		list = args[3:]
	}
	quiet := strings.HasPrefix(spec, ":")
	if quiet {
		spec = spec[1:]
	}
	ind := int64(1)
	if n, ok := plainInt(sh.get(slotOPTIND)); ok && n > 0 {
		ind = n
	}
	sh.options.Begin(int(ind))
	r := sh.options.Next(spec, list, quiet)
	sh.assign(slotOPTIND, itoa(sh.options.Index()))
	if r.HasArg {
		sh.assign(slotOPTARG, r.Arg)
	} else {
		sh.unsetVar(slotOPTARG)
	}
	if r.Problem != "" && !quiet && sh.get(slotOPTERR) != "0" {
		sh.errorRaw(sh.name + ": " + r.Problem + "\n")
	}
	if !isName(name) {
		sh.fail("`%s': not a valid identifier", name)
		return 1
	}
	if !sh.assign(sh.slot(name), r.Name) {
		return 2
	}
	if r.Over {
		return 1
	}
	return 0
}
