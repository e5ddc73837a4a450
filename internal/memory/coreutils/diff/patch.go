package diff

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func patchCommand() program.Description {
	return program.Description{
		Origin: "GNU patch 2.7.6", TryHelp: diffHint,
		Name: "patch", Usage: "[OPTION]... [ORIGFILE [PATCHFILE]]",
		Summary: "apply what diff wrote to files",
		Help: `  -p, --strip=NUM           strip NUM leading directories from file names; without
                              it only the last part of a name counts
  -F, --fuzz=LINES          take LINES (2) lines of context as wrong
  -l, --ignore-whitespace   white space matches other white space
  -c, --context             take the patch as a context diff
  -n, --normal              take the patch as a normal diff
  -u, --unified             take the patch as a unified diff
  -N, --forward             pass over patches that are reversed or applied already
  -R, --reverse             the patch was made with old and new files swapped
  -i, --input=PATCHFILE     read the patch from PATCHFILE
  -o, --output=FILE         write patched files to FILE
  -r, --reject-file=FILE    write rejects to FILE; - for none
      --reject-format=FORMAT  write rejects as context or unified diff
  -E, --remove-empty-files  remove files that are empty afterwards
  -Z, --set-utc             set times of files from the patch, which are in UTC
  -T, --set-time            the same; they are local times
  -b, --backup              keep the file as it was
      --backup-if-mismatch  do so when the patch does not match exactly; the default
      --no-backup-if-mismatch  do not
  -V, --version-control=STYLE  name backups simple, numbered or existing
  -B, --prefix=PREFIX       put PREFIX before names of backups
  -Y, --basename-prefix=PREFIX  put PREFIX before the last part of names of backups
  -z, --suffix=SUFFIX       put SUFFIX behind names of backups
  -t, --batch               ask nothing; take patches that look reversed so
  -f, --force               ask nothing; take patches as they are
  -s, --quiet, --silent     say nothing unless something is wrong
      --verbose             say more
      --dry-run             change nothing, only say what would happen
      --posix               name files as POSIX says
  -d, --directory=DIR       work in DIR
      --binary              do not strip carriage returns
      --follow-symlinks     follow links
      --read-only=BEHAVIOR  what to do with read-only files: ignore, warn, fail
      --quoting-style=WORD  does nothing
      --help                show this help and exit
  -v, --version             show the version and exit

Questions get their default answer, without a prompt. Scripts of ed, -D and --merge
are not supported. The exit status is 0 when all hunks were applied, 1 when some were not,
2 when something is wrong.`,
		Run: runPatch,
	}
}

const (
	patchRejectFormat = getopt.First + iota
	patchBackupMismatch
	patchNoBackupMismatch
	patchVerbose
	patchDryRun
	patchPosix
	patchBinary
	patchFollow
	patchReadOnly
	patchQuoting
	patchMerge
)

var patchTable = []getopt.Option{
	{Short: 'b', Long: "backup"},
	{Short: 'B', Long: "prefix", Arg: getopt.Required},
	{Short: 'c', Long: "context"},
	{Short: 'd', Long: "directory", Arg: getopt.Required},
	{Short: 'D', Long: "ifdef", Arg: getopt.Required},
	{Short: 'e', Long: "ed"},
	{Short: 'E', Long: "remove-empty-files"},
	{Short: 'f', Long: "force"},
	{Short: 'F', Long: "fuzz", Arg: getopt.Required},
	{Short: 'g', Long: "get", Arg: getopt.Required},
	{Short: 'i', Long: "input", Arg: getopt.Required},
	{Short: 'l', Long: "ignore-whitespace"},
	{Short: 'n', Long: "normal"},
	{Short: 'N', Long: "forward"},
	{Short: 'o', Long: "output", Arg: getopt.Required},
	{Short: 'p', Long: "strip", Arg: getopt.Required},
	{Short: 'r', Long: "reject-file", Arg: getopt.Required},
	{Short: 'R', Long: "reverse"},
	{Short: 's', Long: "quiet"},
	{Long: "silent", ID: 's'},
	{Short: 't', Long: "batch"},
	{Short: 'T', Long: "set-time"},
	{Short: 'u', Long: "unified"},
	{Short: 'v', ID: getopt.Version},
	{Short: 'V', Long: "version-control", Arg: getopt.Required},
	{Short: 'Y', Long: "basename-prefix", Arg: getopt.Required},
	{Short: 'z', Long: "suffix", Arg: getopt.Required},
	{Short: 'Z', Long: "set-utc"},
	{Long: "reject-format", Arg: getopt.Required, ID: patchRejectFormat},
	{Long: "backup-if-mismatch", ID: patchBackupMismatch},
	{Long: "no-backup-if-mismatch", ID: patchNoBackupMismatch},
	{Long: "verbose", ID: patchVerbose},
	{Long: "dry-run", ID: patchDryRun},
	{Long: "posix", ID: patchPosix},
	{Long: "binary", ID: patchBinary},
	{Long: "follow-symlinks", ID: patchFollow},
	{Long: "read-only", Arg: getopt.Required, ID: patchReadOnly},
	{Long: "quoting-style", Arg: getopt.Required, ID: patchQuoting},
	{Long: "merge", Arg: getopt.Optional, ID: patchMerge},
}

// patchJob holds the parsed command line of patch, and its progress.
type patchJob struct {
	p    *shell.Proc
	out  *program.Output // what -o - writes
	talk *program.Output // messages
	in   *patchReader

	strip, fuzz               int
	loose                     bool // white space matches other white space
	want                      patchKind
	forward, reverse          bool
	outName, rejectName       string
	rejectKind                patchKind
	removeEmpty               bool
	setTime, setUTC           bool
	backup, backupMismatch    bool
	numbered                  bool
	prefix, basePrefix        string
	suffix                    string
	batch, force, quiet, more bool
	dry, posix, binary        bool
	follow                    bool
	readOnly                  string
	dir, file, input          string
	somethingFailed           bool
	outLines                  []string // what -o has so far
	reversed                  bool     // whether the current patch is applied in reverse
	skip, anyway              bool     // for the current patch
}

// patchFatal ends patch with status 2.
type patchFatal struct{ text string }

func (e *patchFatal) Error() string { return e.text }

func fatalf(format string, args ...any) error { return &patchFatal{fmt.Sprintf(format, args...)} }

func runPatch(p *shell.Proc) int {
	j := &patchJob{p: p, strip: -1, fuzz: 2, backupMismatch: true, suffix: ".orig", readOnly: "warn"}
	o := program.NewOptions(p, patchCommand, patchTable)
	o.Wrong = 2
	for o.Next() {
		if o.ID < getopt.First {
			j.letter(o)
		} else {
			j.longOption(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if len(args) > 2 {
		return program.UsageError(p, patchCommand, 2, "%s: extra operand", shell.QuoteIfNeeded(args[2]))
	}
	if len(args) > 0 {
		j.file = args[0]
	}
	if len(args) > 1 && j.input == "" {
		j.input = args[1]
	}
	j.out = program.NewOutput(p)
	j.talk = j.out
	if j.outName == "-" {
		j.talk = program.NewOutput(p)
		j.talk.Reset(p.Stderr)
	}
	err := j.run()
	_ = j.talk.Flush()
	var fatal *patchFatal
	switch {
	case errors.As(err, &fatal):
		_ = j.out.Flush()
		fmt.Fprintf(p.Stderr, "%s: **** %s\n", p.Name(), fatal.text)
		return 2
	case err != nil:
		return p.Status(err)
	case j.somethingFailed:
		return j.out.Close(1)
	}
	return j.out.Close(0)
}

func (j *patchJob) letter(o *program.Options) {
	switch o.ID {
	case 'b':
		j.backup = true
		if v := j.p.Getenv("SIMPLE_BACKUP_SUFFIX"); v != "" && j.suffix == ".orig" {
			j.suffix = v
		}
	case 'B':
		j.prefix = o.Value
	case 'Y':
		j.basePrefix = o.Value
	case 'z':
		j.suffix = o.Value
	case 'V':
		switch o.Value {
		case "numbered", "t":
			j.numbered = true
		case "simple", "never", "existing", "nil", "none", "off":
		default:
			o.RejectQuietly("invalid argument %s for '--version-control or -V option'\nValid arguments are:\n"+
				"  - 'none', 'off'\n  - 'simple', 'never'\n  - 'existing', 'nil'\n  - 'numbered', 't'", shell.Quote(o.Value))
		}
	case 'c':
		j.want = patchContext
	case 'u':
		j.want = patchUnified
	case 'n':
		j.want = patchNormal
	case 'd':
		j.dir = o.Value
	case 'D', 'e':
		o.RejectQuietly("-%c is not supported", rune(o.ID))
	case 'E':
		j.removeEmpty = true
	case 'f':
		j.force = true
	case 'F', 'p':
		j.number(o)
	case 'i':
		j.input = o.Value
	case 'l':
		j.loose = true
	case 'N':
		j.forward = true
	case 'o':
		j.outName = o.Value
	case 'r':
		j.rejectName = o.Value
	case 'R':
		j.reverse = true
	case 's':
		j.quiet = true
	case 't':
		j.batch = true
	case 'T':
		j.setTime = true
	case 'Z':
		j.setTime, j.setUTC = true, true
	}
}

func (j *patchJob) number(o *program.Options) {
	n, err := strconv.Atoi(o.Value)
	if err != nil || n < 0 {
		what := map[int]string{'F': "fuzz factor", 'p': "strip count"}[o.ID]
		o.RejectQuietly("**** %s %s is not a number", what, shell.QuoteIfNeeded(o.Value))
		o.Status = 2
		return
	}
	if o.ID == 'F' {
		j.fuzz = n
	} else {
		j.strip = n
	}
}

func (j *patchJob) longOption(o *program.Options) {
	switch o.ID {
	case patchRejectFormat:
		switch o.Value {
		case "context":
			j.rejectKind = patchContext
		case "unified":
			j.rejectKind = patchUnified
		default:
			o.Fail()
		}
	case patchBackupMismatch:
		j.backupMismatch = true
	case patchNoBackupMismatch:
		j.backupMismatch = false
	case patchVerbose:
		j.more = true
	case patchDryRun:
		j.dry = true
	case patchPosix:
		j.posix, j.backupMismatch = true, false
	case patchBinary:
		j.binary = true
	case patchFollow:
		j.follow = true
	case patchReadOnly:
		if o.Value != "ignore" && o.Value != "warn" && o.Value != "fail" {
			o.Fail()
		}
		j.readOnly = o.Value
	case patchMerge:
		o.RejectQuietly("--merge is not supported")
	}
}

// say writes messages that -s turns off.
func (j *patchJob) say(format string, args ...any) {
	if !j.quiet {
		fmt.Fprintf(j.talk, format, args...)
	}
}

// path returns the name of a file in the tree: it joins a relative name to the directory of -d.
func (j *patchJob) path(name string) string {
	if j.dir == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return strings.TrimSuffix(j.dir, "/") + "/" + name
}

func (j *patchJob) run() error {
	if j.dir != "" {
		info, err := j.p.Stat(j.dir)
		if err == nil && !info.IsDir() {
			return fatalf("Can't change to directory %s : Not a directory", shell.QuoteIfNeeded(j.dir))
		}
		if err != nil {
			return fatalf("Can't change to directory %s : %s", shell.QuoteIfNeeded(j.dir), shell.Strerror(err))
		}
	}
	text, err := j.load()
	if err != nil {
		return err
	}
	j.in = newPatchReader(text)
	any := false
	for {
		fp, err := j.in.next(j)
		if err != nil {
			return err
		}
		if fp == nil {
			if any && j.more {
				if j.in.at > j.in.end {
					j.say("Hmm...  Ignoring the trailing garbage.\n")
				}
				j.say("done\n")
			}
			break
		}
		any = true
		if err := j.p.Spend(1 + len(fp.hunks)); err != nil {
			return err
		}
		if err := j.one(fp); err != nil {
			return err
		}
	}
	if !any {
		if strings.TrimSpace(text) == "" && text == "" {
			return nil
		}
		return fatalf("Only garbage was found in the patch input.")
	}
	return j.writeOutFile()
}

// load reads the patch; "-" and nothing stand for standard input.
func (j *patchJob) load() (string, error) {
	name := j.input
	if name == "" {
		name = "-"
	}
	if name != "-" {
		name = j.path(name)
	}
	in, err := program.OpenInput(j.p, name)
	if err != nil {
		return "", fatalf("Can't open patch file %s : %s", shell.QuoteIfNeeded(j.input), shell.Strerror(err))
	}
	defer in.Close()
	return j.readAll(in)
}

// readAll reads a patch or a file to patch.
func (j *patchJob) readAll(in io.Reader) (string, error) {
	text, err := program.ReadWhole(j.p, in)
	if err != nil {
		if j.p.Context().Err() != nil {
			return "", err
		}
		return "", fatalf("read error : %s", shell.Strerror(err))
	}
	return string(text), nil
}
