package files

import (
	"os"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func mktempCommand() program.Description {
	return program.Description{
		Name: "mktemp", Usage: "[OPTION]... [TEMPLATE]",
		Summary: "make a temporary file and print its name; TEMPLATE ends in at least three X",
		Help: `  -d, --directory      make a directory
  -u, --dry-run        make nothing
  -q, --quiet          say nothing of what fails
      --suffix=SUFFIX  what follows the X of TEMPLATE
  -p DIR, --tmpdir[=DIR]  TEMPLATE is relative to DIR, or TMPDIR, or /tmp
  -t                   TEMPLATE is a name in TMPDIR, DIR or /tmp`,
		Run: runMktemp,
	}
}

const (
	mktempSuffix = getopt.First + iota
	mktempTmpdir
)

var mktempOptions = []getopt.Option{
	{Short: 'd', Long: "directory"},
	{Short: 'u', Long: "dry-run"},
	{Short: 'q', Long: "quiet"},
	{Long: "suffix", Arg: getopt.Required, ID: mktempSuffix},
	{Short: 'p', Arg: getopt.Required},
	{Long: "tmpdir", Arg: getopt.Optional, ID: mktempTmpdir},
	{Short: 't'},
	{Short: 'V', ID: getopt.Version},
}

// temporary holds the parsed options of mktemp.
type temporary struct {
	proc            *shell.Proc
	directory, dry  bool
	quiet           bool
	suffix          string
	suffixGiven     bool
	dir             string
	inDir, nameOnly bool
	template        string
}

func runMktemp(p *shell.Proc) int {
	o := program.NewOptions(p, mktempCommand, mktempOptions)
	t := temporary{proc: p, template: "tmp.XXXXXXXXXX"}
	for o.Next() {
		switch o.ID {
		case 'd':
			t.directory = true
		case 'u':
			t.dry = true
		case 'q':
			t.quiet = true
		case mktempSuffix:
			t.suffix, t.suffixGiven = o.Value, true
		case 'p', mktempTmpdir:
			t.dir, t.inDir = o.Value, true
		case 't':
			t.inDir, t.nameOnly = true, true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if len(o.Args()) > 1 {
		return program.UsageError(p, mktempCommand, 1, "too many templates")
	}
	if len(o.Args()) == 1 {
		t.template = o.Args()[0]
	} else {
		t.inDir = true
	}
	return t.run()
}

func (t *temporary) run() int {
	prefix, count, ok := t.split()
	if !ok {
		return 1
	}
	if t.inDir {
		dir, ok := t.directoryFor(prefix)
		if !ok {
			return 1
		}
		prefix = pathname.Join(dir, prefix)
	}
	name, err := t.make(prefix, count)
	if err != nil {
		if !t.quiet {
			kind := "file"
			if t.directory {
				kind = "directory"
			}
			t.proc.Errorf(err, "failed to create %s via template %s", kind, quoting.Name(prefix+strings.Repeat("X", count)+t.suffix)) // bounded: by the letters of a template
		}
		return 1
	}
	out := program.NewOutput(t.proc)
	_, _ = out.WriteString(name + "\n") // The error stays in out.
	return out.Close(0)
}

// split takes the X out of the template.
func (t *temporary) split() (prefix string, count int, ok bool) {
	template := t.template
	if t.suffixGiven {
		if !strings.HasSuffix(template, "X") {
			t.proc.Warn("with --suffix, template %s must end in X", quoting.Name(template))
			return "", 0, false
		}
	} else if i := strings.LastIndexByte(template, 'X'); i >= 0 {
		template, t.suffix = template[:i+1], template[i+1:]
	} else {
		t.suffix = ""
	}
	if strings.Contains(t.suffix, "/") {
		t.proc.Warn("invalid suffix %s, contains directory separator", quoting.Name(t.suffix))
		return "", 0, false
	}
	prefix = strings.TrimRight(template, "X")
	if count = len(template) - len(prefix); count < 3 {
		t.proc.Warn("too few X's in template %s", quoting.Name(t.template))
		return "", 0, false
	}
	return prefix, count, true
}

// directoryFor returns the directory that the template is relative to.
func (t *temporary) directoryFor(prefix string) (string, bool) {
	env := t.proc.Getenv("TMPDIR")
	dir := t.dir
	if t.nameOnly {
		if env != "" {
			dir = env
		}
		if strings.Contains(prefix, "/") {
			t.proc.Warn("invalid template, %s, contains directory separator", quoting.Name(t.template))
			return "", false
		}
	} else if dir == "" {
		dir = env
	}
	if strings.HasPrefix(prefix, "/") {
		t.proc.Warn("invalid template, %s; with --tmpdir, it may not be absolute", quoting.Name(t.template))
		return "", false
	}
	if dir == "" {
		dir = "/tmp"
	}
	return dir, true
}

// make tries names until one is free.
func (t *temporary) make(prefix string, count int) (string, error) {
	r := t.proc.Rand()
	for {
		if err := t.proc.Spend(1); err != nil {
			return "", err
		}
		name := prefix + pathname.RandomLetters(r, count) + t.suffix
		var err error
		switch {
		case t.dry:
			if _, err = t.proc.Lstat(name); err == nil {
				continue
			}
			if shell.Errno(err) == syscall.ENOENT {
				err = nil
			}
		case t.directory:
			err = t.proc.Mkdir(name, 0o700)
		default:
			err = t.createFile(name)
		}
		if shell.Errno(err) != syscall.EEXIST {
			return name, err
		}
	}
}

func (t *temporary) createFile(name string) error {
	f, err := t.proc.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
