package shell

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
)

// mapfile reads lines into an array.
func (sh *interp) mapfile(args []string) int {
	list, rest, st := sh.flags2(args, "d:n:O:s:tu:C:c:")
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
