package files

import (
	"io/fs"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func chmodCommand() program.Description {
	return program.Description{
		Name: "chmod", Usage: "[OPTION]... MODE[,MODE]... FILE...\n[OPTION]... OCTAL-MODE FILE...\n[OPTION]... --reference=RFILE FILE...",
		Summary: "change the permissions of files",
		Help: `  -c, --changes          say what changes
  -f, --silent, --quiet  say little of what fails
  -v, --verbose          say what is done for each file
      --no-preserve-root let / be changed with -R; so it is without options
      --preserve-root    do not
      --reference=RFILE  the permissions of RFILE
  -R, --recursive        directories with what is in them

MODE is [ugoa]*([-+=]([rwxXst]*|[ugo]))+ or an octal number, with commas between several.`,
		Run: runChmod,
	}
}

const (
	chmodReference = getopt.First + iota
	chmodPreserve
	chmodNoPreserve
)

var chmodOptions = []getopt.Option{
	{Short: 'c', Long: "changes"},
	{Short: 'R', Long: "recursive"},
	{Long: "no-preserve-root", ID: chmodNoPreserve},
	{Long: "preserve-root", ID: chmodPreserve},
	{Short: 'f', Long: "quiet"},
	{Long: "reference", Arg: getopt.Required, ID: chmodReference},
	{Short: 'f', Long: "silent"},
	{Short: 'v', Long: "verbose"},
}

// talk is the level of messages about changes: -c, -f, -v.
type talk uint8

const (
	talkFaults talk = iota
	talkNothing
	talkChanges
	talkAll
)

// modeChanger holds the parsed options of chmod.
type modeChanger struct {
	entryChanger
	out       *program.Output
	change    filemode.Change
	talk      talk
	recursive bool
	keepRoot  bool
	surprise  bool // the mode was given like an option, where the umask may surprise
}

func runChmod(p *shell.Proc) int {
	// A mode such as -w looks like an option: such words are put aside first.
	args, modes := splitModes(p.Args)
	o := program.NewOptions(p, chmodCommand, chmodOptions)
	o.Parser = getopt.New(args, chmodOptions)
	c := &modeChanger{entryChanger: entryChanger{proc: p}, out: program.NewOutput(p), surprise: modes != ""}
	reference := ""
	referenced := false
	for o.Next() {
		switch o.ID {
		case 'c':
			c.talk = talkChanges
		case 'v':
			c.talk = talkAll
		case 'f':
			c.silent = true
		case 'R':
			c.recursive = true
		case chmodPreserve, chmodNoPreserve:
			c.keepRoot = o.ID == chmodPreserve
		case chmodReference:
			reference, referenced = o.Value, true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	files := o.Args()
	switch {
	case referenced && modes != "":
		return program.UsageError(p, chmodCommand, 1, "cannot combine mode and --reference options")
	case !referenced && modes == "" && len(files) > 0:
		modes, files = files[0], files[1:]
	}
	if len(files) == 0 {
		if len(o.Args()) == 0 {
			return program.UsageError(p, chmodCommand, 1, "missing operand")
		}
		return program.UsageError(p, chmodCommand, 1, "missing operand after %s", quoting.Name(p.Args[len(p.Args)-1]))
	}
	if !c.settle(modes, reference, referenced) {
		return 1
	}
	status := 0
	for _, f := range files {
		if !c.operand(f) {
			status = 1
		}
	}
	return c.out.Close(status)
}

// splitModes takes modes that look like options out of the arguments.
func splitModes(args []string) (rest []string, modes string) {
	var list []string
	for i, a := range args {
		if a == "--" {
			rest = append(rest, args[i:]...)
			break
		}
		if i > 0 && len(a) > 1 && a[0] == '-' && strings.IndexByte("rwxXstugoa,+=01234567", a[1]) >= 0 {
			list = append(list, a)
			continue
		}
		rest = append(rest, a)
	}
	return rest, strings.Join(list, ",")
}

func (c *modeChanger) settle(modes, reference string, referenced bool) bool {
	if referenced {
		info, err := c.proc.Stat(reference)
		if err != nil {
			c.proc.Errorf(err, "failed to get attributes of %s", shell.Quote(reference))
			return false
		}
		c.change = filemode.Change{{Op: '=', Who: filemode.AllBits, Value: filemode.Bits(info.Mode), Mentioned: filemode.AllBits}}
		return true
	}
	change, ok := filemode.Parse(modes)
	if !ok {
		program.UsageError(c.proc, chmodCommand, 1, "invalid mode: %s", quoting.Name(modes))
		return false
	}
	c.change = change
	return true
}

// operand changes one operand, which is followed if it is a link.
func (c *modeChanger) operand(path string) bool {
	link, err := c.proc.Lstat(path)
	if err != nil {
		c.warn(err, "cannot access %s", shell.Quote(path))
		c.sayFailed(path, 0, false)
		return false
	}
	info := link
	if link.Mode&fs.ModeSymlink != 0 {
		if info, err = c.proc.Stat(path); err != nil {
			if !c.silent {
				c.proc.Warn("cannot operate on dangling symlink %s", shell.Quote(path))
			}
			c.sayFailed(path, 0, false)
			return false
		}
	}
	if c.recursive && c.keepRoot && info.IsDir() {
		if root, err := c.proc.Stat("/"); err == nil && root.Ino == info.Ino {
			c.proc.Warn("it is dangerous to operate recursively on %s", shell.Quote(path))
			c.proc.Warn("use --no-preserve-root to override this failsafe")
			return false
		}
	}
	ok := c.set(path, info)
	if !c.recursive || !info.IsDir() {
		return ok
	}
	return c.below(path) && ok
}

// below changes the entries of a directory; links there are left alone.
func (c *modeChanger) below(dir string) bool {
	return c.changeEntries(dir, func(path string, info vfs.Info) bool {
		if info.Mode&fs.ModeSymlink != 0 {
			c.saySkipped(path)
			return true
		}
		ok := c.set(path, info)
		if info.IsDir() {
			ok = c.below(path) && ok
		}
		return ok
	})
}

func (c *modeChanger) set(path string, info vfs.Info) bool {
	before := filemode.Bits(info.Mode)
	after, _ := c.change.Apply(before, info.IsDir(), uint32(c.proc.Umask()))
	if err := c.proc.Chmod(path, filemode.FromBits(after)); err != nil {
		c.warn(err, "changing permissions of %s", shell.Quote(path))
		c.sayFailed(path, after, true)
		return false
	}
	c.say(path, before, after)
	if c.surprise && !c.silent {
		// chmod -w with umask 022 leaves group write: GNU says so and fails.
		naive, _ := c.change.Apply(before, info.IsDir(), 0)
		if after&^naive != 0 {
			c.proc.Warn("%s: new permissions are %s, not %s", shell.QuoteIfNeeded(path), filemode.PermString(after), filemode.PermString(naive))
			return false
		}
	}
	return true
}

func (c *modeChanger) write(s string) { _, _ = c.out.WriteString(s + "\n") } // The error stays in out.

func (c *modeChanger) say(path string, before, after uint32) {
	changed := before != after
	switch {
	case c.talk < talkChanges || c.talk == talkChanges && !changed:
	case changed:
		c.write("mode of " + shell.Quote(path) + " changed from " + filemode.Octal(before) + " (" + filemode.PermString(before) + ") to " +
			filemode.Octal(after) + " (" + filemode.PermString(after) + ")")
	default:
		c.write("mode of " + shell.Quote(path) + " retained as " + filemode.Octal(after) + " (" + filemode.PermString(after) + ")")
	}
}

func (c *modeChanger) saySkipped(path string) {
	if c.talk == talkAll {
		c.write("neither symbolic link " + shell.Quote(path) + " nor referent has been changed")
	}
}

func (c *modeChanger) sayFailed(path string, after uint32, there bool) {
	switch {
	case c.talk != talkAll:
	case there:
		c.write("failed to change mode of " + shell.Quote(path) + " to " + filemode.Octal(after) + " (" + filemode.PermString(after) + ")")
	default:
		c.write(shell.Quote(path) + " could not be accessed")
	}
}
