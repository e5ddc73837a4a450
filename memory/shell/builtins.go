package shell

import (
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
	"github.com/seed434b0696/agent-sandbox/internal/memory/printf"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// builtin is a command of the shell itself.
type builtin struct {
	name    string
	special bool   // of POSIX
	usage   string // behind "usage: "
	about   string // one line, for help
	run     func(sh *interp, args []string) int
}

// builtins returns the table, by name.
func builtins() map[string]*builtin {
	m := make(map[string]*builtin, len(builtinTable()))
	for _, b := range builtinTable() {
		m[b.name] = &b
	}
	return m
}

// builtinTable lists the builtins. It is a function because they refer to the table themselves.
func builtinTable() []builtin {
	return []builtin{
		{":", true, ": ", "Do nothing and succeed.", func(*interp, []string) int { return 0 }},
		{".", true, ". filename [arguments]", "Run the commands of a file here, without a new shell.", runSourceBuiltin},
		{"[", false, "[ arg... ]", "Test a condition and report it as the status.", runTestBuiltin},
		{"alias", false, "alias [-p] [name[=value] ... ]", "Create aliases, or list them.", runAliasBuiltin},
		{"bg", false, "bg [job_spec ...]", "Resume stopped jobs in the background.", runBgBuiltin},
		{"bind", false, "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] [keyseq:readline-function or readline-command]", "Accepted for scripts; no line is edited here.", runBindBuiltin},
		{"break", true, "break [n]", "Leave one or more loops.", runBreakBuiltin},
		{"builtin", false, "builtin [shell-builtin [arg ...]]", "Run a builtin even if a function has its name.", runBuiltinBuiltin},
		{"caller", false, "caller [expr]", "Show where the running function was called.", runCallerBuiltin},
		{"cd", false, "cd [-L|[-P [-e]] [-@]] [dir]", "Set the working directory.", runCdBuiltin},
		{"command", false, "command [-pVv] command [arg ...]", "Run a command and ignore functions, or show what a name means.", runCommandBuiltin},
		{"compgen", false, "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]", "List words that could complete another.", runCompgenBuiltin},
		{"complete", false, "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]", "Record how the arguments of a command are completed.", runCompleteBuiltin},
		{"compopt", false, "compopt [-o|+o option] [-DEI] [name ...]", "Change how the running completion works.", runCompoptBuiltin},
		{"continue", true, "continue [n]", "Start the next iteration of a loop.", runContinueBuiltin},
		{"declare", false, "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]", "Create variables, set their attributes, or print them.", runDeclareBuiltin},
		{"dirs", false, "dirs [-clpv] [+N] [-N]", "Print the stack of directories.", runDirsBuiltin},
		{"disown", false, "disown [-h] [-ar] [jobspec ... | pid ...]", "Remove jobs from the table without ending them.", runDisownBuiltin},
		{"echo", false, "echo [-neE] [arg ...]", "Print words with blanks between them.", runEchoBuiltin},
		{"enable", false, "enable [-a] [-dnps] [-f filename] [name ...]", "Turn builtins on and off.", runEnableBuiltin},
		{"eval", true, "eval [arg ...]", "Join the words and run them as a script.", runEvalBuiltin},
		{"exec", true, "exec [-cl] [-a name] [command [argument ...]] [redirection ...]", "Run a program in the shell's place, or make redirections last.", runExecBuiltin},
		{"exit", true, "exit [n]", "End the shell with a status.", runExitBuiltin},
		{"export", true, "export [-fn] [name[=value] ...] or export -p", "Pass variables to programs.", runExportBuiltin},
		{"false", false, "false", "Do nothing and fail.", func(*interp, []string) int { return 1 }},
		{"fc", false, "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]", "List past commands, or run one again.", runFcBuiltin},
		{"fg", false, "fg [job_spec]", "Continue a job in the foreground.", runFgBuiltin},
		{"getopts", false, "getopts optstring name [arg ...]", "Take the next option from the arguments of a script.", runGetoptsBuiltin},
		{"hash", false, "hash [-lr] [-p pathname] [-dt] [name ...]", "Show or change the table of found programs.", runHashBuiltin},
		{"help", false, "help [-dms] [pattern ...]", "Describe builtins and programs.", runHelpBuiltin},
		{"history", false, "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]", "Show or change the list of past commands.", runHistoryBuiltin},
		{"jobs", false, "jobs [-lnprs] [jobspec ...] or jobs -x command [args]", "List what runs in the background.", runJobsBuiltin},
		{"kill", false, "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]", "Signal processes or jobs.", runKillBuiltin},
		{"let", false, "let arg [arg ...]", "Compute each argument; fail when the last is 0.", runLetBuiltin},
		{"local", false, "local [option] name[=value] ...", "Create variables of the running function.", runLocalBuiltin},
		{"logout", false, "logout [n]", "End a shell that was started for a login.", runLogoutBuiltin},
		{"mapfile", false, "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]", "Read lines into an array.", runMapfileBuiltin},
		{"popd", false, "popd [-n] [+N | -N]", "Drop a directory of the stack and enter the next.", runPopdBuiltin},
		{"printf", false, "printf [-v var] format [arguments]", "Print arguments in a format.", runPrintfBuiltin},
		{"pushd", false, "pushd [-n] [+N | -N | dir]", "Enter a directory and put the old one on the stack.", runPushdBuiltin},
		{"pwd", false, "pwd [-LP]", "Print the working directory.", runPwdBuiltin},
		{"read", false, "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]", "Read a line into variables, one word each.", runReadBuiltin},
		{"readarray", false, "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]", "Read lines into an array.", runMapfileBuiltin},
		{"readonly", true, "readonly [-aAf] [name[=value] ...] or readonly -p", "Make variables constant.", runReadonlyBuiltin},
		{"return", true, "return [n]", "Leave a function or a sourced file with a status.", runReturnBuiltin},
		{"set", true, "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]", "Turn options on or off, or replace $1, $2 and so on.", runSetBuiltin},
		{"shift", true, "shift [n]", "Drop the first parameters; the others move up.", runShiftBuiltin},
		{"shopt", false, "shopt [-pqsu] [-o] [optname ...]", "Turn further options on or off, or list them.", runShoptBuiltin},
		{"source", false, "source filename [arguments]", "Run the commands of a file here, without a new shell.", runSourceBuiltin},
		{"suspend", false, "suspend [-f]", "Stop the shell until it receives SIGCONT.", runSuspendBuiltin},
		{"test", false, "test [expr]", "Test a condition and report it as the status.", runTestBuiltin},
		{"times", true, "times", "Print the time since the shell began.", runTimesBuiltin},
		{"trap", true, "trap [-lp] [[arg] signal_spec ...]", "Run commands when a signal comes or the shell ends.", runTrapBuiltin},
		{"true", false, "true", "Do nothing and succeed.", func(*interp, []string) int { return 0 }},
		{"type", false, "type [-afptP] name [name ...]", "Show what a name means as a command.", runTypeBuiltin},
		{"typeset", false, "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]", "Create variables, set their attributes, or print them.", runDeclareBuiltin},
		{"ulimit", false, "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]", "Show or set the limits of processes.", runUlimitBuiltin},
		{"umask", false, "umask [-p] [-S] [mode]", "Show or set the permissions that new files lack.", runUmaskBuiltin},
		{"unalias", false, "unalias [-a] name [name ...]", "Remove aliases.", runUnaliasBuiltin},
		{"unset", true, "unset [-f] [-v] [-n] [name ...]", "Remove variables or functions.", runUnsetBuiltin},
		{"wait", false, "wait [-fn] [-p var] [id ...]", "Wait until jobs have ended and report their status.", runWaitBuiltin},
	}
}

// flag is an option of a builtin with its argument.
type flag struct {
	c    byte
	arg  string
	plus bool // written with +
}

// parseOptions reads the options of a builtin: letters in spec, those followed by ":" take an argument. It
// returns them in order and the operands. Status is -1, or that of the error whose message it has written.
func (sh *interp) parseOptions(args []string, spec string) (list []flag, rest []string, status int) {
	i := 1
	for ; i < len(args); i++ {
		s := args[i]
		if s == "--" {
			i++
			break
		}
		if len(s) < 2 || s[0] != '-' && (s[0] != '+' || spec[0] != '+') {
			break
		}
		if s == "--help" {
			return nil, nil, sh.helpText(args[0])
		}
		for j := 1; j < len(s); j++ {
			k := strings.IndexByte(spec, s[j])
			if k < 0 || s[j] == ':' || s[j] == '+' {
				return nil, nil, sh.badOption(s[:1] + s[j:j+1])
			}
			f := flag{c: s[j], plus: s[0] == '+'}
			if k+1 < len(spec) && spec[k+1] == ':' {
				if j+1 < len(s) {
					f.arg = s[j+1:]
				} else if i++; i < len(args) {
					f.arg = args[i]
				} else {
					return nil, nil, sh.usage(sh.usageText(), "-%c: option requires an argument", s[j])
				}
				list = append(list, f) // bounded: by the command's arguments
				break
			}
			list = append(list, f) // bounded: by the letters of the command's options, one after the other
		}
	}
	return list, args[i:], -1
}

// badOption writes the message for an unknown option. It returns 2.
func (ex *execution) badOption(s string) int {
	return ex.usage(ex.usageText(), "%s: invalid option", s)
}

func (ex *execution) usageText() string {
	if b := ex.m.lib.builtins[ex.builtinName]; b != nil {
		return b.usage
	}
	return ex.builtinName
}

// numberArg is the operand of exit, return, shift and their like.
func numberArg(s string) (int64, bool) {
	s = strings.TrimSpace(s)
	neg := false
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		neg, s = s[0] == '-', s[1:]
	}
	if s == "" || len(s) > 18 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// namedValue returns the value of the variable, or element, of a name made at run time.
func (v *variables) namedValue(name string) string {
	base, sub, elem := splitSubscript(name)
	slot := v.sh.m.lib.symbols.known(base)
	if slot < 0 {
		return ""
	}
	if elem {
		s, _ := v.element(place{slot: slot, sub: sub, elem: true})
		return s
	}
	return v.get(slot)
}

// assignNamed sets the variable, or element, of a name made at run time.
func (v *variables) assignNamed(name, s string) bool {
	base, sub, elem := splitSubscript(name)
	if !isName(base) || elem && sub == "" {
		v.sh.fail("`%s': not a valid identifier", name)
		return false
	}
	whole := elem && (sub == "@" || sub == "*")
	return v.assignTo(place{slot: v.sh.slot(base), sub: sub, elem: elem, whole: whole}, s, false)
}

// topic describes a builtin or program for help.
type topic struct {
	name, usage, about, body string
}

// runHelpBuiltin describes builtins and the programs of the machine.
func runHelpBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "dms")
	if st >= 0 {
		return st
	}
	if len(rest) == 0 {
		return sh.outString(sh.m.helpList())
	}
	style := byte(0)
	for _, f := range list {
		style = f.c
	}
	topics := sh.m.topics()
	var b strings.Builder
	found := false
	for _, name := range rest {
		wild := strings.ContainsAny(name, "*?[")
		if wild {
			b.WriteString("Shell commands matching keyword `" + name + "'\n\n")
		}
		for _, t := range topics {
			if t.name == name || wild && sh.patternOf(name, 0).Match(work{sh}, t.name) {
				b.WriteString(t.text(style))
				found = true
			}
		}
	}
	if !found {
		return sh.fail("no help topics match `%s'.  Try `help help' or `man -k %s' or `info %s'.", rest[0], rest[0], rest[0])
	}
	return sh.outString(b.String())
}

// helpList returns the output of help without a name.
func (m *machine) helpList() string {
	var b strings.Builder
	b.WriteString("Commands of the shell itself; `help NAME' describes one of them.\n\n")
	for _, t := range m.builtinTopics() {
		b.WriteString(" " + t.usage + "\n")
	}
	b.WriteString("\nThese programs are there as well; `NAME --help' describes them.\n\n")
	for _, c := range m.list() {
		usage, _, _ := strings.Cut(c.Usage, "\n")
		b.WriteString(" " + strings.TrimRight(c.Name+" "+usage, " ") + "\n")
		if c.Summary != "" {
			b.WriteString("\t" + c.Summary + "\n")
		}
		if len(c.Aliases) > 0 {
			b.WriteString("\talso called " + strings.Join(c.Aliases, ", ") + "\n")
		}
	}
	return b.String()
}

// builtinTopics describes the builtins, or the commands that replace them.
func (m *machine) builtinTopics() []topic {
	var list []topic
	for _, b := range builtinTable() {
		t := topic{name: b.name, usage: strings.TrimSpace(b.usage), about: b.about}
		if c := m.replacement(b.name); c != nil && c.hasHelp() {
			t = c.topic(b.name)
		}
		list = append(list, t)
	}
	return list
}

// topics returns the topics of builtins, then of the programs that are not builtins.
func (m *machine) topics() []topic {
	list := m.builtinTopics()
	var more []topic
	for name, c := range m.programs.Load().byName {
		if m.lib.builtins[name] == nil {
			more = append(more, c.topic(name))
		}
	}
	slices.SortFunc(more, func(a, b topic) int { return strings.Compare(a.name, b.name) })
	return append(list, more...)
}

func (c *Command) topic(name string) topic {
	usage := strings.ReplaceAll(c.Usage, "\n", "\n"+name+": "+name+" ")
	return topic{name: name, usage: strings.TrimRight(name+" "+usage, " "), about: c.Summary, body: c.Help}
}

// text is the topic as -d, -s and -m want it; 0 is without any of them.
func (t topic) text(style byte) string {
	switch style {
	case 'd':
		return t.name + " - " + t.about + "\n"
	case 's':
		return t.name + ": " + t.usage + "\n"
	}
	var b strings.Builder
	b.WriteString(t.name + ": " + t.usage + "\n")
	if t.about != "" {
		b.WriteString("    " + t.about + "\n")
	}
	if t.body != "" {
		for line := range strings.Lines("\n" + strings.TrimRight(t.body, "\n") + "\n") {
			if line != "\n" {
				line = "    " + line
			}
			b.WriteString(line) // bounded: by the text of a builtin's help
		}
	}
	return b.String()
}

// runEchoBuiltin writes its arguments.
func runEchoBuiltin(sh *interp, args []string) int {
	args = args[1:]
	escapes := sh.shopt&shopt.XpgEcho != 0
	newline := true
	if !escapes || sh.opt&option.Posix == 0 {
		for len(args) > 0 && isEchoFlag(args[0]) {
			for i := 1; i < len(args[0]); i++ {
				switch args[0][i] {
				case 'n':
					newline = false
				case 'e':
					escapes = true
				case 'E':
					escapes = false
				}
			}
			args = args[1:]
		}
	}
	b := sh.scratch[:0]
	for i, a := range args {
		if i > 0 {
			b = append(b, ' ')
		}
		if !escapes || strings.IndexByte(a, '\\') < 0 {
			b = append(b, a...)
			continue
		}
		var stop bool
		if b, stop = printf.AppendEcho(b, sh.locale(), a); stop {
			newline = false
			break
		}
	}
	if newline {
		b = append(b, '\n')
	}
	st := sh.out(b)
	if cap(b) <= 1<<16 {
		sh.scratch = b
	}
	return st
}

func isEchoFlag(s string) bool {
	if len(s) < 2 || s[0] != '-' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; c != 'n' && c != 'e' && c != 'E' {
			return false
		}
	}
	return true
}

// runPrintfBuiltin is the builtin of that name.
func runPrintfBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "v:")
	if st >= 0 {
		return st
	}
	name := ""
	for _, f := range list {
		name = f.arg
		if base, _, _ := splitSubscript(name); !isName(base) {
			sh.fail("`%s': not a valid identifier", name)
			return 2
		}
	}
	if len(rest) == 0 {
		return sh.usage(sh.usageText(), "")
	}
	out, status := printf.Append(sh.scratch[:0], printfHost{work{sh}}, rest[0], rest[1:])
	if name == "" {
		if st := sh.out(out); st != 0 {
			return st
		}
		if cap(out) <= 1<<16 {
			sh.scratch = out
		}
		return status
	}
	if len(out) > 1<<12 && !sh.hold(len(out)) {
		return sh.status
	}
	s := string(out)
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	if !sh.assignNamed(name, s) {
		return 1
	}
	return status
}

// printfHost is the process as package printf sees it.
type printfHost struct{ work }

// Warn implements printf.Host.
func (h printfHost) Warn(format string, args ...any) { h.sh.fail(format, args...) }

// Locale implements printf.Host.
func (h printfHost) Locale() char.Locale { return h.sh.locale() }

// Assign implements printf.Host.
func (h printfHost) Assign(name, value string) {
	if isName(name) {
		h.sh.assignNamed(name, value)
	}
}

// textBudget counts n bytes of a text that grows, and the work for it.
func (sh *interp) textBudget(n int) bool { return sh.hold(2*n) && sh.spend(n>>6) }

// Time implements printf.Host.
func (h printfHost) Time(format string, seconds int64) string {
	t := time.Unix(seconds, 0)
	switch seconds {
	case -1:
		t = h.sh.m.now()
	case -2:
		t = time.Unix(h.sh.start, 0)
	}
	text, _ := strftime.FormatCWithin(format, h.sh.local(t), h.sh.textBudget)
	return text
}
