package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// selectLoop compiles select.
func (c *compiler) selectLoop(n *syntax.For, line int) command {
	body, words, in := c.list(n.Body), c.words(n.Words), n.In
	slot := c.lib.symbols.slot(n.Name)
	head := forHead(n)
	text := func() string { return "select" + strings.TrimPrefix(head(), "for") }
	return func(sh *interp) int {
		sh.line = line
		sh.traced(line, text)
		if sh.opt&optXTrace != 0 {
			sh.xtrace(text())
		}
		base := len(sh.stack)
		if in {
			for _, w := range words {
				if sh.fields(w); sh.ctl != ctlNone {
					sh.pop(base)
					return sh.status
				}
			}
		} else {
			sh.pushAll(sh.params)
		}
		list := append([]string(nil), sh.stack[base:]...)
		sh.pop(base)
		sh.status = 0
		if len(list) == 0 {
			return 0
		}
		sh.loops++
		st := sh.selectFrom(list, slot, body)
		sh.loops--
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return sh.status
	}
}

// selectFrom asks until the body breaks or the input ends.
func (sh *interp) selectFrom(list []string, slot int, body command) int {
	st, show := 0, true
	lines := &lineReader{}
	for sh.tick() {
		if show {
			sh.errorRaw(sh.menu(list))
		}
		prompt, ok := sh.value(slotPS3)
		if !ok {
			prompt = "#? "
		}
		sh.errorRaw(prompt)
		d := sh.fds.Get(0)
		if d == nil {
			return 1
		}
		line, ok := lines.next(sh, d, '\n', 0)
		if !ok && line == "" {
			sh.assign(slotREPLY, "")
			sh.outString("\n")
			return 1
		}
		sh.assign(slotREPLY, line)
		reply := strings.TrimSpace(line)
		if show = reply == ""; show {
			continue
		}
		choice := ""
		if i, ok := plainInt(reply); ok && i >= 1 && i <= int64(len(list)) {
			choice = list[i-1]
		}
		if !sh.assign(slot, choice) {
			return 1
		}
		if st = body(sh); sh.ctl != ctlNone && sh.leave() {
			break
		}
		show = sh.get(slotREPLY) == ""
	}
	return st
}

// menu lists the choices as bash does: in as many columns as COLUMNS, or 80, characters hold.
func (sh *interp) menu(list []string) string {
	longest := 0
	for _, s := range list {
		longest = max(longest, sh.runeCount(s))
	}
	digits := len(itoa(len(list)))
	width := longest + digits + 2 + 2
	screen := 80
	if n, ok := plainInt(sh.namedValue("COLUMNS")); ok && n > 0 && n < 1<<16 && sh.namedValue("COLUMNS") != "" {
		screen = int(n)
	}
	cols := max(1, screen/width)
	rows := (len(list) + cols - 1) / cols
	cols = (len(list) + rows - 1) / rows
	if rows == 1 {
		rows, cols = len(list), 1
	}
	var b strings.Builder
	for r := range rows {
		for c := range cols {
			i := c*rows + r
			if i >= len(list) {
				break
			}
			n, wide := itoa(i+1), digits
			if c == 0 { // The first column is only as wide as its own numbers.
				wide = len(itoa(rows))
			}
			b.WriteString(strings.Repeat(" ", max(0, wide-len(n))) + n + ") " + list[i])
			if i+rows < len(list) {
				b.WriteString(tabs(c*width+wide+2+sh.runeCount(list[i]), (c+1)*width))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// tabs leads from one column to another by tabs where there are stops between.
func tabs(from, to int) string {
	var b strings.Builder
	for from < to {
		if to/8 > from/8 {
			b.WriteByte('\t')
			from += 8 - from%8
		} else {
			b.WriteByte(' ')
			from++
		}
	}
	return b.String()
}
