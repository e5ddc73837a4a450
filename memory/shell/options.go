package shell

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
