// Package shopt defines the options of the shopt builtin: their bits and names.
package shopt

import "strings"

// Set is a set of options; the zero value has none.
type Set uint64

// The options of shopt, each a bit, in the order of Names.
const (
	AutoCD Set = 1 << iota
	AssocExpandOnce
	CDableVars
	CDSpell
	CheckHash
	CheckJobs
	CheckWinSize
	CmdHist
	Compat31
	Compat32
	Compat40
	Compat41
	Compat42
	Compat43
	Compat44
	CompleteFullQuote
	DirExpand
	DirSpell
	DotGlob
	ExecFail
	ExpandAliases
	ExtDebug
	ExtGlob
	ExtQuote
	FailGlob
	ForceFignore
	GlobASCIIRanges
	GlobSkipDots
	GlobStar
	GNUErrFmt
	HistAppend
	HistReedit
	HistVerify
	HostComplete
	HupOnExit
	InheritErrExit
	InteractiveComments
	LastPipe
	LitHist
	LocalVarInherit
	LocalVarUnset
	LoginShell
	MailWarn
	NoEmptyCmdCompletion
	NoCaseGlob
	NoCaseMatch
	NoExpandTranslation
	NullGlob
	PatsubReplacement
	ProgComp
	ProgCompAlias
	PromptVars
	RestrictedShell
	ShiftVerbose
	SourcePath
	VarRedirClose
	XpgEcho
)

// Names lists the names; the option with index i has the bit 1<<i. It must not be changed.
var Names = []string{
	"autocd", "assoc_expand_once", "cdable_vars", "cdspell", "checkhash", "checkjobs", "checkwinsize", "cmdhist",
	"compat31", "compat32", "compat40", "compat41", "compat42", "compat43", "compat44", "complete_fullquote",
	"direxpand", "dirspell", "dotglob", "execfail", "expand_aliases", "extdebug", "extglob", "extquote", "failglob",
	"force_fignore", "globasciiranges", "globskipdots", "globstar", "gnu_errfmt", "histappend", "histreedit",
	"histverify", "hostcomplete", "huponexit", "inherit_errexit", "interactive_comments", "lastpipe", "lithist",
	"localvar_inherit", "localvar_unset", "login_shell", "mailwarn", "no_empty_cmd_completion", "nocaseglob",
	"nocasematch", "noexpand_translation", "nullglob", "patsub_replacement", "progcomp", "progcomp_alias",
	"promptvars", "restricted_shell", "shift_verbose", "sourcepath", "varredir_close", "xpg_echo",
}

// Default is on in a new shell.
const Default = CheckWinSize | CmdHist | CompleteFullQuote | ExtQuote | ForceFignore |
	GlobASCIIRanges | GlobSkipDots | HostComplete | InteractiveComments | PatsubReplacement | ProgComp |
	PromptVars | SourcePath

// Text returns the names of the options that are on, joined by colons: the value of BASHOPTS.
func (o Set) Text() string {
	var list []string
	for i, n := range Names {
		if o&(1<<i) != 0 {
			list = append(list, n)
		}
	}
	return strings.Join(list, ":")
}

// ByName returns the bit of an option's name, 0 for an unknown name.
func ByName(name string) Set {
	for i, n := range Names {
		if n == name {
			return 1 << i
		}
	}
	return 0
}
