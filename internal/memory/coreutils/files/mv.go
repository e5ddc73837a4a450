package files

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func mvCommand() program.Description {
	return program.Description{
		Name: "mv", Usage: "[OPTION]... [-T] SOURCE DEST\n[OPTION]... SOURCE... DIRECTORY\n[OPTION]... -t DIRECTORY SOURCE...",
		Summary: "rename files, or move them into a directory",
		Help: backupHelp + `  -f, --force                  do not ask before a file is overwritten
  -i, --interactive            ask
  -n, --no-clobber             overwrite nothing
      --strip-trailing-slashes take slashes from the ends of SOURCEs
  -t, --target-directory=DIRECTORY  where to move to
  -T, --no-target-directory    take DEST for a file
  -u, --update                 only where SOURCE is newer or DEST is missing
  -v, --verbose                say what is done
  -Z, --context                ignored, as on a kernel without security contexts`,
		Run: runMv,
	}
}

var mvOptions = append([]getopt.Option{
	{Short: 'Z', Long: "context"},
	{Short: 'f', Long: "force"},
	{Short: 'i', Long: "interactive"},
	{Short: 'n', Long: "no-clobber"},
	{Short: 'T', Long: "no-target-directory"},
	{Long: "strip-trailing-slashes", ID: cpStrip},
	{Short: 't', Long: "target-directory", Arg: getopt.Required},
	{Short: 'u', Long: "update"},
	{Short: 'v', Long: "verbose"},
}, backupOptions...)

// mvJob is a run of mv.
type mvJob struct {
	*copier
	strip bool
	place targetPlace
}

func runMv(p *shell.Proc) int {
	o := program.NewOptions(p, mvCommand, mvOptions)
	j := &mvJob{copier: newCopier(p, program.NewOutput(p)), place: targetPlace{proc: p, describe: mvCommand}}
	j.move, j.recursive, j.asRegular, j.deref, j.keepLinks = true, true, false, derefNever, true
	for o.Next() {
		j.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if j.ask == askNever && j.backups.asked {
		o.Reject("options --backup and --no-clobber are mutually exclusive")
		return o.Status
	}
	if j.backups.finish(o); o.HasEnded() {
		return o.Status
	}
	sources, ok := j.place.settle(o.Args())
	if !ok {
		return 1
	}
	status := 0
	for _, src := range sources {
		if j.strip {
			src = stripSlashes(src)
		}
		dst := j.place.dir
		if j.place.dirGiven {
			dst = pathname.Join(dst, pathname.Base(src))
		}
		if !j.moveOne(src, dst) {
			status = 1
		}
	}
	return j.out.Close(status)
}

func (j *mvJob) option(o *program.Options) {
	switch o.ID {
	case 'f':
		j.ask = askNot
	case 'i':
		j.ask = askUser
	case 'n':
		j.ask = askNever
	case 'T':
		j.place.none = true
	case 't':
		j.place.option(o)
	case 'u':
		j.update = true
	case 'v':
		j.verbose = true
	case cpStrip:
		j.strip = true
	default:
		j.backups.option(o)
	}
}

// moveOne moves one operand; it removes a source that had to be copied.
func (j *mvJob) moveOne(src, dst string) bool {
	if !j.operand(src, dst) {
		return false
	}
	if j.moved {
		return true
	}
	r := &remover{proc: j.proc, out: j.out, recursive: true, ask: askNot, verbose: j.verbose}
	return r.remove(src)
}
