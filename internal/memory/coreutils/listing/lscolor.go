package listing

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// lsColors are the colours of ls: those of LS_COLORS over the usual ones.
type lsColors struct {
	kinds    map[string]string
	suffixes [][2]string // the last one that fits counts
}

// colorTerminals are the values of TERM with which the usual colours are understood.
var colorTerminals = []string{
	"Eterm", "alacritty*", "ansi", "*color*", "con[0-9]*x[0-9]*", "cons25", "console", "cygwin", "*direct*", "dtterm",
	"gnome", "hurd", "jfbterm", "konsole", "kterm", "linux", "linux-c", "mlterm", "putty", "rxvt*", "screen*", "st",
	"terminator", "tmux*", "vt100", "xterm*",
}

// canHaveColors reports whether colours may be written: they are set, or the terminal is one that has them.
func canHaveColors(p *shell.Proc) bool {
	return p.Getenv("LS_COLORS") != "" || p.Getenv("COLORTERM") != "" || fnmatch.MatchesAny(colorTerminals, p.Getenv("TERM"))
}

// colorMemory is about how many bytes an entry of LS_COLORS takes beside its text.
const colorMemory = 128

func newLsColors(p *shell.Proc) *lsColors {
	c := &lsColors{kinds: map[string]string{
		"lc": "\033[", "rc": "m", "rs": "0", "di": "01;34", "ln": "01;36", "pi": "33", "so": "01;35", "bd": "01;33",
		"cd": "01;33", "ex": "01;32", "do": "01;35", "su": "37;41", "sg": "30;43", "st": "37;44", "ow": "34;42",
		"tw": "30;42", "cl": "\033[K",
	}}
	text := p.Getenv("LS_COLORS")
	if p.Reserve(colorMemory*strings.Count(text, ":")+2*len(text)) != nil {
		return c
	}
	for item := range strings.SplitSeq(text, ":") {
		key, value, ok := strings.Cut(item, "=")
		switch {
		case !ok:
		case strings.HasPrefix(key, "*"):
			c.suffixes = append(c.suffixes, [2]string{key[1:], colorText(value)})
		case len(key) == 2:
			c.kinds[key] = colorText(value)
		}
	}
	return c
}

// colorText reads the escapes of LS_COLORS.
func colorText(s string) string {
	if !strings.ContainsAny(s, `\^`) {
		return s
	}
	return strings.NewReplacer(`\e`, "\033", `\_`, " ", `\a`, "\a", `\n`, "\n", `\\`, `\`, `\^`, "^", "^[", "\033", `\033`, "\033").Replace(s)
}

func (c *lsColors) of(kind string) string { return c.kinds[kind] }

// hasColor reports whether a kind has a colour of its own.
func (c *lsColors) hasColor(kind string) bool {
	v := c.kinds[kind]
	return v != "" && v != "0" && v != "00"
}

// asksLinks reports whether a colour depends on the targets of links. Nil asks nothing.
func (c *lsColors) asksLinks(format lsFormatKind) bool {
	return c != nil && (c.hasColor("or") || c.kinds["ln"] == "target" || c.hasColor("mi") && format == formatLong)
}

// end returns the sequence that restores plain text.
func (c *lsColors) end() string {
	if s, ok := c.kinds["ec"]; ok && s != "" {
		return s
	}
	return c.kinds["lc"] + c.kinds["rs"] + c.kinds["rc"]
}

// hasPlainReset reports that nothing has to be written at the end.
func (c *lsColors) hasPlainReset() bool { return c.kinds["lc"] == "\033[" && c.kinds["rc"] == "m" }

func (c *lsColors) ofFile(f *lsFile) string {
	if f.mode&fs.ModeSymlink != 0 {
		switch {
		case c.kinds["ln"] == "target" && f.leadsOK:
			return c.ofMode(f.name, f.leads, 1)
		case !f.leadsOK && (c.kinds["ln"] == "target" || c.hasColor("or")):
			return c.kinds["or"]
		}
	}
	return c.ofMode(f.name, f.mode, f.info.Nlink)
}

// ofTarget is the colour of a link's target.
func (c *lsColors) ofTarget(f *lsFile) string {
	if !f.leadsOK {
		if c.hasColor("mi") {
			return c.kinds["mi"]
		}
		if c.hasColor("or") {
			return c.kinds["or"]
		}
		return ""
	}
	return c.ofMode(f.target, f.leads, 1)
}

func (c *lsColors) ofMode(name string, m fs.FileMode, links int) string {
	kind := c.kind(m, links)
	if kind == "fi" {
		for _, s := range slices.Backward(c.suffixes) {
			if len(name) >= len(s[0]) && strings.EqualFold(name[len(name)-len(s[0]):], s[0]) {
				return s[1]
			}
		}
	}
	if !c.hasColor(kind) {
		return c.normal()
	}
	return c.kinds[kind]
}

func (c *lsColors) normal() string {
	if c.hasColor("no") {
		return c.kinds["no"]
	}
	return ""
}

// kind is the two letters of LS_COLORS for a file.
func (c *lsColors) kind(m fs.FileMode, links int) string {
	switch {
	case m.IsDir():
		return c.dirKind(m)
	case m&fs.ModeSymlink != 0:
		return "ln"
	case m&fs.ModeNamedPipe != 0:
		return "pi"
	case m&fs.ModeSocket != 0:
		return "so"
	case m&fs.ModeCharDevice != 0:
		return "cd"
	case m&fs.ModeDevice != 0:
		return "bd"
	case m&fs.ModeSetuid != 0 && c.hasColor("su"):
		return "su"
	case m&fs.ModeSetgid != 0 && c.hasColor("sg"):
		return "sg"
	case m&0o111 != 0 && c.hasColor("ex"):
		return "ex"
	case links > 1 && c.hasColor("mh"):
		return "mh"
	}
	return "fi"
}

func (c *lsColors) dirKind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSticky != 0 && m&0o002 != 0 && c.hasColor("tw"):
		return "tw"
	case m&0o002 != 0 && c.hasColor("ow"):
		return "ow"
	case m&fs.ModeSticky != 0 && c.hasColor("st"):
		return "st"
	}
	return "di"
}
