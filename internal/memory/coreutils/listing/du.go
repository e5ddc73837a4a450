package listing

import (
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func duCommand() program.Description {
	return program.Description{
		Name: "du", Usage: "[OPTION]... [FILE]...\n[OPTION]... --files0-from=F",
		Summary: "show the size of files and directories",
		Help: `  -0, --null             end lines with NUL
  -a, --all              files too, not only directories
      --apparent-size    sizes, not the blocks that are held
  -B, --block-size=SIZE  in units of SIZE
  -b, --bytes            --apparent-size --block-size=1
  -c, --total            a sum at the end
  -D, -H, --dereference-args  follow operands that are links
  -d, --max-depth=N      only what is at most N levels below an operand
      --files0-from=F    the operands stand in F, with NUL behind each
  -h, --human-readable   as 1.5K 234M
      --inodes           count inodes
  -k, -m                 in units of 1024 or 1048576 bytes
  -L, --dereference      follow all links
  -l, --count-links      count a file for each of its names
  -P, --no-dereference   follow no links; so it is without options
  -S, --separate-dirs    directories without what is below their own
      --si               as -h in powers of 1000
  -s, --summarize        only the operands
  -t, --threshold=SIZE   only entries of at least SIZE, or of at most -SIZE
      --time[=WORD]      the latest time below: mtime, or atime access use, ctime status
      --time-style=STYLE full-iso, long-iso, iso or +FORMAT
  -X, --exclude-from=FILE  leave out what matches a pattern in FILE
      --exclude=PATTERN  leave out what matches
  -x, --one-file-system  stay on the file system`,
		Run: runDu,
	}
}

const (
	duApparent = getopt.First + iota
	duExclude
	duFiles0
	duInodes
	duSI
	duTime
	duTimeStyle
)

var duOptions = []getopt.Option{
	{Short: '0', Long: "null"},
	{Short: 'a', Long: "all"},
	{Long: "apparent-size", ID: duApparent},
	{Short: 'B', Long: "block-size", Arg: getopt.Required},
	{Short: 'b', Long: "bytes"},
	{Short: 'c', Long: "total"},
	{Short: 'D', Long: "dereference-args"},
	{Short: 'H', ID: 'D'},
	{Short: 'd', Long: "max-depth", Arg: getopt.Required},
	{Long: "files0-from", Arg: getopt.Required, ID: duFiles0},
	{Short: 'h', Long: "human-readable"},
	{Long: "inodes", ID: duInodes},
	{Short: 'k'},
	{Short: 'm'},
	{Short: 'L', Long: "dereference"},
	{Short: 'l', Long: "count-links"},
	{Short: 'P', Long: "no-dereference"},
	{Short: 'S', Long: "separate-dirs"},
	{Long: "si", ID: duSI},
	{Short: 's', Long: "summarize"},
	{Short: 't', Long: "threshold", Arg: getopt.Required},
	{Long: "time", Arg: getopt.Optional, ID: duTime},
	{Long: "time-style", Arg: getopt.Required, ID: duTimeStyle},
	{Short: 'X', Long: "exclude-from", Arg: getopt.Required},
	{Long: "exclude", Arg: getopt.Required, ID: duExclude},
	{Short: 'x', Long: "one-file-system"},
}

// duJob holds the parsed options of du.
type duJob struct {
	proc      *shell.Proc
	out       *program.Output
	zone      *time.Location
	end       string
	all       bool
	apparent  bool
	unit      sizes.Format
	total     bool
	follow    byte // P, D or L
	depth     int  // -1: no limit
	summarize bool
	inodes    bool
	links     bool
	separate  bool
	threshold int64
	timed     bool
	time      filetime.Kind
	format    string
	exclude   []string
	files0    *string

	seen   map[uint64]bool
	sum    duSum
	status int
	err    error
}

// duSum is a running total.
type duSum struct {
	size int64
	time time.Time
}

func (s *duSum) add(o duSum) {
	s.size += o.size
	if o.time.After(s.time) {
		s.time = o.time
	}
}

func runDu(p *shell.Proc) int {
	o := program.NewOptions(p, duCommand, duOptions)
	j := &duJob{
		proc: p, out: program.NewOutput(p), zone: program.Zone(p), end: "\n", unit: envBlockSize(p, "DU_BLOCK_SIZE"), follow: 'P', depth: -1,
		format: "%Y-%m-%d %H:%M", seen: make(map[uint64]bool),
	}
	for o.Next() {
		if !j.what(o) {
			j.form(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	switch {
	case j.all && j.summarize:
		return program.UsageError(p, duCommand, 1, "cannot both summarize and show all entries")
	case j.summarize && j.depth == 0:
		p.Warn("warning: summarizing is the same as using --max-depth=0")
	case j.summarize && j.depth > 0:
		return program.UsageError(p, duCommand, 1, "warning: summarizing conflicts with --max-depth=%d", j.depth)
	}
	if j.summarize {
		j.depth = 0
	}
	if j.inodes && j.apparent {
		p.Warn("warning: options --apparent-size and -b are ineffective with --inodes")
	}
	files, ok := j.operands(o.Args())
	if !ok {
		return 1
	}
	for _, f := range files {
		if j.err = p.Spend(2); j.err == nil {
			j.operand(f)
		}
		if j.err != nil {
			_ = j.out.Flush() // The process ends for another reason.
			return p.Status(j.err)
		}
	}
	if j.total {
		j.print(j.sum, "total")
	}
	return j.out.Close(j.status)
}

// what takes the options about what is counted.
func (j *duJob) what(o *program.Options) bool {
	switch o.ID {
	case 'a':
		j.all = true
	case duApparent:
		j.apparent = true
	case 'c':
		j.total = true
	case 'D', 'L', 'P':
		j.follow = byte(o.ID)
	case 'd':
		n, err := strconv.ParseUint(o.Value, 10, 31)
		if err != nil {
			o.Reject("invalid maximum depth %s", quoting.Name(o.Value))
		}
		j.depth = int(n)
	case duFiles0:
		value := o.Value
		j.files0 = &value
	case duInodes:
		j.inodes = true
	case 'l':
		j.links = true
	case 'S':
		j.separate = true
	case 's':
		j.summarize = true
	case 't':
		j.setThreshold(o)
	case 'X':
		j.readPatterns(o)
	case duExclude:
		j.exclude = append(j.exclude, o.Value)
	case 'x':
	default:
		return false
	}
	return true
}

// form takes the options that say how it is written.
func (j *duJob) form(o *program.Options) {
	switch o.ID {
	case '0':
		j.end = "\x00"
	case 'B':
		if f, ok := blockSizeOption(o); ok {
			j.unit = f
		}
	case 'b':
		j.apparent, j.unit = true, sizes.Format{Unit: 1, Base: 1024}
	case 'h':
		j.unit = sizes.Format{Base: 1024, Suffix: true}
	case duSI:
		j.unit = sizes.Format{Base: 1000, Suffix: true}
	case 'k':
		j.unit = sizes.Format{Unit: 1 << 10, Base: 1024}
	case 'm':
		j.unit = sizes.Format{Unit: 1 << 20, Base: 1024}
	case duTime:
		j.timed = true
		if o.HasValue {
			j.time = program.Choose(o, "--time", o.Value, fileTimeWords[:5])
		}
	case duTimeStyle:
		j.setStyle(o)
	}
}

func (j *duJob) setThreshold(o *program.Options) {
	n, _, err := sizes.Parse(strings.TrimPrefix(strings.TrimPrefix(o.Value, "-"), "+"), "")
	if err == nil && o.Value == "-0" {
		err = sizes.ErrNotSize
	}
	if err != nil {
		rejectSize(o, "--threshold", err)
		return
	}
	if j.threshold = n; strings.HasPrefix(o.Value, "-") {
		j.threshold = -n
	}
}

func (j *duJob) setStyle(o *program.Options) {
	if format, ok := strings.CutPrefix(o.Value, "+"); ok {
		j.format = format
		return
	}
	j.format = program.Choose(o, "time style", strings.TrimPrefix(o.Value, "posix-"), []choice.Choice[string]{
		{Name: "full-iso", Value: "%Y-%m-%d %H:%M:%S.%N %z"},
		{Name: "long-iso", Value: "%Y-%m-%d %H:%M"},
		{Name: "iso", Value: "%Y-%m-%d"},
	})
}

// readPatterns reads -X.
func (j *duJob) readPatterns(o *program.Options) {
	in, err := program.OpenInput(j.proc, o.Value)
	if err != nil {
		o.Reject("%s: %s", shell.QuoteIfNeeded(o.Value), shell.Strerror(err))
		return
	}
	defer in.Close()
	lines, err := program.ReadList(j.proc, in, '\n')
	if err != nil {
		j.proc.Error(o.Value, err)
		o.End(1)
		return
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	j.exclude = append(lines, j.exclude...)
}

func (j *duJob) operands(args []string) ([]string, bool) {
	if j.files0 == nil {
		if len(args) == 0 {
			return []string{"."}, true
		}
		return args, true
	}
	if len(args) > 0 {
		j.proc.Warn("extra operand %s", quoting.Name(args[0]))
		_, _ = io.WriteString(j.proc.Stderr, "file operands cannot be combined with --files0-from\n")
		program.TryHelp(j.proc, duCommand())
		return nil, false
	}
	in, err := program.OpenInput(j.proc, *j.files0)
	if err != nil {
		j.proc.Errorf(err, "cannot open %s for reading", shell.Quote(*j.files0))
		return nil, false
	}
	defer in.Close()
	names, err := program.ReadList(j.proc, in, 0)
	if err != nil {
		j.proc.Error(*j.files0, err)
		return nil, false
	}
	return names, true
}

func (j *duJob) operand(path string) {
	if matchesPath(j.exclude, path) {
		return
	}
	if path == "" {
		j.proc.Warn("invalid zero-length file name")
		j.status = 1
		return
	}
	info, err := j.look(path, 0)
	if err != nil {
		j.missing(path, err)
		return
	}
	if sum, ok := j.visit(path, info, 0); ok {
		j.sum.add(sum)
	}
}

// missing reports a file that stat fails for; like GNU, it gives no reason for a broken link.
func (j *duJob) missing(path string, err error) {
	if _, e := j.proc.Lstat(path); e == nil {
		j.proc.Warn("cannot access %s", shell.Quote(path))
	} else {
		j.proc.Errorf(err, "cannot access %s", shell.Quote(path))
	}
	j.status = 1
}

func (j *duJob) look(path string, depth int) (vfs.Info, error) {
	if j.follow == 'L' || j.follow == 'D' && depth == 0 {
		return j.proc.Stat(path)
	}
	return j.proc.Lstat(path)
}

// matchesPath reports whether a path or one of its ends behind a slash matches a pattern.
func matchesPath(patterns []string, path string) bool {
	for _, p := range patterns {
		for s := path; ; {
			if fnmatch.Match(p, s, 0) {
				return true
			}
			i := strings.IndexByte(s, '/')
			if i < 0 {
				break
			}
			s = s[i+1:]
		}
	}
	return false
}

// visit adds up what is below path and prints it where that is wanted.
func (j *duJob) visit(path string, info vfs.Info, depth int) (duSum, bool) {
	if j.err = j.proc.Spend(2); j.err != nil {
		return duSum{}, false
	}
	if j.seen[info.Ino] && (info.IsDir() || !j.links) {
		return duSum{}, false
	}
	if info.IsDir() || info.Nlink > 1 || j.follow != 'P' || depth == 0 {
		j.seen[info.Ino] = true
	}
	sum := duSum{size: j.size(info), time: j.time.Of(&info)}
	shown := sum
	if info.IsDir() {
		entries, err := j.proc.ReadDir(path)
		if err != nil {
			j.proc.Errorf(err, "cannot read directory %s", shell.Quote(path))
			j.status = 1
		}
		for _, e := range entries {
			below, dir := j.entry(pathname.Join(path, e.Name), depth+1)
			if j.err != nil {
				return sum, false
			}
			sum.add(below)
			if !j.separate || !dir {
				shown.add(below)
			}
		}
	}
	if (info.IsDir() || j.all || depth == 0) && (j.depth < 0 || depth <= j.depth) {
		j.print(shown, path)
	}
	return sum, true
}

func (j *duJob) entry(path string, depth int) (sum duSum, dir bool) {
	if matchesPath(j.exclude, path) {
		return sum, false
	}
	info, err := j.look(path, depth)
	if err != nil {
		j.missing(path, err)
		return sum, false
	}
	sum, _ = j.visit(path, info, depth)
	return sum, info.IsDir()
}

func (j *duJob) size(info vfs.Info) int64 {
	switch {
	case j.inodes:
		return 1
	case !j.apparent:
		return info.Blocks * 512
	case info.Mode.IsRegular() || info.Mode&fs.ModeSymlink != 0 || info.IsDir():
		return info.Size
	}
	return 0
}

func (j *duJob) print(sum duSum, name string) {
	if j.threshold > 0 && sum.size < j.threshold || j.threshold < 0 && sum.size > -j.threshold {
		return
	}
	text := ""
	switch {
	case j.inodes && j.unit.Unit != 0:
		text = strconv.FormatInt(sum.size, 10)
	default:
		text = j.unit.Show(sum.size)
	}
	if j.timed {
		text += "\t" + strftime.Format(j.format, sum.time.In(j.zone))
	}
	_, _ = j.out.WriteString(text + "\t" + name + j.end) // The error stays in out.
}
