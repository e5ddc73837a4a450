package coreutils

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func basenameCommand() description {
	return description{
		Name: "basename", Usage: "NAME [SUFFIX]\nOPTION... NAME...",
		Summary: "print names without their directories, and without a suffix if that is given",
		Help: `  -a, --multiple       every operand is a name
  -s, --suffix=SUFFIX  take SUFFIX away; implies -a
  -z, --zero           end lines with NUL`,
		Run: runBasename,
	}
}

var basenameOptions = []getopt.Option{
	{Short: 'a', Long: "multiple"},
	{Short: 's', Long: "suffix", Arg: getopt.Required},
	{Short: 'z', Long: "zero"},
}

func runBasename(p *shell.Proc) int {
	o := newOptions(p, basenameCommand, basenameOptions)
	o.Order = getopt.RequireOrder
	multiple, suffix, eol := false, "", "\n"
	for o.Next() {
		switch o.ID {
		case 'a':
			multiple = true
		case 's':
			multiple, suffix = true, o.Value
		case 'z':
			eol = "\x00"
		}
	}
	if o.Ended() {
		return o.Status
	}
	names, most := o.Args(), -1
	if !multiple {
		most = 2
	}
	if !checkOperands(p, basenameCommand, names, 1, most) {
		return 1
	}
	if !multiple && len(names) == 2 {
		names, suffix = names[:1], names[1]
	}
	out := newOutput(p)
	for _, name := range names {
		_, _ = out.WriteString(stripSuffix(baseName(name), suffix) + eol) // The error stays in out.
	}
	return out.Close(0)
}

// stripSuffix takes suffix away unless it is all of the name.
func stripSuffix(name, suffix string) string {
	if name == suffix || strings.HasPrefix(name, "/") {
		return name
	}
	return strings.TrimSuffix(name, suffix)
}

// baseName returns the last element of a path; of slashes alone one of them.
func baseName(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" {
		if path != "" {
			return "/"
		}
		return ""
	}
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}

// dirName returns a path without its last element: "." when there is no more.
func dirName(path string) string {
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" && path != "" {
		return "/"
	}
	i := strings.LastIndexByte(trimmed, '/')
	if i < 0 {
		return "."
	}
	if dir := strings.TrimRight(trimmed[:i], "/"); dir != "" {
		return dir
	}
	return "/"
}
