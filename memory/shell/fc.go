package shell

import (
	"strconv"
	"strings"
)

// fc lists, edits and repeats commands of the list of history.
func (sh *interp) fc(args []string) int {
	list, rest, st := sh.flags2(args, "e:lnrs0123456789")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	editor := ""
	for _, f := range list {
		on[f.c] = true
		if f.c >= '0' && f.c <= '9' {
			rest = append([]string{"-" + string(f.c)}, rest...)
		}
		if f.c == 'e' {
			editor = f.arg
			on['s'] = on['s'] || f.arg == "-"
		}
	}
	known := sh.history // the running command is none of them
	if sh.historyOwn {
		known = known[:len(known)-1]
	}
	if len(known) == 0 && on['l'] {
		return 0
	}
	if on['s'] {
		return sh.fcAgain(known, rest)
	}
	first, last := max(1, len(known)-15), len(known)
	if !on['l'] {
		first = last
	}
	if len(rest) > 0 {
		first = historyIndex(known, rest[0])
		if !on['l'] {
			last = first
		}
	}
	if len(rest) > 1 {
		last = historyIndex(known, rest[1])
	}
	if first < 1 || first > len(known) || last < 1 || last > len(known) {
		return sh.fail("history specification out of range")
	}
	if on['r'] {
		first, last = last, first
	}
	if !on['l'] {
		return sh.fcEdit(known, first, last, editor)
	}
	step := 1
	if first > last {
		step = -1
	}
	var b strings.Builder
	for i := first; i != last+step; i += step {
		if !on['n'] {
			b.WriteString(strconv.Itoa(i))
		}
		b.WriteString("\t " + known[i-1] + "\n")
	}
	return sh.outString(b.String())
}

// fcAgain is fc -s [old=new ...] [command].
func (sh *interp) fcAgain(known, rest []string) int {
	at := len(known)
	var changes []string
	for len(rest) > 0 && strings.Contains(rest[0], "=") {
		changes, rest = append(changes, rest[0]), rest[1:]
	}
	if len(rest) > 0 {
		at = historyIndex(known, rest[0])
	}
	if at < 1 || at > len(known) {
		return sh.fail("no command found")
	}
	text := known[at-1]
	for _, c := range changes {
		old, repl, _ := strings.Cut(c, "=")
		text = strings.ReplaceAll(text, old, repl)
	}
	return sh.fcRun(text)
}

// fcEdit lets an editor change the commands, and runs what it leaves.
func (sh *interp) fcEdit(known []string, first, last int, editor string) int {
	for _, name := range []string{"FCEDIT", "EDITOR"} {
		if editor == "" {
			editor = sh.namedValue(name)
		}
	}
	if editor == "" {
		editor = "vi"
	}
	step := 1
	if first > last {
		step = -1
	}
	var b strings.Builder
	for i := first; i != last+step; i += step {
		b.WriteString(known[i-1] + "\n")
	}
	file := "/tmp/bash-fc." + strconv.FormatUint(uint64(sh.m.newRand().Uint32()), 36)
	d, err := sh.openFile(file, writeFlags(false))
	if err != nil {
		return sh.fail("%s: cannot open temp file: %s", file, Strerror(err))
	}
	_, err = d.Write(sh.ctx, []byte(b.String()))
	d.Unref()
	defer func() { _ = sh.m.fs.Unlink(sh.cred, file) }()
	if err != nil {
		return sh.writeFailed(err)
	}
	if st := sh.evalText(editor+" "+file, sh.line, "fc"); st != 0 || sh.ctl != ctlNone {
		return st
	}
	text, err := sh.readScript(file)
	if err != nil {
		return sh.fail("%s: %s", file, Strerror(err))
	}
	return sh.fcRun(strings.TrimSuffix(text, "\n"))
}

// fcRun shows the command, puts it in the place of fc in the list, and runs it.
func (sh *interp) fcRun(text string) int {
	sh.errorRaw(text + "\n")
	if sh.opt&optHistory != 0 {
		sh.forgetOwn()
		sh.remember(text)
	}
	before := sh.builtinName
	sh.builtinName = ""
	sh.evals++
	st := sh.evalText(text, sh.line, "fc")
	sh.evals--
	sh.builtinName = before
	return st
}

// historyIndex returns the number of a command: given, from the end, or of the last that begins so.
func historyIndex(known []string, s string) int {
	if n, ok := numberArg(s); ok {
		if n < 0 {
			n += int64(len(known)) + 1
		} else if n == 0 {
			n = int64(len(known))
		}
		return int(max(min(n, int64(len(known))), 1))
	}
	for i := len(known); i > 0; i-- {
		if strings.HasPrefix(known[i-1], s) {
			return i
		}
	}
	return 0
}
