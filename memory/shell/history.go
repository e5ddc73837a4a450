package shell

import (
	"fmt"
	"slices"
	"strings"
)

// historyBuiltin shows and changes the list of commands.
func (sh *interp) historyBuiltin(args []string) int {
	list, rest, st := sh.flags2(args, "acd:npsrw")
	if st >= 0 {
		return st
	}
	if len(list) == 0 && len(rest) > 1 {
		return sh.fail("too many arguments")
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
			sh.forgetOwn()
			line := strings.Join(rest, " ")
			if !sh.keep(line) || !sh.spend(len(sh.history)>>4) {
				return sh.status
			}
			sh.history = append(slices.Clip(sh.history), line)
			return 0
		case 'p':
			sh.forgetOwn()
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

// remember puts a command that has been read into the list, when that is kept.
func (sh *interp) remember(src string) {
	sh.historyOwn = false
	if sh.evals > 0 || sh.sourceLevel > 0 || sh.inTrap > 0 || len(sh.frames) > 0 || sh.subshell > 0 {
		return
	}
	line := joinLines(strings.Trim(src, "\n"))
	control := ":" + sh.get(slotHISTCONTROL) + ":"
	both := strings.Contains(control, ":ignoreboth:")
	n := len(sh.history)
	switch {
	case strings.TrimSpace(line) == "":
		return
	case (both || strings.Contains(control, ":ignorespace:")) && line[0] == ' ':
		return
	case (both || strings.Contains(control, ":ignoredups:")) && n > 0 && sh.history[n-1] == line:
		return
	case sh.historyIgnores(line):
		return
	}
	list := slices.Clip(sh.history)
	if strings.Contains(control, ":erasedups:") {
		list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == line })
	}
	limit := maxHistory
	if v, ok := plainInt(sh.namedValue("HISTSIZE")); ok && v >= 0 && v < maxHistory && sh.namedValue("HISTSIZE") != "" {
		limit = int(v)
	}
	if list = append(list, line); len(list) > limit {
		list = list[len(list)-limit:]
	}
	sh.charge(len(line))
	sh.history, sh.historyOwn = list, true
}

// maxHistory bounds the list.
const maxHistory = 10_000

// historyIgnores tells whether HISTIGNORE names the line.
func (sh *interp) historyIgnores(line string) bool {
	for pat := range strings.SplitSeq(sh.namedValue("HISTIGNORE"), ":") {
		if pat != "" && sh.patternOf(pat, sh.patternFlags()).Match(work{sh}, line) {
			return true
		}
	}
	return false
}

// joinLines makes a command of several lines one, unless a here-document or quotes need the lines.
func joinLines(s string) string {
	if strings.IndexByte(s, '\n') < 0 || strings.Contains(s, "<<") || strings.ContainsAny(s, "'\"") {
		return s
	}
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(line)
		before := strings.TrimRight(b.String(), " ")
		switch word := before[strings.LastIndexAny(before, " ;")+1:]; {
		case line == "":
			continue
		case before == "":
		case word == "do", word == "then", word == "else", word == "{", word == "in", word == "elif",
			strings.HasSuffix(before, ";"), strings.HasSuffix(before, "&"), strings.HasSuffix(before, "|"), strings.HasSuffix(before, "("):
			b.WriteByte(' ')
		default:
			b.WriteString("; ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// forgetOwn takes the running command out of the list again.
func (sh *interp) forgetOwn() {
	if n := len(sh.history); sh.historyOwn && n > 0 {
		sh.history = sh.history[: n-1 : n-1]
	}
	sh.historyOwn = false
}

// historyFile reads or writes the list.
func (sh *interp) historyFile(op byte, rest []string) int {
	file := sh.namedValue("HISTFILE")
	if len(rest) > 0 {
		file = rest[0]
		if sh.restricted() && strings.Contains(file, "/") {
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
		if !sh.keep(text) {
			return sh.status
		}
		sh.history = append(slices.Clip(sh.history), strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		return 0
	}
	d, err := sh.openFile(file, writeFlags(op == 'a'))
	if err != nil {
		return sh.fail("%s: cannot create: %s", file, Strerror(err))
	}
	defer d.Unref()
	text := strings.Join(sh.history, "\n")
	if text != "" {
		text += "\n"
	}
	if _, err := d.Write(sh.ctx, []byte(text)); err != nil {
		return sh.writeFailed(err)
	}
	return 0
}
