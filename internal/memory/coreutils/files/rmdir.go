package files

import (
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func rmdirCommand() program.Description {
	return program.Description{
		Name: "rmdir", Usage: "[OPTION]... DIRECTORY...",
		Summary: "remove empty directories",
		Help: `      --ignore-fail-on-non-empty  a full directory is not an error
  -p, --parents                   also the directories above, as the path names them
  -v, --verbose                   say what is done`,
		Run: runRmdir,
	}
}

var rmdirOptions = []getopt.Option{
	{Long: "ignore-fail-on-non-empty", ID: getopt.First},
	{Short: 'p', Long: "parents"},
	{Short: 'p', Long: "path"},
	{Short: 'v', Long: "verbose"},
}

// dirRemover holds the parsed options of rmdir.
type dirRemover struct {
	proc                     *shell.Proc
	out                      *program.Output
	parents, ignore, verbose bool
}

func runRmdir(p *shell.Proc) int {
	o := program.NewOptions(p, rmdirCommand, rmdirOptions)
	r := dirRemover{proc: p, out: program.NewOutput(p)}
	for o.Next() {
		switch o.ID {
		case getopt.First:
			r.ignore = true
		case 'p':
			r.parents = true
		case 'v':
			r.verbose = true
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, rmdirCommand, o.Args(), 1, -1) {
		return 1
	}
	status := 0
	for _, dir := range o.Args() {
		if !r.remove(dir) {
			status = 1
		}
	}
	return r.out.Close(status)
}

func (r *dirRemover) say(dir string) {
	if r.verbose {
		_, _ = r.out.WriteString(r.proc.Name() + ": removing directory, " + shell.Quote(dir) + "\n") // The error stays in out.
	}
}

// isNotEmpty reports whether the error is only that something is in the directory.
func (r *dirRemover) isNotEmpty(dir string, err error) bool {
	switch shell.Errno(err) {
	case syscall.ENOTEMPTY, syscall.EEXIST:
		return true
	case syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EBUSY:
		entries, e := r.proc.ReadDir(dir)
		return e == nil && len(entries) > 0
	default:
		return false
	}
}

func (r *dirRemover) remove(dir string) bool {
	r.say(dir)
	if err := r.proc.Rmdir(dir); err != nil {
		if r.ignore && r.isNotEmpty(dir, err) {
			return true
		}
		if shell.Errno(err) == syscall.ENOTDIR && strings.HasSuffix(dir, "/") {
			if r.throughLink(dir) {
				return false
			}
		}
		r.proc.Errorf(err, "failed to remove %s", shell.Quote(dir))
		return false
	}
	if !r.parents {
		return true
	}
	return r.removeParents(dir)
}

// throughLink reports a link to a directory with a slash behind it, which rmdir(2) does not follow.
func (r *dirRemover) throughLink(dir string) bool {
	info, err := r.proc.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	r.proc.Warn("failed to remove %s: Symbolic link not followed", shell.Quote(dir))
	return true
}

func (r *dirRemover) removeParents(dir string) bool {
	dir = strings.TrimRight(dir, "/")
	for {
		i := strings.LastIndexByte(dir, '/')
		if i < 0 {
			return true
		}
		dir = strings.TrimRight(dir[:i], "/")
		if dir == "" {
			return true
		}
		r.say(dir)
		if err := r.proc.Rmdir(dir); err != nil {
			if r.ignore && r.isNotEmpty(dir, err) {
				return true
			}
			r.proc.Errorf(err, "failed to remove directory %s", shell.Quote(dir))
			return false
		}
	}
}
