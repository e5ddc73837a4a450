// Package compress holds the programs that compress single files: gzip, bzip2, xz and zstd.
package compress

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func gzipCommand() program.Description {
	return program.Description{
		Origin: "gzip 1.12", TryHelp: "Try `%s --help' for more information.\n",
		Name: "gzip", Usage: "[OPTION]... [FILE]...",
		Summary: "compress FILEs in their place, or decompress them",
		Help: `With no FILE, or when FILE is -, compress standard input to standard output.

  -c, --stdout         write to standard output and leave the files alone
  -d, --decompress     decompress
  -f, --force          overwrite, follow links, compress to a terminal
  -h, --help           show this help and exit
  -k, --keep           keep the input files
  -l, --list           list what compressed files hold
  -L, --license        show the license
  -n, --no-name        do not save or restore the name and time
  -N, --name           save or restore the name and time
  -q, --quiet          no warnings
  -r, --recursive      go into directories
      --rsyncable      accepted
  -S, --suffix=SUF     use SUF instead of .gz
      --synchronous    accepted
  -t, --test           check compressed files
  -v, --verbose        say what is done
  -V, --version        show the version and exit
  -1, --fast ... -9, --best   how hard to try; 6 by default`,
		Run: runGzip,
	}
}

func gunzipCommand() program.Description {
	c := gzipCommand()
	c.TryHelp = ""
	c.Name, c.Summary, c.Help = "gunzip", "decompress FILEs in their place", "The options are those of gzip, which this runs with -d."
	c.Run = func(p *shell.Proc) int { return runGzipAs(p, gunzipCommand, "-d") }
	return c
}

func zcatCommand() program.Description {
	c := gzipCommand()
	c.TryHelp = ""
	c.Name, c.Summary, c.Help = "zcat", "decompress FILEs to standard output", "The options are those of gzip, which this runs with -cd."
	c.Run = func(p *shell.Proc) int { return runGzipAs(p, zcatCommand, "-cd") }
	return c
}

// runGzipAs goes on as gzip with a further option, as the scripts gunzip and zcat do.
func runGzipAs(p *shell.Proc, describe func() program.Description, option string) int {
	if len(p.Args) > 1 && (p.Args[1] == "--help" || p.Args[1] == "--version") {
		o := program.NewOptions(p, describe, nil)
		o.Next()
		return o.Status
	}
	p.Args = append([]string{"gzip", option}, p.Args[1:]...)
	return runGzip(p)
}

const (
	gzipSynchronous = getopt.First + iota
	gzipRsyncable
)

var gzipOptions = []getopt.Option{
	{Short: 'a', Long: "ascii"},
	{Short: 'b', Long: "bits", Arg: getopt.Required},
	{Short: 'c', Long: "stdout"},
	{Short: 'c', Long: "to-stdout"},
	{Short: 'd', Long: "decompress"},
	{Short: 'd', Long: "uncompress"},
	{Short: 'f', Long: "force"},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'k', Long: "keep"},
	{Short: 'l', Long: "list"},
	{Short: 'L', Long: "license"},
	{Short: 'n', Long: "no-name"},
	{Short: 'N', Long: "name"},
	{Short: 'q', Long: "quiet"},
	{Short: 'q', Long: "silent"},
	{Long: "synchronous", ID: gzipSynchronous},
	{Short: 'r', Long: "recursive"},
	{Short: 'S', Long: "suffix", Arg: getopt.Required},
	{Short: 't', Long: "test"},
	{Short: 'v', Long: "verbose"},
	{Short: 'V', Long: "version", ID: getopt.Version},
	{Short: '1', Long: "fast"},
	{Short: '2'},
	{Short: '3'},
	{Short: '4'},
	{Short: '5'},
	{Short: '6'},
	{Short: '7'},
	{Short: '8'},
	{Short: '9', Long: "best"},
	{Short: 'Z', Long: "lzw"},
	{Long: "rsyncable", ID: gzipRsyncable},
}

// gzipJob holds the parsed command line of gzip.
type gzipJob struct {
	p      *shell.Proc
	out    *program.Output
	memory codec.Memory // of one file after the other

	decompress, stdout, force, keep, list, test, recursive bool
	quiet, verbose, license                                bool
	named, unnamed                                         bool // -N, -n
	suffix                                                 string
	level                                                  int

	status int
	ended  error // why the process has to end
	rows   gzipRows
}

func (j *gzipJob) option(o *program.Options) {
	switch o.ID {
	case 'a':
		j.p.Warn("option --ascii ignored on this system")
	case 'b':
		if _, err := strconv.Atoi(o.Value); err != nil {
			o.Reject("-b operand is not an integer")
		}
	case 'c':
		j.stdout = true
	case 'd':
		j.decompress = true
	case 'f':
		j.force = true
	case 'k':
		j.keep = true
	case 'l':
		j.list, j.decompress, j.stdout = true, true, true
	case 'L':
		j.license = true
	case 'n':
		j.unnamed, j.named = true, false
	case 'N':
		j.named, j.unnamed = true, false
	case 'q':
		j.quiet, j.verbose = true, false
	case 'r':
		j.recursive = true
	case 'S':
		j.suffix = o.Value
	case 't':
		j.test, j.decompress, j.stdout = true, true, true
	case 'v':
		j.verbose, j.quiet = true, false
	case 'Z':
		o.Reject("-Z not supported in this version")
	default:
		if o.ID >= '1' && o.ID <= '9' {
			j.level = o.ID - '0'
		}
	}
}

func runGzip(p *shell.Proc) int {
	j := &gzipJob{p: p, memory: codec.Memory{Reserve: p.Reserve}, suffix: ".gz", level: 6}
	o := program.NewOptions(p, gzipCommand, gzipOptions)
	for o.Next() {
		j.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	j.out = program.NewOutput(p)
	if j.license {
		_, _ = j.out.WriteString("This gzip is part of agent-sandbox, under its license; see the file LICENSE there.\n")
		return j.out.Close(0)
	}
	if j.suffix == "" && !j.decompress || len(j.suffix) > gzipSuffixMax || strings.Contains(j.suffix, "/") {
		p.Warn("invalid suffix '%s'", j.suffix)
		return 1
	}
	names := program.FilesOrStdin(o.Args())
	for _, name := range names {
		if j.ended != nil || j.out.HasFailed() {
			break
		}
		if name == "-" {
			j.stdin()
		} else {
			j.file(name)
		}
	}
	if j.list && !j.quiet && j.ended == nil && len(names) > 1 {
		j.rows.totals(j)
	}
	if j.ended != nil {
		return p.Status(j.ended)
	}
	return j.out.Close(j.status)
}

// gzipSuffixMax is the longest suffix, in bytes.
const gzipSuffixMax = 30

// warn says why a file is passed over, unless warnings are not wanted.
func (j *gzipJob) warn(format string, args ...any) {
	if !j.quiet {
		j.p.Warn(format, args...)
	}
	if j.status == 0 {
		j.status = 2
	}
}

// fail says that a file could not be read or written.
func (j *gzipJob) fail(name string, err error) {
	j.p.Warn("%s: %s", name, shell.Strerror(err))
	j.status = 1
}
