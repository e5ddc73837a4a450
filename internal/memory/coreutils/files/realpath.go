package files

import (
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func realpathCommand() program.Description {
	return program.Description{
		Name: "realpath", Usage: "[OPTION]... FILE...",
		Summary: "print absolute paths without links; all but the last element must exist",
		Help: `  -e, --canonicalize-existing  all elements must exist
  -m, --canonicalize-missing   none need exist
  -L, --logical                take .. away before links are followed
  -P, --physical               follow links as they come (what it does without options)
  -q, --quiet                  say nothing of what fails
      --relative-to=DIR        print paths as seen from DIR
      --relative-base=DIR      only those below DIR as seen from there
  -s, --strip, --no-symlinks   leave links as they are
  -z, --zero                   end lines with NUL`,
		Run: runRealpath,
	}
}

const (
	realpathTo = getopt.First + iota
	realpathBase
)

var realpathOptions = []getopt.Option{
	{Short: 'e', Long: "canonicalize-existing"},
	{Short: 'm', Long: "canonicalize-missing"},
	{Short: 'L', Long: "logical"},
	{Short: 'P', Long: "physical"},
	{Short: 'q', Long: "quiet"},
	{Short: 's', Long: "strip"},
	{Short: 's', Long: "no-symlinks"},
	{Short: 'z', Long: "zero"},
	{Long: "relative-to", Arg: getopt.Required, ID: realpathTo},
	{Long: "relative-base", Arg: getopt.Required, ID: realpathBase},
}

// realpaths holds the parsed options of realpath.
type realpaths struct {
	proc          *shell.Proc
	need          existence
	links, before bool // links are followed; ".." is taken away before
	quiet         bool
	to, base      string
	eol           string
}

func runRealpath(p *shell.Proc) int {
	o := program.NewOptions(p, realpathCommand, realpathOptions)
	r := realpaths{proc: p, links: true, eol: "\n"}
	for o.Next() {
		switch o.ID {
		case 'e':
			r.need = allExist
		case 'm':
			r.need = noneExist
		case 'L':
			r.links, r.before = true, true
		case 'P':
			r.links, r.before = true, false
		case 's':
			r.links, r.before = false, false
		case 'q':
			r.quiet = true
		case 'z':
			r.eol = "\x00"
		case realpathTo:
			r.to = o.Value
		case realpathBase:
			r.base = o.Value
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, realpathCommand, o.Args(), 1, -1) {
		return 1
	}
	if !r.bases() {
		return 1
	}
	out, status := program.NewOutput(p), 0
	for _, name := range o.Args() {
		path, err := r.resolve(name)
		if err != nil {
			status = 1
			r.complain(name, err)
			continue
		}
		_, _ = out.WriteString(r.show(path) + r.eol) // The error stays in out.
	}
	return out.Close(status)
}

func (r *realpaths) complain(name string, err error) {
	if !r.quiet {
		r.proc.Error(name, err)
	}
}

func (r *realpaths) resolve(name string) (string, error) {
	if r.before {
		lexical, err := canonical(r.proc, name, r.need, false)
		if err != nil {
			return "", err
		}
		name = lexical
	}
	return canonical(r.proc, name, r.need, r.links)
}

// bases resolves the directories of --relative-to and --relative-base.
func (r *realpaths) bases() bool {
	need := r.need == allExist
	for _, dir := range []*string{&r.to, &r.base} {
		if *dir == "" {
			continue
		}
		path, err := r.resolve(*dir)
		if err == nil && need {
			if info, e := r.proc.FS().Stat(r.proc.Cred(), path); e != nil || !info.IsDir() {
				err = syscall.ENOTDIR
			}
		}
		if err != nil {
			r.proc.Error(*dir, err)
			return false
		}
		*dir = path
	}
	if r.base != "" {
		switch {
		case r.to == "":
			r.to = r.base
		case !isBelow(r.base, r.to):
			r.to, r.base = "", ""
		}
	}
	return true
}

// isBelow reports whether path is dir or in it.
func isBelow(dir, path string) bool {
	return dir == "/" || path == dir || strings.HasPrefix(path, dir+"/")
}

func (r *realpaths) show(path string) string {
	if r.to == "" || r.base != "" && !isBelow(r.base, path) {
		return path
	}
	return relative(r.to, path)
}

// relative returns path as seen from dir; both are absolute and clean.
func relative(dir, path string) string {
	dir, path = strings.Trim(dir, "/"), strings.Trim(path, "/")
	for dir != "" && path != "" {
		a, below, _ := strings.Cut(dir, "/")
		b, rest, _ := strings.Cut(path, "/")
		if a != b {
			break
		}
		dir, path = below, rest
	}
	up := 0
	if dir != "" {
		up = 1 + strings.Count(dir, "/")
	}
	if rel := strings.TrimSuffix(strings.Repeat("../", up)+path, "/"); rel != "" { // bounded: by three times the directory
		return rel
	}
	return "."
}
