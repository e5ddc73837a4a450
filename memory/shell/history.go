package shell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/history"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
)

// runHistoryBuiltin shows and changes the list of commands.
func runHistoryBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "acd:npsrw")
	if st >= 0 {
		return st
	}
	if len(list) == 0 && len(rest) > 1 {
		return sh.fail("too many arguments")
	}
	for _, f := range list {
		switch f.c {
		case 'c':
			sh.history.Clear()
			return 0
		case 'd':
			n, ok := numberArg(f.arg)
			if n < 0 {
				n += int64(sh.history.Len()) + 1
			}
			if !ok || n < 1 || n > int64(sh.history.Len()) {
				return sh.fail("%s: history position out of range", f.arg)
			}
			sh.history.Delete(int(n))
			return 0
		case 's':
			sh.history.DropRunning()
			line := strings.Join(rest, " ")
			if !sh.keep(line) || !sh.spend(sh.history.Len()>>4) {
				return sh.status
			}
			sh.history.Append(line)
			return 0
		case 'p':
			sh.history.DropRunning()
			return sh.outString(strings.Join(rest, "\n") + "\n")
		default:
			return transferHistory(sh, f.c, rest)
		}
	}
	from := 0
	if len(rest) > 0 {
		n, ok := numberArg(rest[0])
		if !ok {
			return sh.fail("%s: numeric argument required", rest[0])
		}
		from = max(0, sh.history.Len()-int(n))
	}
	var b strings.Builder
	for i, s := range sh.history.Entries()[from:] {
		fmt.Fprintf(&b, "%5d  %s\n", from+i+1, s)
	}
	return sh.outString(b.String())
}

// remember puts a command that has been read into the list, if there is one.
func (sh *interp) remember(src string) {
	sh.history.Leave()
	if sh.evals > 0 || sh.sourceLevel > 0 || sh.inTrap > 0 || len(sh.frames) > 0 || sh.subshell > 0 {
		return
	}
	line := history.JoinLines(strings.Trim(src, "\n"))
	control := ":" + sh.get(slotHISTCONTROL) + ":"
	both := strings.Contains(control, ":ignoreboth:")
	switch {
	case strings.TrimSpace(line) == "":
		return
	case (both || strings.Contains(control, ":ignorespace:")) && line[0] == ' ':
		return
	case (both || strings.Contains(control, ":ignoredups:")) && sh.history.Len() > 0 && sh.history.Last() == line:
		return
	case sh.historyIgnores(line):
		return
	}
	limit := history.MaxLen
	if v, ok := plainInt(sh.namedValue("HISTSIZE")); ok && v >= 0 && v < history.MaxLen && sh.namedValue("HISTSIZE") != "" {
		limit = int(v)
	}
	sh.charge(len(line))
	sh.history.Add(line, strings.Contains(control, ":erasedups:"), limit)
}

// historyIgnores reports whether HISTIGNORE names the line.
func (sh *interp) historyIgnores(line string) bool {
	for pat := range strings.SplitSeq(sh.namedValue("HISTIGNORE"), ":") {
		if pat != "" && sh.matches(sh.patternOf(pat, sh.patternFlags()), line) {
			return true
		}
	}
	return false
}

// stringWeight is the memory of a string beside its bytes, twice because a list grows.
const stringWeight = 32

// transferHistory reads or writes the list.
func transferHistory(sh *interp, op byte, rest []string) int {
	file := sh.namedValue("HISTFILE")
	if len(rest) > 0 {
		file = rest[0]
		if sh.isRestricted() && strings.Contains(file, "/") {
			return sh.fail("%s: restricted", file)
		}
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
		if !sh.keep(text) || !sh.charge(stringWeight*(strings.Count(text, "\n")+1)) || !sh.spend(len(text)>>6) {
			return sh.status
		}
		sh.history.Append(strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		return 0
	}
	d, err := sh.openFile(file, writeFlags(op == 'a'))
	if err != nil {
		return sh.fail("%s: cannot create: %s", file, Strerror(err))
	}
	defer d.Unref()
	text := strings.Join(sh.history.Entries(), "\n")
	if text != "" {
		text += "\n"
	}
	if _, err := d.Write(sh.ctx, []byte(text)); err != nil {
		return sh.writeFailed(err)
	}
	return 0
}

// runFcBuiltin lists, edits and repeats commands of the list of history.
func runFcBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "e:lnrs0123456789")
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
	known := sh.history.Finished()
	if len(known) == 0 && on['l'] {
		return 0
	}
	if on['s'] {
		return repeatCommand(sh, known, rest)
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
		return editCommands(sh, known, first, last, editor)
	}
	step := 1
	if first > last {
		step = -1
	}
	var b strings.Builder
	for i := first; i != last+step; i += step { // bounded: the lines between first and last
		if !sh.hold(2*len(known[i-1]) + 64) {
			return sh.status
		}
		if !on['n'] {
			b.WriteString(strconv.Itoa(i)) // bounded: charged above
		}
		b.WriteString("\t " + known[i-1] + "\n") // bounded: charged above
	}
	return sh.outString(b.String())
}

// repeatCommand is fc -s [old=new ...] [command].
func repeatCommand(sh *interp, known, rest []string) int {
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
	return runHistoryCommand(sh, text)
}

// editCommands starts an editor on the commands and runs the result.
func editCommands(sh *interp, known []string, first, last int, editor string) int {
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
	for i := first; i != last+step; i += step { // bounded: the lines between first and last
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
	return runHistoryCommand(sh, strings.TrimSuffix(text, "\n"))
}

// runHistoryCommand shows the command, puts it in the place of fc in the list, and runs it.
func runHistoryCommand(sh *interp, text string) int {
	sh.errorRaw(text + "\n")
	if sh.opt&option.History != 0 {
		sh.history.DropRunning()
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
