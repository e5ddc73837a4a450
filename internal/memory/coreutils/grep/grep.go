// Package grep holds the programs grep, egrep, fgrep and rg.
package grep

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

const grepUsage = "[OPTION]... PATTERNS [FILE]..."

func grepCommand() program.Description {
	return program.Description{
		Origin: "GNU grep 3.8", TryHelp: "Usage: %[1]s " + grepUsage + "\nTry '%[1]s --help' for more information.\n",
		Name: "grep", Usage: grepUsage,
		Summary: "write the lines of the FILEs that match a pattern", Help: grepHelp, Run: runGrep,
	}
}

func egrepCommand() program.Description {
	return program.Description{
		Name: "egrep", Usage: "[OPTION]... PATTERNS [FILE]...", Summary: "the same as grep -E", Help: grepHelp,
		Run: func(p *shell.Proc) int { return grepAs(p, "-E") },
	}
}

func fgrepCommand() program.Description {
	return program.Description{
		Name: "fgrep", Usage: "[OPTION]... PATTERNS [FILE]...", Summary: "the same as grep -F", Help: grepHelp,
		Run: func(p *shell.Proc) int { return grepAs(p, "-F") },
	}
}

const grepHelp = `PATTERNS may be several, one a line. A line that matches any of them is selected.
With no FILE, or when FILE is -, read standard input; with -r, the working directory.

What matches:
  -E, --extended-regexp     PATTERNS are extended regular expressions
  -F, --fixed-strings       PATTERNS are texts
  -G, --basic-regexp        PATTERNS are basic regular expressions (the default)
  -P, --perl-regexp         PATTERNS is one of Perl's regular expressions
  -e, --regexp=PATTERNS     patterns; for those that begin with -, and for more of them
  -f, --file=FILE           patterns from FILE, one a line
  -i, --ignore-case         upper and lower case are the same
      --no-ignore-case      they are not (the default)
  -v, --invert-match        select the lines that do not match
  -w, --word-regexp         a match has to be whole words
  -x, --line-regexp         a match has to be a whole line
  -z, --null-data           lines end in NUL, not in a newline

What is written:
  -c, --count               the number of lines of each file
  -l, --files-with-matches  the names of files with a selected line
  -L, --files-without-match  the names of files without one
  -m, --max-count=NUM       stop after NUM lines of a file
  -o, --only-matching       the parts of lines that match, unless they are empty
  -q, --quiet, --silent     nothing; stop at the first line
  -s, --no-messages         no message about files that cannot be read
  -b, --byte-offset         with the place in the file, counted in bytes from 0
  -H, --with-filename       with the file's name; the default for several files
  -h, --no-filename         without it
      --label=LABEL         the name for standard input
  -n, --line-number         with the line's number
  -T, --initial-tab         with a tab before the line's content
  -Z, --null                with NUL after a file's name
      --line-buffered       write every line at once
      --color[=WHEN], --colour[=WHEN]  mark matches: always, never, auto

Lines around:
  -A, --after-context=NUM   NUM lines behind each
  -B, --before-context=NUM  NUM lines before each
  -C, -NUM, --context=NUM   both
      --group-separator=SEP  between groups of lines, instead of --
      --no-group-separator  nothing between groups

Which files:
  -a, --text                binary files are text; --binary-files=text
  -I                        binary files have no match; --binary-files=without-match
      --binary-files=TYPE   binary, text or without-match
  -d, --directories=ACTION  read, skip or recurse
  -D, --devices=ACTION      read or skip
  -r, --recursive           directories and what is below; links only as operands
  -R, --dereference-recursive  and all links
      --include=GLOB        of what is found, only files whose names match
      --exclude=GLOB        leave out files whose names match
      --exclude-from=FILE   leave out files that match a pattern in FILE
      --exclude-dir=GLOB    leave out directories that match
  -U, --binary              does nothing

Exit status is 0 when a line was selected, 1 when none, 2 after an error.`

// runGrep is grep.
func runGrep(p *shell.Proc) int {
	g := newGrep(p)
	if status, done := g.configure(); done {
		return status
	}
	return g.run()
}

// grepAs is grep with an option more, which it calls itself too.
func grepAs(p *shell.Proc, option string) int {
	q := *p
	q.Args = append([]string{"grep", option}, p.Args[1:]...)
	return runGrep(&q)
}
