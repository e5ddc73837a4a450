package shell

import "strings"

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
		{":", true, ": ", "Null command.", func(*interp, []string) int { return 0 }},
		{".", true, ". filename [arguments]", "Execute commands from a file in the current shell.", (*interp).source},
		{"[", false, "[ arg... ]", "Evaluate conditional expression.", (*interp).testBuiltin},
		{"alias", false, "alias [-p] [name[=value] ... ]", "Define or display aliases.", (*interp).aliasBuiltin},
		{"bg", false, "bg [job_spec ...]", "Move jobs to the background.", (*interp).bg},
		{"bind", false, "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] [keyseq:readline-function or readline-command]", "Set Readline key bindings and variables.", (*interp).bind},
		{"break", true, "break [n]", "Exit for, while, or until loops.", (*interp).breakLoop},
		{"builtin", false, "builtin [shell-builtin [arg ...]]", "Execute shell builtins.", (*interp).builtinBuiltin},
		{"caller", false, "caller [expr]", "Return the context of the current subroutine call.", (*interp).caller},
		{"cd", false, "cd [-L|[-P [-e]] [-@]] [dir]", "Change the shell working directory.", (*interp).cd},
		{"command", false, "command [-pVv] command [arg ...]", "Execute a simple command or display information about commands.", (*interp).commandBuiltin},
		{"compgen", false, "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]", "Display possible completions depending on the options.", (*interp).compgen},
		{"complete", false, "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]", "Specify how arguments are to be completed by Readline.", (*interp).complete},
		{"compopt", false, "compopt [-o|+o option] [-DEI] [name ...]", "Modify or display completion options.", (*interp).compopt},
		{"continue", true, "continue [n]", "Resume for, while, or until loops.", (*interp).continueLoop},
		{"declare", false, "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]", "Set variable values and attributes.", (*interp).declare},
		{"dirs", false, "dirs [-clpv] [+N] [-N]", "Display directory stack.", (*interp).dirsBuiltin},
		{"disown", false, "disown [-h] [-ar] [jobspec ... | pid ...]", "Remove jobs from current shell.", (*interp).disown},
		{"echo", false, "echo [-neE] [arg ...]", "Write arguments to the standard output.", (*interp).echo},
		{"enable", false, "enable [-a] [-dnps] [-f filename] [name ...]", "Enable and disable shell builtins.", (*interp).enable},
		{"eval", true, "eval [arg ...]", "Execute arguments as a shell command.", (*interp).eval},
		{"exec", true, "exec [-cl] [-a name] [command [argument ...]] [redirection ...]", "Replace the shell with the given command.", (*interp).exec},
		{"exit", true, "exit [n]", "Exit the shell.", (*interp).exitBuiltin},
		{"export", true, "export [-fn] [name[=value] ...] or export -p", "Set export attribute for shell variables.", (*interp).export},
		{"false", false, "false", "Return an unsuccessful result.", func(*interp, []string) int { return 1 }},
		{"fc", false, "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]", "Display or execute commands from the history list.", (*interp).fc},
		{"fg", false, "fg [job_spec]", "Move job to the foreground.", (*interp).fg},
		{"getopts", false, "getopts optstring name [arg ...]", "Parse option arguments.", (*interp).getopts},
		{"hash", false, "hash [-lr] [-p pathname] [-dt] [name ...]", "Remember or display program locations.", (*interp).hashBuiltin},
		{"help", false, "help [-dms] [pattern ...]", "Display information about builtin commands.", (*interp).help},
		{"history", false, "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]", "Display or manipulate the history list.", (*interp).historyBuiltin},
		{"jobs", false, "jobs [-lnprs] [jobspec ...] or jobs -x command [args]", "Display status of jobs.", (*interp).jobsBuiltin},
		{"kill", false, "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]", "Send a signal to a job.", (*interp).kill},
		{"let", false, "let arg [arg ...]", "Evaluate arithmetic expressions.", (*interp).let},
		{"local", false, "local [option] name[=value] ...", "Define local variables.", (*interp).local2},
		{"logout", false, "logout [n]", "Exit a login shell.", (*interp).logout},
		{"mapfile", false, "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]", "Read lines from the standard input into an indexed array variable.", (*interp).mapfile},
		{"popd", false, "popd [-n] [+N | -N]", "Remove directories from stack.", (*interp).popd},
		{"printf", false, "printf [-v var] format [arguments]", "Formats and prints ARGUMENTS under control of the FORMAT.", (*interp).printf},
		{"pushd", false, "pushd [-n] [+N | -N | dir]", "Add directories to stack.", (*interp).pushd},
		{"pwd", false, "pwd [-LP]", "Print the name of the current working directory.", (*interp).pwd},
		{"read", false, "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]", "Read a line from the standard input and split it into fields.", (*interp).read},
		{"readarray", false, "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]", "Read lines from a file into an array variable.", (*interp).mapfile},
		{"readonly", true, "readonly [-aAf] [name[=value] ...] or readonly -p", "Mark shell variables as unchangeable.", (*interp).readonlyBuiltin},
		{"return", true, "return [n]", "Return from a shell function.", (*interp).returnBuiltin},
		{"set", true, "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]", "Set or unset values of shell options and positional parameters.", (*interp).set},
		{"shift", true, "shift [n]", "Shift positional parameters.", (*interp).shift},
		{"shopt", false, "shopt [-pqsu] [-o] [optname ...]", "Set and unset shell options.", (*interp).shoptBuiltin},
		{"source", false, "source filename [arguments]", "Execute commands from a file in the current shell.", (*interp).source},
		{"suspend", false, "suspend [-f]", "Suspend shell execution.", (*interp).suspend},
		{"test", false, "test [expr]", "Evaluate conditional expression.", (*interp).testBuiltin},
		{"times", true, "times", "Display process times.", (*interp).times},
		{"trap", true, "trap [-lp] [[arg] signal_spec ...]", "Trap signals and other events.", (*interp).trap},
		{"true", false, "true", "Return a successful result.", func(*interp, []string) int { return 0 }},
		{"type", false, "type [-afptP] name [name ...]", "Display information about command type.", (*interp).typeBuiltin},
		{"typeset", false, "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]", "Set variable values and attributes.", (*interp).declare},
		{"ulimit", false, "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]", "Modify shell resource limits.", (*interp).ulimit},
		{"umask", false, "umask [-p] [-S] [mode]", "Display or set file mode mask.", (*interp).umaskBuiltin},
		{"unalias", false, "unalias [-a] name [name ...]", "Remove each NAME from the list of defined aliases.", (*interp).unalias},
		{"unset", true, "unset [-f] [-v] [-n] [name ...]", "Unset values and attributes of shell variables and functions.", (*interp).unset},
		{"wait", false, "wait [-fn] [-p var] [id ...]", "Wait for job completion and return exit status.", (*interp).waitBuiltin},
	}
}

// flag is an option of a builtin with its argument.
type flag struct {
	c    byte
	arg  string
	plus bool // written with +
}

// options reads the options of a builtin: letters in spec, those followed by ":" take an argument. It
// returns them in order and the operands. Status is -1, or that of the error it has told.
func (sh *interp) flags2(args []string, spec string) (list []flag, rest []string, status int) {
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
					return nil, nil, sh.usage(sh.usageOf(), "-%c: option requires an argument", s[j])
				}
				list = append(list, f)
				break
			}
			list = append(list, f)
		}
	}
	return list, args[i:], -1
}

// badOption says that there is no such option. It returns 2.
func (sh *interp) badOption(s string) int {
	return sh.usage(sh.usageOf(), "%s: invalid option", s)
}

func (sh *interp) usageOf() string {
	if b := sh.m.lib.builtins[sh.builtinName]; b != nil {
		return b.usage
	}
	return sh.builtinName
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
func (sh *interp) namedValue(name string) string {
	base, sub, elem := splitSubscript(name)
	slot := sh.m.lib.symbols.known(base)
	if slot < 0 {
		return ""
	}
	if elem {
		s, _ := sh.element(place{slot: slot, sub: sub, elem: true})
		return s
	}
	return sh.get(slot)
}

// assignNamed sets the variable, or element, of a name made at run time.
func (sh *interp) assignNamed(name, s string) bool {
	base, sub, elem := splitSubscript(name)
	if !isName(base) || elem && sub == "" {
		sh.fail("`%s': not a valid identifier", name)
		return false
	}
	return sh.assignTo(place{slot: sh.slot(base), sub: sub, elem: elem, whole: elem && (sub == "@" || sub == "*")}, s, false)
}
