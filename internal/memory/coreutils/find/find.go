// Package find holds the programs find, fd and xargs.
package find

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func findCommand() program.Description {
	return program.Description{
		Origin: "GNU findutils 4.9.0",
		Name:   "find", Usage: "[-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]",
		Summary: "walk directory trees and do what the expression says with each file",
		Help:    findHelp, Run: runFind,
	}
}

const findHelp = `The path is . and the expression -print unless they are given.

Operators, from the strongest: ( EXPR )  ! EXPR  -not EXPR  EXPR -a EXPR  EXPR -and EXPR  EXPR EXPR
  EXPR -o EXPR  EXPR -or EXPR  EXPR , EXPR

Links: -P follow none (so it is without options), -H those among the paths, -L all; -follow is -L

Options: -depth -d -maxdepth N -mindepth N -mount -xdev -daystart -regextype TYPE -files0-from FILE
  -warn -nowarn -noleaf -ignore_readdir_race -noignore_readdir_race

Tests (N, +N more than N, -N less than N):
  -amin N  -atime N  -cmin N  -ctime N  -mmin N  -mtime N  -used N
  -anewer FILE  -cnewer FILE  -newer FILE  -newerXY FILE (X and Y of a, c, m; Y also t: a date)
  -name PATTERN  -iname PATTERN  -path PATTERN  -ipath PATTERN  -wholename PATTERN  -iwholename PATTERN
  -lname PATTERN  -ilname PATTERN  -regex EXPRESSION  -iregex EXPRESSION
  -type [bcdflps],...  -xtype [bcdflps],...  -size N[bcwkMG]  -empty  -perm [-/]MODE
  -user NAME  -uid N  -nouser  -group NAME  -gid N  -nogroup  -links N  -inum N  -samefile FILE
  -readable  -writable  -executable  -fstype TYPE  -true  -false

Actions: -print  -print0  -printf FORMAT  -fprint FILE  -fprint0 FILE  -fprintf FILE FORMAT  -ls  -fls FILE
  -exec COMMAND ;  -exec COMMAND {} +  -execdir COMMAND ;  -execdir COMMAND {} +  -ok COMMAND ;
  -okdir COMMAND ;  -delete  -prune  -quit

Exit status: 0 when all files were visited and no command of "-exec ... +" failed, otherwise more.`

// finder is a run of find.
type finder struct {
	proc     *shell.Proc
	out      *program.Output
	accounts *accounts.Database
	zone     *time.Location
	now      time.Time

	follow     byte // P, H or L
	depthFirst bool
	minDepth   int
	maxDepth   int // -1: none
	warnings   bool
	deletes    bool

	test    predicate
	files   map[string]*findFile
	batches []*execBatch
	status  int
	quit    bool
	err     error // why everything ends
}

// predicate is a test or an action.
type predicate func(e *findEntry) bool

// findFile is a file that actions write to.
type findFile struct {
	w     io.Writer
	close func() error
	err   error
}

func (f *findFile) write(s string) {
	if f.err == nil {
		_, f.err = io.WriteString(f.w, s)
	}
}

func runFind(p *shell.Proc) int {
	out := program.NewOutput(p)
	f := &finder{
		proc: p, out: out, accounts: accounts.New(p), zone: program.Zone(p), now: p.Now(), follow: 'P', maxDepth: -1,
		warnings: program.IsTerminal(p.Stdin), files: make(map[string]*findFile),
	}
	paths, words, done, status := f.split(p.Args[1:])
	if done {
		return out.Close(status)
	}
	parser := newFindParser(f, words)
	if !parser.run() {
		return out.Close(parser.status)
	}
	paths, ok := f.startingPoints(paths, parser)
	if ok {
		f.walk(paths)
		f.finish()
	}
	if f.err != nil {
		_ = out.Flush() // The process ends for another reason.
		return p.Status(f.err)
	}
	return out.Close(f.status)
}

// fail reports a file that cannot be looked at.
func (f *finder) fail(path string, err error) {
	f.proc.Warn("%s: %s", quoting.Name(path), shell.Strerror(err))
	f.status = 1
}

// split takes the options before the paths, and the paths, off the arguments.
func (f *finder) split(args []string) (paths, words []string, done bool, status int) {
	i := 0
options:
	for ; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-P" || a == "-H" || a == "-L":
			f.follow = a[1]
		case a == "--":
			i++
			break options
		case a == "-D":
			if i++; i >= len(args) {
				program.UsageError(f.proc, findCommand, 1, "Missing argument after the -D option.")
				return nil, nil, true, 1
			}
			if args[i] == "help" {
				f.debugHelp()
				return nil, nil, true, 0
			}
			f.checkDebug(args[i])
		case strings.HasPrefix(a, "-O"):
			if _, err := strconv.ParseUint(a[2:], 10, 16); err != nil {
				f.proc.Warn("The -O option must be immediately followed by a decimal integer")
				return nil, nil, true, 1
			}
		default:
			break options
		}
	}
	start := i
	for i < len(args) && !isExpressionStart(args[i]) {
		i++
	}
	return args[start:i:i], args[i:], false, 0
}

var findDebugFlags = []string{"exec", "opt", "rates", "search", "stat", "time", "tree", "all", "help"}

func (f *finder) debugHelp() {
	_, _ = f.out.WriteString("Valid arguments for -D:\n" + strings.Join(findDebugFlags, ", ") + "\n") // The error stays in out.
}

func (f *finder) checkDebug(list string) {
	for flag := range strings.SplitSeq(list, ",") {
		known := false
		for _, k := range findDebugFlags {
			known = known || k == flag
		}
		if !known {
			f.proc.Warn("Ignoring unrecognised debug flag %s", quoting.Name(flag))
		}
	}
}

// isExpressionStart reports whether an argument ends the list of paths.
func isExpressionStart(a string) bool {
	return len(a) > 1 && a[0] == '-' || a == "!" || a == "("
}

// startingPoints returns the starting points, which -files0-from reads from a file.
func (f *finder) startingPoints(paths []string, parser *findParser) ([]string, bool) {
	if parser.files0 == nil {
		if len(paths) == 0 {
			return []string{"."}, true
		}
		return paths, true
	}
	name := *parser.files0
	if len(paths) > 0 {
		f.proc.Warn("extra operand %s", quoting.Name(paths[0]))
		f.proc.Warn("file operands cannot be combined with -files0-from")
		f.status = 1
		return nil, false
	}
	in, err := program.OpenInput(f.proc, name)
	if err != nil {
		f.proc.Warn("cannot open %s for reading: %s", quoting.Name(name), shell.Strerror(err))
		f.status = 1
		return nil, false
	}
	defer in.Close()
	paths, err = program.ReadList(f.proc, in, 0)
	if err != nil {
		f.proc.Warn("%s: read error: %s", quoting.Name(name), shell.Strerror(err))
		f.status = 1
		return nil, false
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		if path == "" {
			f.proc.Warn("invalid zero-length file name")
			f.status = 1
		}
		return path == ""
	}), true
}

// finish runs the remaining commands with many arguments, and closes files.
func (f *finder) finish() {
	for _, b := range f.batches {
		b.run()
	}
	for name, file := range f.files {
		err := file.err
		if e := file.close(); err == nil {
			err = e
		}
		if err != nil {
			f.fail(name, err)
		}
	}
}
