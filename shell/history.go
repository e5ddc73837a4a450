package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// historyBuiltin shows and changes the list of commands.
func (sh *interp) historyBuiltin(args []string) int {
	list, rest, st := sh.flags2(args, "acd:npsrw")
	if st >= 0 {
		return st
	}
	for _, f := range list {
		switch f.c {
		case 'c':
			sh.history = nil
			return 0
		case 'd':
			n, ok := numberArg(f.arg)
			if n < 0 {
				n += int64(len(sh.history)) + 1
			}
			if !ok || n < 1 || n > int64(len(sh.history)) {
				return sh.fail("%s: history position out of range", f.arg)
			}
			sh.history = append(append([]string(nil), sh.history[:n-1]...), sh.history[n:]...)
			return 0
		case 's':
			sh.history = append(slices.Clip(sh.history), strings.Join(rest, " "))
			return 0
		case 'p':
			return sh.outString(strings.Join(rest, "\n") + "\n")
		default:
			return sh.historyFile(f.c, rest)
		}
	}
	from := 0
	if len(rest) > 0 {
		n, ok := numberArg(rest[0])
		if !ok {
			return sh.fail("%s: numeric argument required", rest[0])
		}
		from = max(0, len(sh.history)-int(n))
	}
	var b strings.Builder
	for i, s := range sh.history[from:] {
		fmt.Fprintf(&b, "%5d  %s\n", from+i+1, s)
	}
	return sh.outString(b.String())
}

// historyFile reads or writes the list.
func (sh *interp) historyFile(op byte, rest []string) int {
	file := sh.namedValue("HISTFILE")
	if len(rest) > 0 {
		file = rest[0]
	}
	if file == "" {
		return 0
	}
	switch op {
	case 'r', 'n':
		text, err := sh.readScript(file)
		if err != nil {
			return sh.fail("%s: cannot read: %s", file, Strerror(err))
		}
		sh.history = append(slices.Clip(sh.history), strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		return 0
	}
	d, err := sh.openFile(file, writeFlags(op == 'a'))
	if err != nil {
		return sh.fail("%s: cannot create: %s", file, Strerror(err))
	}
	defer d.unref()
	text := strings.Join(sh.history, "\n")
	if text != "" {
		text += "\n"
	}
	if _, err := d.write(sh.ctx, []byte(text)); err != nil {
		return sh.writeFailed(err)
	}
	return 0
}

// fc lists and repeats commands of the list; there is no editor.
func (sh *interp) fc(args []string) int {
	list, rest, st := sh.flags2(args, "e:lnrs0123456789")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	for _, f := range list {
		on[f.c] = true
		if f.c >= '0' && f.c <= '9' {
			rest = append([]string{"-" + string(f.c)}, rest...)
		}
		if f.c == 'e' && f.arg == "-" {
			on['s'] = true
		}
	}
	if len(sh.history) == 0 {
		if on['l'] {
			return 0
		}
		return sh.fail("history specification out of range")
	}
	if on['s'] {
		text := sh.history[len(sh.history)-1]
		for _, r := range rest {
			if old, repl, ok := strings.Cut(r, "="); ok {
				text = strings.Replace(text, old, repl, 1)
			}
		}
		sh.errorRaw(text + "\n")
		return sh.evalText(text, sh.line, "fc")
	}
	first, last := max(1, len(sh.history)-15), len(sh.history)
	if len(rest) > 0 {
		first = sh.historyIndex(rest[0])
	}
	if len(rest) > 1 {
		last = sh.historyIndex(rest[1])
	} else if len(rest) == 1 && !on['l'] {
		last = first
	}
	if first < 1 || last > len(sh.history) || last < 1 {
		return sh.fail("history specification out of range")
	}
	if !on['l'] {
		return sh.fail("no editor here; use -l or -s")
	}
	var b strings.Builder
	step := 1
	if first > last {
		step = -1
	}
	if on['r'] {
		first, last, step = last, first, -step
	}
	for i := first; i != last+step; i += step {
		if !on['n'] {
			b.WriteString(strconv.Itoa(i))
		}
		b.WriteString("\t " + sh.history[i-1] + "\n")
	}
	return sh.outString(b.String())
}

func (sh *interp) historyIndex(s string) int {
	if n, ok := numberArg(s); ok {
		if n < 0 {
			n += int64(len(sh.history)) + 1
		}
		return int(n)
	}
	for i := len(sh.history); i > 0; i-- {
		if strings.HasPrefix(sh.history[i-1], s) {
			return i
		}
	}
	return 0
}
