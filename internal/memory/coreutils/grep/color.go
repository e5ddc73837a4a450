package grep

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// grepColors are the terminal's colours; empty ones change nothing.
type grepColors struct {
	selected, context string // matches in selected lines and in others
	line, other       string // those lines
	file, number      string
	offset, separator string
	swap, noErase     bool
}

// newGrepColors returns those that GREP_COLORS asks for.
func newGrepColors(p *shell.Proc) *grepColors {
	c := &grepColors{selected: "01;31", context: "01;31", file: "35", number: "32", offset: "32", separator: "36"}
	for part := range strings.SplitSeq(p.Getenv("GREP_COLORS"), ":") {
		name, value, given := strings.Cut(part, "=")
		if strings.Trim(value, "0123456789;") != "" {
			break
		}
		switch {
		case name == "rv" && !given:
			c.swap = true
		case name == "ne" && !given:
			c.noErase = true
		case name == "mt":
			c.selected, c.context = value, value
		default:
			c.set(name, value)
		}
	}
	return c
}

func (c *grepColors) set(name, value string) {
	field, ok := map[string]*string{
		"ms": &c.selected, "mc": &c.context, "sl": &c.line, "cx": &c.other,
		"fn": &c.file, "ln": &c.number, "bn": &c.offset, "se": &c.separator,
	}[name]
	if ok {
		*field = value
	}
}

// start returns the sequence that turns a colour on, end the one that turns it off.
func (c *grepColors) start(color string) string {
	switch {
	case color == "":
		return ""
	case c.noErase:
		return "\x1b[" + color + "m"
	}
	return "\x1b[" + color + "m\x1b[K"
}

func (c *grepColors) end(color string) string {
	switch {
	case color == "":
		return ""
	case c.noErase:
		return "\x1b[m"
	}
	return "\x1b[m\x1b[K"
}
