package files

import (
	"io/fs"
	"slices"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func rmCommand() program.Description {
	return program.Description{
		Name: "rm", Usage: "[OPTION]... [FILE]...",
		Summary: "remove files, and directories with -r",
		Help: `  -f, --force             ignore missing files; never ask
  -i                      ask before each file
  -I                      ask once before more than three files, or before -r
      --interactive[=WHEN]  never, once (-I) or always (-i)
      --one-file-system   stay on the file system of the operand
      --no-preserve-root  let / be removed
      --preserve-root[=all]  do not; so it is without options
  -r, -R, --recursive     directories with what is in them
  -d, --dir               empty directories
  -v, --verbose           say what is removed`,
		Run: runRm,
	}
}

const (
	rmInteractive = getopt.First + iota
	rmOneFS
	rmNoPreserve
	rmPreserve
)

var rmOptions = []getopt.Option{
	{Short: 'f', Long: "force"},
	{Short: 'i'},
	{Short: 'I'},
	{Long: "interactive", Arg: getopt.Optional, ID: rmInteractive},
	{Long: "one-file-system", ID: rmOneFS},
	{Long: "no-preserve-root", ID: rmNoPreserve},
	{Long: "preserve-root", Arg: getopt.Optional, ID: rmPreserve},
	{Short: 'r', Long: "recursive"},
	{Short: 'R', ID: 'r'},
	{Short: 'd', Long: "dir"},
	{Short: 'v', Long: "verbose"},
}

// remover removes files for rm and mv.
type remover struct {
	proc      *shell.Proc
	out       *program.Output
	recursive bool
	dirs      bool // -d
	ask       asking
	missingOK bool
	anyRoot   bool // --no-preserve-root
	verbose   bool
}

func runRm(p *shell.Proc) int {
	o := program.NewOptions(p, rmCommand, rmOptions)
	r := &remover{proc: p, out: program.NewOutput(p)}
	once := false
	for o.Next() {
		switch o.ID {
		case 'f':
			r.ask, r.missingOK, once = askNot, true, false
		case 'i':
			r.ask, r.missingOK, once = askUser, false, false
		case 'I':
			r.ask, r.missingOK, once = askUnset, false, true
		case rmInteractive:
			once = r.interactive(o)
		case 'r':
			r.recursive = true
		case 'd':
			r.dirs = true
		case 'v':
			r.verbose = true
		case rmNoPreserve:
			if !slices.Contains(p.Args, "--no-preserve-root") {
				o.RejectQuietly("you may not abbreviate the --no-preserve-root option")
			}
			r.anyRoot = true
		case rmPreserve:
			if o.HasValue && o.Value != "all" {
				o.RejectQuietly("unrecognized --preserve-root argument: %s", shell.Quote(o.Value))
			}
			r.anyRoot = false
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	files := o.Args()
	if len(files) == 0 {
		if r.missingOK {
			return 0
		}
		return program.UsageError(p, rmCommand, 1, "missing operand")
	}
	if once && (r.recursive || len(files) > 3) && !r.confirmAll(len(files)) {
		return 0
	}
	status := 0
	for _, f := range files {
		if !r.remove(f) {
			status = 1
		}
	}
	return r.out.Close(status)
}

func (r *remover) interactive(o *program.Options) (once bool) {
	kind := byte('a')
	if o.HasValue {
		kind = program.Choose(o, "--interactive", o.Value, []choice.Choice[byte]{
			{Name: "never", Value: 'n'},
			{Name: "no", Value: 'n'},
			{Name: "none", Value: 'n'},
			{Name: "once", Value: 'o'},
			{Name: "always", Value: 'a'},
			{Name: "yes", Value: 'a'},
		})
	}
	r.missingOK = false
	switch kind {
	case 'n':
		r.ask = askNot
	case 'o':
		r.ask = askUnset
		return true
	default:
		r.ask = askUser
	}
	return false
}

func (r *remover) confirmAll(n int) bool {
	what := "argument"
	if n > 1 {
		what += "s"
	}
	if r.recursive {
		return program.Confirm(r.proc, "remove %d %s recursively? ", n, what)
	}
	return program.Confirm(r.proc, "remove %d %s? ", n, what)
}

// remove removes one operand.
func (r *remover) remove(path string) bool {
	if base := pathname.Base(path); r.recursive && (base == "." || base == "..") {
		r.proc.Warn("refusing to remove %s or %s directory: skipping %s", "'.'", "'..'", shell.Quote(path))
		return false
	}
	info, err := r.proc.Lstat(path)
	if err != nil {
		return r.missing(path, err)
	}
	if !info.IsDir() {
		return r.removeFile(path, info)
	}
	if r.recursive && !r.anyRoot && r.isRoot(info) {
		if path == "/" {
			r.proc.Warn("it is dangerous to operate recursively on %s", shell.Quote(path))
		} else {
			r.proc.Warn("it is dangerous to operate recursively on %s (same as %s)", shell.Quote(path), "'/'")
		}
		r.proc.Warn("use --no-preserve-root to override this failsafe")
		return false
	}
	if !r.recursive && !r.dirs {
		r.cannot(path, syscall.EISDIR)
		return false
	}
	return r.removeDir(path, info)
}

func (r *remover) isRoot(info vfs.Info) bool {
	root, err := r.proc.Lstat("/")
	return err == nil && root.Ino == info.Ino
}

func (r *remover) missing(path string, err error) bool {
	switch shell.Errno(err) {
	case syscall.ENOENT, syscall.ENOTDIR:
		if r.missingOK {
			return true
		}
	case syscall.EILSEQ, syscall.EINVAL:
		if r.missingOK {
			return true
		}
	default:
	}
	r.cannot(path, err)
	return false
}

func (r *remover) cannot(path string, err error) {
	r.proc.Errorf(err, "cannot remove %s", shell.Quote(path))
}

// mustAsk reports whether a file that is there needs an answer first.
func (r *remover) mustAsk(path string, info vfs.Info) (ask, protected bool) {
	if r.ask == askNot {
		return false, false
	}
	if info.Mode&fs.ModeSymlink == 0 && r.proc.Cred().UID != 0 {
		protected = r.proc.Access(path, vfs.MayWrite) != nil
	}
	return r.ask == askUser || protected && program.IsTerminal(r.proc.Stdin), protected
}

func protectedWord(protected bool) string {
	if protected {
		return "write-protected "
	}
	return ""
}

func (r *remover) removeFile(path string, info vfs.Info) bool {
	if ask, protected := r.mustAsk(path, info); ask &&
		!program.Confirm(r.proc, "remove %s%s %s? ", protectedWord(protected), filemode.TypeName(info.Mode, info.Size), shell.Quote(path)) {
		return true
	}
	if err := r.proc.Unlink(path); err != nil {
		return r.missing(path, err)
	}
	r.say("removed ", path)
	return true
}

func (r *remover) say(what, path string) {
	if r.verbose {
		_, _ = r.out.WriteString(what + shell.Quote(path) + "\n") // The error stays in out.
	}
}

func (r *remover) removeDir(path string, info vfs.Info) bool {
	if r.proc.Spend(2) != nil {
		return false
	}
	ask, protected := r.mustAsk(path, info)
	entries, err := r.proc.ReadDir(path)
	empty := err == nil && len(entries) == 0
	if r.recursive && !empty {
		if ask && !program.Confirm(r.proc, "descend into %sdirectory %s? ", protectedWord(protected), shell.Quote(path)) {
			return true
		}
		if err != nil {
			r.cannot(path, err)
			return false
		}
		if !r.removeEntries(path, entries) {
			return false
		}
	}
	if ask && (empty || r.recursive) && !program.Confirm(r.proc, "remove %sdirectory %s? ", protectedWord(protected), shell.Quote(path)) {
		return true
	}
	if err := r.proc.Rmdir(path); err != nil {
		return r.missing(path, err)
	}
	r.say("removed directory ", path)
	return true
}

func (r *remover) removeEntries(dir string, entries []vfs.DirEntry) bool {
	ok := true
	for _, e := range entries {
		path := pathname.Join(dir, e.Name)
		info, err := r.proc.Lstat(path)
		switch {
		case err != nil:
			ok = r.missing(path, err) && ok
		case info.IsDir():
			ok = r.removeDir(path, info) && ok
		default:
			ok = r.removeFile(path, info) && ok
		}
		if r.proc.Context().Err() != nil {
			return false
		}
	}
	return ok
}
