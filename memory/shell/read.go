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
	sh      *interp
	raw     bool
	array   string
	delim   byte
	max     int // characters; 0: no limit
	exact   bool
	prompt  string
	timeout time.Duration // <0: none
	fd      int
}

func runReadBuiltin(sh *interp, args []string) int {
	list, names, st := sh.parseOptions(args, "ersa:d:i:n:N:p:t:u:")
	if st >= 0 {
		return st
	}
	o := readOptions{sh: sh, delim: '\n', timeout: -1}
	for _, f := range list {
		if st := o.set(f); st >= 0 {
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
		return pollInput(sh, d)
	}
	if o.max < 0 {
		return o.store(names, "", nil, 0)
	}
	if o.raw && o.max == 0 && o.timeout < 0 {
		return o.readPlain(d, names)
	}
	return o.readChars(d, names)
}

// set takes an option; -1 when it is fine.
func (o *readOptions) set(f flag) int {
	sh := o.sh
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

// pollInput is read -t 0: whether a read would not wait.
func pollInput(sh *interp, d *fd.Description) int {
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
func (o *readOptions) readPlain(d *fd.Description, names []string) int {
	ctx, done := o.sh.interruptible()
	b, found, err := d.ReadLine(ctx, o.delim, 0, o.sh.readBuf[:0], work{o.sh})
	o.sh.readBuf = b
	done()
	if !o.sh.spend(len(b) >> 6) {
		return o.sh.status
	}
	st := 0
	if !found {
		st = 1
		if err != nil && errors.Is(err, syscall.EISDIR) {
			o.sh.fail("read error: %d: Is a directory", o.fd)
		}
		if s := o.sh.interrupted(err); s > 0 {
			return s
		}
	}
	if cap(b) > 1<<16 {
		o.sh.readBuf = nil
	}
	if len(b) > 1<<12 && !o.sh.hold(len(b)) {
		return o.sh.status
	}
	line := string(b)
	if o.delim != 0 && strings.IndexByte(line, 0) >= 0 {
		line = strings.ReplaceAll(line, "\x00", "")
	}
	return o.store(names, line, nil, st)
}

// interrupted handles a wait that a trapped signal ended: the trap has run, and the status is 128+n.
func (c *jobControl) interrupted(err error) int {
	if err == nil || c.sh.ctx.Err() != nil {
		return 0
	}
	if bits := c.sh.p.Pending.Load(); bits != 0 {
		return 128 + c.taken(bits)
	}
	return 0
}

// readChars reads byte by byte: escapes, a number of characters, a timeout.
func (o *readOptions) readChars(d *fd.Description, names []string) int {
	ctx, done := o.sh.interruptible()
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
		if !o.sh.tick() {
			return o.sh.status
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
		if len(line)&0xfff == 0 && !o.sh.hold(6<<12) {
			return o.sh.status
		}
		if o.max > 0 {
			c, e := o.sh.restOfRune(ctx, d, line)
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
		o.sh.fail("read error: %d: Is a directory", o.fd)
	}
	if failed != nil && ctx.Err() != nil && o.sh.ctx.Err() == nil {
		if o.timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			st = 128 + 14
		} else if s := o.sh.interrupted(failed); s > 0 {
			return s
		}
	}
	if o.sh.ctx.Err() != nil {
		o.sh.tickSlow()
		return o.sh.status
	}
	return o.store(names, string(line), escaped, st)
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
		line = append(line, one[0]) // bounded: by the four bytes of a character
	}
	return line, false
}

// store stores the input in the variables.
func (o *readOptions) store(names []string, line string, escaped []bool, st int) int {
	hasEscape := false
	for _, e := range escaped {
		hasEscape = hasEscape || e
	}
	if !hasEscape {
		escaped = nil
	}
	if o.array != "" {
		o.sh.separators()
		var list []string
		for words := ifs.NewWords(&o.sh.ifs, line, escaped); !words.IsEmpty(); { // bounded: each word shortens the line
			list = append(list, words.Next())
		}
		base := o.sh.slot(o.array)
		if !isName(o.array) {
			return o.sh.fail("`%s': not a valid identifier", o.array)
		}
		if o.sh.isAssoc(base) {
			return o.sh.fail("%s: cannot convert associative to indexed array", o.array)
		}
		if !o.sh.setList(base, list) {
			return 1
		}
		return st
	}
	if len(names) == 0 {
		if !o.sh.assign(slotREPLY, line) {
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
			if !o.sh.assignNamed(n, v) {
				return 1
			}
		}
		return st
	}
	o.sh.separators()
	words := ifs.NewWords(&o.sh.ifs, line, escaped)
	for i, n := range names {
		v := ""
		if i == len(names)-1 {
			v = words.Rest()
		} else if !words.IsEmpty() {
			v = words.Next()
		}
		if !o.sh.assignRead(n, v) {
			return 1
		}
	}
	return st
}

func (v *variables) assignRead(name, value string) bool {
	if isName(name) {
		return v.assign(v.sh.slot(name), value)
	}
	return v.assignNamed(name, value)
}

// runMapfileBuiltin reads lines into an array.
func runMapfileBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "d:n:O:s:tu:C:c:")
	if st >= 0 {
		return st
	}
	o := mapOptions{sh: sh, delim: '\n', every: 5000, origin: -1}
	for _, f := range list {
		if st := o.set(f); st >= 0 {
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
	return o.readLines(d, slot)
}

// mapOptions are those of mapfile.
type mapOptions struct {
	sh       *interp
	delim    byte
	max      int
	origin   int64
	skip     int
	trim     bool
	fd       int
	callback string
	every    int
}

func (o *mapOptions) set(f flag) int {
	number := func(what string) (int, bool) {
		n, err := strconv.Atoi(f.arg)
		if err != nil || n < 0 {
			o.sh.fail("%s: invalid %s", f.arg, what)
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
			o.sh.fail("%s: invalid callback quantum", f.arg)
			ok = false
		}
	}
	if !ok {
		return 1
	}
	return -1
}

func (o *mapOptions) readLines(d *fd.Description, slot int) int {
	if o.origin < 0 {
		if !o.sh.setList(slot, []string{}) {
			return 1
		}
		o.origin = 0
	}
	_, c := o.sh.writable(slot)
	if c == nil {
		return 1
	}
	lines := &lineReader{}
	for n := 0; o.max == 0 || n < o.max; {
		line, found := lines.next(o.sh, d, o.delim, 0)
		if o.sh.ctl != ctlNone {
			return o.sh.status
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
			text := o.callback + " " + strconv.FormatInt(o.origin+int64(n), 10) + " " + o.sh.quoteShell(line)
			if o.sh.evalText(text, o.sh.line, "mapfile"); o.sh.ctl != ctlNone {
				return o.sh.status
			}
		}
		if !o.sh.assignIndex(slot, o.origin+int64(n), line, false, "") || !o.sh.tick() {
			return 1
		}
		n++
		if !found {
			break
		}
	}
	return 0
}

// runGetoptsBuiltin takes the next option of the arguments.
func runGetoptsBuiltin(sh *interp, args []string) int {
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
