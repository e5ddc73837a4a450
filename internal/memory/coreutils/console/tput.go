package console

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func tputCommand() program.Description {
	return program.Description{
		Name: "tput", Usage: "[-T TERM] CAPNAME [PARAMETER]...", Summary: "print what makes a terminal act, or a number that it has",
		Help: `Known are: bel bold blink civis clear cnorm cols colors cr cub1 cud1 cuf1 cup cuu1 dim ed el home hpa init invis lines
longname rc reset rev rmcup rmso rmul sc setab setaf sgr0 sitm ritm smcup smso smul vpa.

Exit status: 1 for a capability that the terminal lacks, 2 for wrong usage, 3 for a terminal that is not
known, 4 for a capability that is not known.`,
		Run: runTput,
	}
}

func resetCommand() program.Description {
	return program.Description{
		Name: "reset", Usage: "", Summary: "bring the terminal back to how it starts", Run: runReset,
	}
}

var tputOptions = []getopt.Option{{Short: 'T', Arg: getopt.Required}, {Short: 'S'}, {Short: 'x'}, {Short: 'V', ID: getopt.Version}}

func runTput(p *shell.Proc) int {
	o := program.NewOptions(p, tputCommand, tputOptions)
	o.Wrong, o.Order = 2, getopt.RequireOrder
	term := p.Getenv("TERM")
	fromStdin := false
	for o.Next() {
		switch o.ID {
		case 'T':
			term = o.Value
		case 'S':
			fromStdin = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if term == "" {
		p.Warn("No value for $TERM and no -T specified")
		return 2
	}
	colors, known := terminalColors(term)
	if !known {
		p.Warn("unknown terminal \"%s\"", term)
		return 3
	}
	args := o.Args()
	if fromStdin {
		return tputLines(p, colors)
	}
	if len(args) == 0 {
		program.TryHelp(p, tputCommand())
		return 2
	}
	out := program.NewOutput(p)
	text, status := capability(p, colors, args[0], args[1:])
	program.WriteText(out, text)
	return out.Close(status)
}

// tputLines reads a capability from each line.
func tputLines(p *shell.Proc, colors int) int {
	out := program.NewOutput(p)
	status, ended := program.EachLine(p, []string{"-"}, '\n', func(line []byte) bool {
		size := 9*len(line) + 16 // The text, and a word for two bytes.
		if p.Reserve(size) != nil {
			p.Warn("memory exhausted")
			return false
		}
		defer p.Release(size)
		words := strings.Fields(string(line))
		if len(words) == 0 {
			return true
		}
		text, st := capability(p, colors, words[0], words[1:])
		program.WriteText(out, text)
		return st == 0
	})
	if ended != nil {
		return p.Status(ended)
	}
	return out.Close(status)
}

// terminalColors returns how many colors a terminal has; 0 for a terminal that can only print.
func terminalColors(term string) (colors int, known bool) {
	switch {
	case term == "dumb":
		return 0, true
	case strings.HasSuffix(term, "-256color"), strings.HasPrefix(term, "alacritty"), strings.HasPrefix(term, "xterm-kitty"):
		return 256, true
	}
	for _, family := range []string{"xterm", "screen", "tmux", "linux", "vt100", "vt220", "ansi", "rxvt"} {
		if term == family || strings.HasPrefix(term, family+"-") {
			return 8, true
		}
	}
	return 0, false
}

// capability returns the text that tput prints for a name; for a wrong name it prints an error and returns the exit status.
func capability(p *shell.Proc, colors int, name string, params []string) (string, int) {
	n := func(i int) int {
		if i >= len(params) {
			return 0
		}
		v, err := strconv.Atoi(params[i])
		if err != nil {
			return 0
		}
		return v
	}
	switch name {
	case "cols":
		return strconv.Itoa(program.TerminalWidth(p)) + "\n", 0
	case "lines":
		return strconv.Itoa(terminalRows(p)) + "\n", 0
	case "colors":
		if colors == 0 {
			return "-1\n", 0
		}
		return strconv.Itoa(colors) + "\n", 0
	case "bel":
		return "\a", 0
	case "cr":
		return "\r", 0
	}
	text, ok := plainCapability(name)
	switch {
	case ok:
	case name == "cup":
		text = "\x1b[" + strconv.Itoa(n(0)+1) + ";" + strconv.Itoa(n(1)+1) + "H"
	case name == "hpa":
		text = "\x1b[" + strconv.Itoa(n(0)+1) + "G"
	case name == "vpa":
		text = "\x1b[" + strconv.Itoa(n(0)+1) + "d"
	case name == "setaf", name == "setab":
		text = colorSequence(name == "setab", n(0), colors)
	default:
		p.Warn("unknown terminfo capability '%s'", name)
		return "", 4
	}
	if colors == 0 {
		return "", 1
	}
	return text, 0
}

// colorSequence sets the color of letters, or of their background.
func colorSequence(behind bool, n, colors int) string {
	first := "3"
	if behind {
		first = "4"
	}
	switch {
	case n < 8 || colors < 16:
		return "\x1b[" + first + strconv.Itoa(n) + "m"
	case n < 16:
		return "\x1b[" + map[string]string{"3": "9", "4": "10"}[first] + strconv.Itoa(n-8) + "m"
	}
	return "\x1b[" + first + "8;5;" + strconv.Itoa(n) + "m"
}

// plainCapability returns a capability without parameters.
func plainCapability(name string) (text string, ok bool) {
	switch name {
	case "bold":
		return "\x1b[1m", true
	case "dim":
		return "\x1b[2m", true
	case "sitm":
		return "\x1b[3m", true
	case "ritm":
		return "\x1b[23m", true
	case "smul":
		return "\x1b[4m", true
	case "rmul":
		return "\x1b[24m", true
	case "blink":
		return "\x1b[5m", true
	case "rev", "smso":
		return "\x1b[7m", true
	case "rmso":
		return "\x1b[27m", true
	case "invis":
		return "\x1b[8m", true
	case "sgr0":
		return "\x1b(B\x1b[m", true
	case "clear":
		return "\x1b[H\x1b[2J\x1b[3J", true
	case "el":
		return "\x1b[K", true
	case "ed":
		return "\x1b[J", true
	case "home":
		return "\x1b[H", true
	case "sc":
		return "\x1b7", true
	case "rc":
		return "\x1b8", true
	case "civis":
		return "\x1b[?25l", true
	case "cnorm":
		return "\x1b[?12l\x1b[?25h", true
	case "smcup":
		return "\x1b[?1049h\x1b[22;0;0t", true
	case "rmcup":
		return "\x1b[?1049l\x1b[23;0;0t", true
	case "cub1":
		return "\b", true
	case "cud1":
		return "\n", true
	case "cuf1":
		return "\x1b[C", true
	case "cuu1":
		return "\x1b[A", true
	case "init":
		return "\x1b[!p\x1b[?3;4l\x1b[4l\x1b>", true
	case "reset":
		return resetSequence, true
	}
	return "", false
}

// resetSequence resets a terminal.
const resetSequence = "\x1bc\x1b[!p\x1b[?3;4l\x1b[4l\x1b>"

// terminalRows returns how many lines the screen has: the terminal's, LINES, or 24.
func terminalRows(p *shell.Proc) int {
	if t, ok := p.Stdout.(program.Terminal); ok {
		if _, n, ok := t.Terminal(); ok && n > 0 {
			return n
		}
	}
	if n, err := strconv.Atoi(p.Getenv("LINES")); err == nil && n > 0 {
		return n
	}
	return 24
}

func runReset(p *shell.Proc) int {
	o := program.NewOptions(p, resetCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	out := program.NewOutput(p)
	program.WriteText(out, resetSequence)
	return out.Close(0)
}
