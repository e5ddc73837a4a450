package shell

import (
	"fmt"
	"strings"
)

// option is a bit of set -o.
type option uint64

const (
	optAllExport option = 1 << iota
	optBraceExpand
	optEmacs
	optErrExit
	optErrTrace
	optFuncTrace
	optHashAll
	optHistExpand
	optHistory
	optIgnoreEOF
	optInteractiveComments
	optKeyword
	optMonitor
	optNoClobber
	optNoExec
	optNoGlob
	optNoLog
	optNotify
	optNoUnset
	optOneCmd
	optPhysical
	optPipeFail
	optPosix
	optPrivileged
	optVerbose
	optVi
	optXTrace
	// Those that no set changes.
	optInteractive
	optCommand    // -c
	optStdin      // -s
	optRestricted // -r
)

// setOptions are the names of set -o in the order it lists them.
var setOptions = []struct {
	name   string
	letter byte
	bit    option
}{
	{"allexport", 'a', optAllExport},
	{"braceexpand", 'B', optBraceExpand},
	{"emacs", 0, optEmacs},
	{"errexit", 'e', optErrExit},
	{"errtrace", 'E', optErrTrace},
	{"functrace", 'T', optFuncTrace},
	{"hashall", 'h', optHashAll},
	{"histexpand", 'H', optHistExpand},
	{"history", 0, optHistory},
	{"ignoreeof", 0, optIgnoreEOF},
	{"interactive-comments", 0, optInteractiveComments},
	{"keyword", 'k', optKeyword},
	{"monitor", 'm', optMonitor},
	{"noclobber", 'C', optNoClobber},
	{"noexec", 'n', optNoExec},
	{"noglob", 'f', optNoGlob},
	{"nolog", 0, optNoLog},
	{"notify", 'b', optNotify},
	{"nounset", 'u', optNoUnset},
	{"onecmd", 't', optOneCmd},
	{"physical", 'P', optPhysical},
	{"pipefail", 0, optPipeFail},
	{"posix", 0, optPosix},
	{"privileged", 'p', optPrivileged},
	{"verbose", 'v', optVerbose},
	{"vi", 0, optVi},
	{"xtrace", 'x', optXTrace},
}

// flagOrder is the order of letters in $-.
const flagOrder = "abefhikmnprtuvxBCEHPTcs"

// flags returns $-.
func (sh *interp) flags() string {
	b := make([]byte, 0, 8)
	for i := range len(flagOrder) {
		c := flagOrder[i]
		switch {
		case c == 'i' && sh.opt&optInteractive != 0, c == 'c' && sh.opt&optCommand != 0, c == 's' && sh.opt&optStdin != 0,
			c == 'r' && sh.opt&optRestricted != 0:
			b = append(b, c)
			continue
		}
		for _, o := range setOptions {
			if o.letter == c && sh.opt&o.bit != 0 {
				b = append(b, c)
			}
		}
	}
	return string(b)
}

// shopts is a set of the options of shopt.
type shopts uint64

const (
	shAutoCD shopts = 1 << iota
	shAssocExpandOnce
	shCDableVars
	shCDSpell
	shCheckHash
	shCheckJobs
	shCheckWinSize
	shCmdHist
	shCompat31
	shCompat32
	shCompat40
	shCompat41
	shCompat42
	shCompat43
	shCompat44
	shCompleteFullQuote
	shDirExpand
	shDirSpell
	shDotGlob
	shExecFail
	shExpandAliases
	shExtDebug
	shExtGlob
	shExtQuote
	shFailGlob
	shForceFignore
	shGlobASCIIRanges
	shGlobSkipDots
	shGlobStar
	shGNUErrFmt
	shHistAppend
	shHistReedit
	shHistVerify
	shHostComplete
	shHupOnExit
	shInheritErrExit
	shInteractiveComments
	shLastPipe
	shLitHist
	shLocalVarInherit
	shLocalVarUnset
	shLoginShell
	shMailWarn
	shNoEmptyCmdCompletion
	shNoCaseGlob
	shNoCaseMatch
	shNoExpandTranslation
	shNullGlob
	shPatsubReplacement
	shProgComp
	shProgCompAlias
	shPromptVars
	shRestrictedShell
	shShiftVerbose
	shSourcePath
	shVarRedirClose
	shXpgEcho
)

var shoptNames = []string{
	"autocd", "assoc_expand_once", "cdable_vars", "cdspell", "checkhash", "checkjobs", "checkwinsize", "cmdhist",
	"compat31", "compat32", "compat40", "compat41", "compat42", "compat43", "compat44", "complete_fullquote",
	"direxpand", "dirspell", "dotglob", "execfail", "expand_aliases", "extdebug", "extglob", "extquote", "failglob",
	"force_fignore", "globasciiranges", "globskipdots", "globstar", "gnu_errfmt", "histappend", "histreedit",
	"histverify", "hostcomplete", "huponexit", "inherit_errexit", "interactive_comments", "lastpipe", "lithist",
	"localvar_inherit", "localvar_unset", "login_shell", "mailwarn", "no_empty_cmd_completion", "nocaseglob",
	"nocasematch", "noexpand_translation", "nullglob", "patsub_replacement", "progcomp", "progcomp_alias",
	"promptvars", "restricted_shell", "shift_verbose", "sourcepath", "varredir_close", "xpg_echo",
}

const (
	defaultOpt   = optBraceExpand | optHashAll | optInteractiveComments
	defaultShopt = shCheckWinSize | shCmdHist | shCompleteFullQuote | shExtQuote | shForceFignore |
		shGlobASCIIRanges | shGlobSkipDots | shHostComplete | shInteractiveComments | shPatsubReplacement | shProgComp |
		shPromptVars | shSourcePath
)

// shoptBit returns the bit of a name, 0 for none.
func shoptBit(name string) shopts {
	for i, n := range shoptNames {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// setBit returns the bit of a name of set -o, 0 for none.
func setBit(name string) option {
	for _, o := range setOptions {
		if o.name == name {
			return o.bit
		}
	}
	return 0
}

func letterBit(c byte) option {
	for _, o := range setOptions {
		if o.letter == c && c != 0 {
			return o.bit
		}
	}
	return 0
}

// set is the set builtin: options, then positional parameters.
func (sh *interp) set(args []string) int {
	if len(args) == 1 {
		return sh.printSet()
	}
	i := 1
	for ; i < len(args); i++ {
		s := args[i]
		if s == "--help" {
			return sh.helpText(args[0])
		}
		if s == "--" {
			return sh.replaceParams(args[i+1:])
		}
		if s == "-" {
			sh.opt &^= optXTrace | optVerbose
			if i+1 < len(args) {
				return sh.replaceParams(args[i+1:])
			}
			return 0
		}
		if s == "+" {
			continue
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			break
		}
		on := s[0] == '-'
		for j := 1; j < len(s); j++ {
			if s[j] == 'o' {
				if i+1 >= len(args) {
					return sh.listOptions(on)
				}
				i++
				if !sh.setNamed(args[i], on) {
					return 2
				}
				continue
			}
			b := letterBit(s[j])
			if s[j] == 'r' {
				if b = optRestricted; !on && sh.restricted() {
					return min(sh.badOption("+r"), 1)
				}
			}
			if b == 0 {
				return sh.badOption(s[:1] + s[j:j+1])
			}
			sh.setOption(b, on)
		}
	}
	if i < len(args) {
		return sh.replaceParams(args[i:])
	}
	return 0
}

// replaceParams sets the positional parameters.
func (sh *interp) replaceParams(list []string) int {
	n := 0
	for _, s := range list {
		n += 16 + len(s)
	}
	if n < lightText {
		n = 0
	}
	if n != sh.paramsTold {
		if !sh.charge(n - sh.paramsTold) {
			return sh.status
		}
		sh.paramsTold = n
	}
	sh.params = append([]string(nil), list...)
	sh.setParams = true
	return 0
}

func (sh *interp) setNamed(name string, on bool) bool {
	b := setBit(name)
	if b == 0 {
		sh.fail("%s: invalid option name", name)
		return false
	}
	sh.setOption(b, on)
	return true
}

func (sh *interp) setOption(b option, on bool) {
	if b == optMonitor && sh.ownProcess {
		sh.p.Monitors.Store(on)
	}
	if !on {
		sh.opt &^= b
		switch b {
		case optPosix:
			sh.unsetVar(slotPOSIXLY)
		case optIgnoreEOF:
			sh.unsetVar(slotIGNOREEOF)
		default:
		}
		return
	}
	sh.opt |= b
	switch b {
	case optIgnoreEOF:
		sh.assign(slotIGNOREEOF, "10")
	case optVi:
		sh.opt &^= optEmacs
	case optEmacs:
		sh.opt &^= optVi
	case optPosix:
		sh.shopt |= shExpandAliases
		if _, set := sh.value(slotPOSIXLY); !set {
			sh.assign(slotPOSIXLY, "y")
		}
	default:
	}
}

// listOptions is set -o and set +o.
func (sh *interp) listOptions(human bool) int {
	var b strings.Builder
	for _, o := range setOptions {
		on := sh.opt&o.bit != 0
		switch {
		case human:
			state := "off"
			if on {
				state = "on"
			}
			fmt.Fprintf(&b, "%-15s\t%s\n", o.name, state)
		case on:
			b.WriteString("set -o " + o.name + "\n")
		default:
			b.WriteString("set +o " + o.name + "\n")
		}
	}
	return sh.outString(b.String())
}

// shoptBuiltin is shopt.
func (sh *interp) shoptBuiltin(args []string) int {
	list, rest, st := sh.flags2(args, "pqsuo")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	for _, f := range list {
		on[f.c] = true
	}
	if on['s'] && on['u'] {
		return sh.fail("cannot set and unset shell options simultaneously")
	}
	if len(rest) == 0 {
		return sh.listShopts(on)
	}
	st = 0
	var b strings.Builder
	for _, name := range rest {
		if !sh.shoptOne(name, on, &b, &st) {
			sh.fail("%s: invalid %s", name, map[bool]string{true: "option name", false: "shell option name"}[on['o']])
			if !on['o'] || !on['s'] && !on['u'] { // With both bash forgets that it failed.
				st = 1
			}
		}
	}
	if b.Len() > 0 {
		st = max(st, sh.outString(b.String()))
	}
	return st
}

// shoptOne sets, asks or prints one option; false: there is none of that name.
func (sh *interp) shoptOne(name string, on map[byte]bool, b *strings.Builder, st *int) bool {
	var state bool
	if on['o'] {
		bit := setBit(name)
		if bit == 0 {
			return false
		}
		if on['s'] || on['u'] {
			sh.setOption(bit, on['s'])
			return true
		}
		state = sh.opt&bit != 0
	} else {
		bit := shoptBit(name)
		if bit == 0 {
			return false
		}
		if bit == shRestrictedShell {
			bit = 0 // Only set -r has a say in it.
		}
		if on['s'] {
			sh.shopt |= bit
			return true
		}
		if on['u'] {
			sh.shopt &^= bit
			return true
		}
		state = sh.shopt&bit != 0 || name == "restricted_shell" && sh.restricted()
	}
	if !state {
		*st = 1
	}
	if !on['q'] {
		b.WriteString(optionLine(name, state, on['p'], on['o']))
	}
	return true
}

func optionLine(name string, state, reusable, isSet bool) string {
	switch {
	case reusable && isSet && state:
		return "set -o " + name + "\n"
	case reusable && isSet:
		return "set +o " + name + "\n"
	case reusable && state:
		return "shopt -s " + name + "\n"
	case reusable:
		return "shopt -u " + name + "\n"
	case state && isSet:
		return fmt.Sprintf("%-15s\ton\n", name)
	case isSet:
		return fmt.Sprintf("%-15s\toff\n", name)
	case state:
		return fmt.Sprintf("%-15s\ton\n", name)
	}
	return fmt.Sprintf("%-15s\toff\n", name)
}

func (sh *interp) listShopts(on map[byte]bool) int {
	var b strings.Builder
	line := func(name string, state bool) {
		if on['s'] && !state || on['u'] && state {
			return
		}
		b.WriteString(optionLine(name, state, on['p'], on['o']))
	}
	if on['o'] {
		for _, o := range setOptions {
			line(o.name, sh.opt&o.bit != 0)
		}
	} else {
		for i, name := range shoptNames {
			line(name, sh.shopt&(1<<i) != 0 || name == "restricted_shell" && sh.restricted())
		}
	}
	if on['q'] {
		return 0
	}
	return sh.outString(b.String())
}
