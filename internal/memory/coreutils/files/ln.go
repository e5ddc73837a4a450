package files

import (
	"io/fs"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func lnCommand() program.Description {
	return program.Description{
		Name: "ln", Usage: "[OPTION]... [-T] TARGET LINK_NAME\n[OPTION]... TARGET\n[OPTION]... TARGET... DIRECTORY\n[OPTION]... -t DIRECTORY TARGET...",
		Summary: "give files further names, or make symbolic links with -s",
		Help: backupHelp + `  -d, -F, --directory          let root try hard links to directories
  -f, --force                  remove what has the name
  -i, --interactive            ask before that
  -L, --logical                follow links to targets
  -n, --no-dereference         take LINK_NAME for a file if it is a link to a directory
  -P, --physical               hard links to links themselves (so it is without options)
  -r, --relative               with -s, links relative to where they stand
  -s, --symbolic               symbolic links
  -t, --target-directory=DIRECTORY  where to make the links
  -T, --no-target-directory    take LINK_NAME for a file always
  -v, --verbose                say what is linked`,
		Run: runLn,
	}
}

var lnOptions = append([]getopt.Option{
	{Short: 'd', Long: "directory"},
	{Short: 'F'},
	{Short: 'f', Long: "force"},
	{Short: 'i', Long: "interactive"},
	{Short: 'L', Long: "logical"},
	{Short: 'n', Long: "no-dereference"},
	{Short: 'P', Long: "physical"},
	{Short: 'r', Long: "relative"},
	{Short: 's', Long: "symbolic"},
	{Short: 't', Long: "target-directory", Arg: getopt.Required},
	{Short: 'T', Long: "no-target-directory"},
	{Short: 'v', Long: "verbose"},
}, backupOptions...)

// linker holds the parsed options of ln.
type linker struct {
	proc                                *shell.Proc
	out                                 *program.Output
	backups                             backups
	dirs, force, ask, logical, noFollow bool
	relative, symbolic, noDir, verbose  bool
	dir                                 string
	dirGiven                            bool
	made                                map[string]bool
}

func runLn(p *shell.Proc) int {
	o := program.NewOptions(p, lnCommand, lnOptions)
	l := linker{proc: p, out: program.NewOutput(p), made: make(map[string]bool)}
	for o.Next() {
		l.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if l.backups.finish(o); o.HasEnded() {
		return o.Status
	}
	if l.relative && !l.symbolic {
		p.Warn("cannot do --relative without --symbolic")
		return 1
	}
	targets, name, ok := l.operands(o.Args())
	if !ok {
		return 1
	}
	status := 0
	if !l.dirGiven {
		if !l.link(targets[0], name) {
			status = 1
		}
		return l.out.Close(status)
	}
	for _, t := range targets {
		if !l.link(t, pathname.Join(l.dir, pathname.Base(t))) {
			status = 1
		}
	}
	return l.out.Close(status)
}

func (l *linker) option(o *program.Options) {
	switch o.ID {
	case 'd', 'F':
		l.dirs = true
	case 'f':
		l.force, l.ask = true, false
	case 'i':
		l.force, l.ask = false, true
	case 'L':
		l.logical = true
	case 'P':
		l.logical = false
	case 'n':
		l.noFollow = true
	case 'r':
		l.relative = true
	case 's':
		l.symbolic = true
	case 't':
		if l.dirGiven {
			o.RejectQuietly("multiple target directories specified")
			return
		}
		l.dir, l.dirGiven = o.Value, true
		if info, err := l.proc.Stat(o.Value); err != nil {
			l.proc.Errorf(err, "failed to access %s", shell.Quote(o.Value))
			o.End(1)
		} else if !info.IsDir() {
			o.RejectQuietly("target %s is not a directory", shell.Quote(o.Value))
		}
	case 'T':
		l.noDir = true
	case 'v':
		l.verbose = true
	default:
		l.backups.option(o)
	}
}

// operands finds out which of the four forms is meant.
func (l *linker) operands(args []string) (targets []string, name string, ok bool) {
	if len(args) == 0 {
		program.UsageError(l.proc, lnCommand, 1, "missing file operand")
		return nil, "", false
	}
	if l.noDir {
		switch {
		case l.dirGiven:
			l.proc.Warn("cannot combine --target-directory and --no-target-directory")
		case len(args) == 1:
			program.UsageError(l.proc, lnCommand, 1, "missing destination file operand after %s", shell.Quote(args[0]))
		case len(args) > 2:
			program.UsageError(l.proc, lnCommand, 1, "extra operand %s", shell.Quote(args[2]))
		default:
			return args[:1], args[1], true
		}
		return nil, "", false
	}
	if l.dirGiven {
		return args, "", true
	}
	if len(args) == 1 {
		l.dir, l.dirGiven = ".", true
		return args, "", true
	}
	last := args[len(args)-1]
	isDir, err := l.isDir(last)
	if isDir {
		l.dir, l.dirGiven = last, true
		return args[:len(args)-1], "", true
	}
	if len(args) > 2 {
		if err == nil {
			err = syscall.ENOTDIR
		}
		l.proc.Errorf(err, "target %s", shell.Quote(last))
		return nil, "", false
	}
	return args[:1], last, true
}

// isDir reports whether the last operand is a directory to link into.
func (l *linker) isDir(name string) (bool, error) {
	if l.noFollow {
		if info, err := l.proc.Lstat(name); err == nil && info.Mode&fs.ModeSymlink != 0 {
			return false, nil
		}
	}
	info, err := l.proc.Stat(name)
	if err != nil {
		return false, err
	}
	return info.IsDir(), nil
}

func (l *linker) link(target, name string) bool {
	var source vfs.Info
	if !l.symbolic {
		var err error
		if l.logical {
			source, err = l.proc.Stat(target)
		} else {
			source, err = l.proc.Lstat(target)
		}
		if err != nil {
			l.proc.Errorf(err, "failed to access %s", shell.Quote(target))
			return false
		}
		if source.IsDir() && !l.dirs {
			l.proc.Warn("%s: hard link not allowed for directory", shell.QuoteIfNeeded(target))
			return false
		}
	}
	backup := ""
	if l.force || l.ask || l.backups.kind != backupNone {
		var done, ok bool
		if backup, done, ok = l.clear(target, name, source); done {
			return ok
		}
	}
	if l.relative {
		target = l.relativeTo(target, name)
	}
	err := l.make(target, name)
	if err != nil {
		l.complain(err, target, name)
		if backup != "" {
			if e := l.proc.Rename(backup, name); e != nil {
				l.proc.Errorf(e, "cannot un-backup %s", shell.Quote(name))
			}
		}
		return false
	}
	l.made[l.proc.Abs(name)] = true
	l.say(target, name, backup)
	return true
}

// clear makes room for a name; done means that nothing is to be linked.
func (l *linker) clear(target, name string, source vfs.Info) (backup string, done, ok bool) {
	old, err := l.proc.Lstat(name)
	if err != nil {
		if shell.Errno(err) != syscall.ENOENT {
			l.proc.Errorf(err, "failed to access %s", shell.Quote(name))
			return "", true, false
		}
		return "", false, true
	}
	switch {
	case old.IsDir():
		l.proc.Warn("%s: cannot overwrite directory", shell.QuoteIfNeeded(name))
		return "", true, false
	case l.made[l.proc.Abs(name)]:
		l.proc.Warn("will not overwrite just-created %s with %s", shell.Quote(name), shell.Quote(target))
		return "", true, false
	}
	if l.isSameEntry(target, name, old, source) {
		l.proc.Warn("%s and %s are the same file", shell.Quote(target), shell.Quote(name))
		return "", true, false
	}
	if l.ask && !program.Confirm(l.proc, "replace %s? ", shell.Quote(name)) {
		return "", true, true
	}
	if l.backups.kind != backupNone {
		backup = l.backups.name(l.proc, name)
		if err := l.proc.Rename(name, backup); err != nil {
			l.proc.Errorf(err, "cannot backup %s", shell.Quote(name))
			return "", true, false
		}
		return backup, false, true
	}
	if !l.symbolic && old.Ino == source.Ino {
		l.say(target, name, "")
		return "", true, true
	}
	if err := l.proc.Unlink(name); err != nil {
		l.proc.Errorf(err, "cannot remove %s", shell.Quote(name))
		return "", true, false
	}
	return "", false, true
}

// isSameEntry reports whether the link would replace its own target.
func (l *linker) isSameEntry(target, name string, old, source vfs.Info) bool {
	if l.symbolic {
		// A symbolic link does harm only when it replaces the file that it points to.
		info, err := l.proc.Stat(target)
		if err != nil || l.backups.kind == backupNone && old.Mode&fs.ModeSymlink != 0 {
			return false
		}
		source = info
	}
	if old.Ino != source.Ino {
		return false
	}
	return old.Nlink == 1 || pathname.Base(target) == pathname.Base(name) && l.sameDir(target, name)
}

func (l *linker) sameDir(a, b string) bool {
	x, err := l.proc.Stat(pathname.Dir(a))
	if err != nil {
		return false
	}
	y, err := l.proc.Stat(pathname.Dir(b))
	return err == nil && x.Ino == y.Ino
}

func (l *linker) make(target, name string) error {
	if l.symbolic {
		return l.proc.Symlink(target, name)
	}
	if l.logical {
		path, err := l.proc.Realpath(target)
		if err != nil {
			return err
		}
		target = path
	}
	return l.proc.Link(target, name)
}

func (l *linker) complain(err error, target, name string) {
	switch {
	case l.symbolic && shell.Errno(err) != syscall.ENAMETOOLONG && target != "":
		l.proc.Errorf(err, "failed to create symbolic link %s", shell.Quote(name))
	case l.symbolic:
		l.proc.Errorf(err, "failed to create symbolic link %s -> %s", shell.Quote(name), shell.Quote(target))
	case shell.Errno(err) == syscall.EMLINK:
		l.proc.Errorf(err, "failed to create hard link to %.0s%s", shell.Quote(name), shell.Quote(target))
	case shell.Errno(err) == syscall.EDQUOT, shell.Errno(err) == syscall.EEXIST, shell.Errno(err) == syscall.ENOSPC,
		shell.Errno(err) == syscall.EROFS:
		l.proc.Errorf(err, "failed to create hard link %s", shell.Quote(name))
	default:
		l.proc.Errorf(err, "failed to create hard link %s => %s", shell.Quote(name), shell.Quote(target))
	}
}

func (l *linker) say(target, name, backup string) {
	if !l.verbose {
		return
	}
	arrow := " => "
	if l.symbolic {
		arrow = " -> "
	}
	s := shell.Quote(name) + arrow + shell.Quote(target)
	if backup != "" {
		s = shell.Quote(backup) + " ~ " + s
	}
	_, _ = l.out.WriteString(s + "\n") // The error stays in out.
}

// relativeTo returns target as seen from where the link is.
func (l *linker) relativeTo(target, name string) string {
	dir, err := canonical(l.proc, pathname.Dir(name), noneExist, true)
	if err != nil {
		return target
	}
	path, err := canonical(l.proc, target, noneExist, true)
	if err != nil {
		return target
	}
	return strings.TrimSuffix(relative(dir, path), "/")
}
