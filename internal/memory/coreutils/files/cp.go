// Package files holds the programs that create, copy, move, remove and change files, and those that work on
// their names.
package files

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func cpCommand() program.Description {
	return program.Description{
		Name: "cp", Usage: "[OPTION]... [-T] SOURCE DEST\n[OPTION]... SOURCE... DIRECTORY\n[OPTION]... -t DIRECTORY SOURCE...",
		Summary: "copy files and directories",
		Help: `  -a, --archive                -dR --preserve=all
      --attributes-only        no content
` + backupHelp + `      --copy-contents          with -R, read named pipes and devices
  -d                           --no-dereference --preserve=links
  -f, --force                  remove a target that cannot be opened
  -i, --interactive            ask before a file is overwritten
  -H                           follow links among the operands
  -l, --link                   hard links instead of copies
  -L, --dereference            follow links
  -n, --no-clobber             overwrite nothing
  -P, --no-dereference         copy links as links
  -p                           --preserve=mode,ownership,timestamps
      --preserve[=LIST]        keep mode, ownership, timestamps, links, context, xattr, all
      --no-preserve=LIST       do not keep them
      --parents                the whole path of SOURCE under DIRECTORY
  -R, -r, --recursive          copy directories with what is in them
      --reflink[=WHEN]         share the blocks: always, auto, never; the tree does so by itself
      --remove-destination     remove a target before it is opened
      --sparse=WHEN            holes in the target: auto, always, never
      --strip-trailing-slashes take slashes from the ends of SOURCEs
  -s, --symbolic-link          symbolic links instead of copies
  -t, --target-directory=DIRECTORY  where to copy to
  -T, --no-target-directory    take DEST for a file
  -u, --update                 only where SOURCE is newer or DEST is missing
  -v, --verbose                say what is done
  -x, --one-file-system        stay on the file system
  -Z, --context[=CONTEXT]      ignored, as on a kernel without security contexts`,
		Run: runCp,
	}
}

const (
	cpAttributes = getopt.First + iota
	cpContents
	cpNoPreserve
	cpParents
	cpPreserve
	cpReflink
	cpSparse
	cpStrip
	cpRemove
)

var cpOptions = append([]getopt.Option{
	{Short: 'a', Long: "archive"},
	{Long: "attributes-only", ID: cpAttributes},
	{Long: "copy-contents", ID: cpContents},
	{Short: 'L', Long: "dereference"},
	{Short: 'f', Long: "force"},
	{Short: 'i', Long: "interactive"},
	{Short: 'l', Long: "link"},
	{Short: 'n', Long: "no-clobber"},
	{Short: 'P', Long: "no-dereference"},
	{Long: "no-preserve", Arg: getopt.Required, ID: cpNoPreserve},
	{Short: 'T', Long: "no-target-directory"},
	{Short: 'x', Long: "one-file-system"},
	{Long: "parents", ID: cpParents},
	{Long: "path", ID: cpParents},
	{Long: "preserve", Arg: getopt.Optional, ID: cpPreserve},
	{Short: 'R', Long: "recursive"},
	{Short: 'r', ID: 'R'},
	{Long: "remove-destination", ID: cpRemove},
	{Long: "sparse", Arg: getopt.Required, ID: cpSparse},
	{Long: "reflink", Arg: getopt.Optional, ID: cpReflink},
	{Long: "strip-trailing-slashes", ID: cpStrip},
	{Short: 's', Long: "symbolic-link"},
	{Short: 't', Long: "target-directory", Arg: getopt.Required},
	{Short: 'u', Long: "update"},
	{Short: 'v', Long: "verbose"},
	{Short: 'd'},
	{Short: 'p'},
	{Short: 'H'},
	{Short: 'Z'},
	{Long: "context", Arg: getopt.Optional, ID: contextOption},
}, backupOptions...)

// cpJob is a run of cp: the copier and where it copies to.
type cpJob struct {
	*copier
	contents bool // --copy-contents
	parents  bool
	reflink  bool
	strip    bool
	place    targetPlace
}

func runCp(p *shell.Proc) int {
	o := program.NewOptions(p, cpCommand, cpOptions)
	j := &cpJob{copier: newCopier(p, program.NewOutput(p)), place: targetPlace{proc: p, describe: cpCommand}}
	for o.Next() {
		if !j.setKeeping(o) && !j.setManner(o) {
			j.backups.option(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if j.finish(o); o.HasEnded() {
		return o.Status
	}
	return j.out.Close(j.run(o.Args()))
}

// keepWords are the attributes that --preserve accepts.
var keepWords = []choice.Choice[byte]{
	{Name: "mode", Value: 'm'},
	{Name: "timestamps", Value: 't'},
	{Name: "ownership", Value: 'o'},
	{Name: "links", Value: 'l'},
	{Name: "context", Value: 'c'},
	{Name: "xattr", Value: 'x'},
	{Name: "all", Value: 'a'},
}

// setKeeping takes the options about the attributes that a copy keeps.
func (j *cpJob) setKeeping(o *program.Options) bool {
	switch o.ID {
	case 'a':
		j.deref, j.recursive = derefNever, true
		j.keep('a', true)
	case 'd':
		j.keepLinks, j.deref = true, derefNever
	case 'H':
		j.deref = derefOperands
	case 'L':
		j.deref = derefAlways
	case 'P':
		j.deref = derefNever
	case 'p':
		j.keepPlain()
	case cpPreserve:
		if !o.HasValue {
			j.keepPlain()
			return true
		}
		j.keepList(o, "--preserve", true)
	case cpNoPreserve:
		j.keepList(o, "--no-preserve", false)
	case cpAttributes:
		j.attributes = true
	case cpContents:
		j.contents = true
	case cpSparse:
		j.sparse = program.Choose(o, "--sparse", o.Value, sparseWords)
	case cpReflink:
		if o.HasValue {
			j.reflink = program.Choose(o, "--reflink", o.Value, []choice.Choice[byte]{{Name: "auto", Value: 't'}, {Name: "always", Value: 'a'}, {Name: "never", Value: 'n'}}) == 'a'
		} else {
			j.reflink = true
		}
	default:
		return false
	}
	return true
}

func (j *cpJob) keepPlain() { j.keepMode, j.keepOwner, j.keepTimes = true, true, true }

func (j *cpJob) keepList(o *program.Options, option string, on bool) {
	for name := range strings.SplitSeq(o.Value, ",") {
		what := program.Choose(o, option, name, keepWords)
		if o.HasEnded() {
			return
		}
		if what == 'c' && on {
			o.RejectQuietly("cannot preserve security context without an SELinux-enabled kernel")
			return
		}
		j.keep(what, on)
	}
}

func (j *cpJob) keep(what byte, on bool) {
	all := what == 'a'
	if all || what == 'm' {
		j.keepMode, j.plainMode = on, !on
	}
	if all || what == 't' {
		j.keepTimes = on
	}
	if all || what == 'o' {
		j.keepOwner = on
	}
	if all || what == 'l' {
		j.keepLinks = on
	}
}

// setManner takes the options about how files are copied.
func (j *cpJob) setManner(o *program.Options) bool {
	switch o.ID {
	case 'f':
		j.force = true
	case 'i':
		j.ask = askUser
	case 'n':
		j.ask = askNever
	case 'l':
		j.hardLink = true
	case 's':
		j.symLink = true
	case cpParents:
		j.parents = true
	case 'R':
		j.recursive = true
	case cpRemove:
		j.removeFirst = true
	case cpStrip:
		j.strip = true
	case 't':
		j.place.option(o)
	case 'T':
		j.place.none = true
	case 'u':
		j.update = true
	case 'v':
		j.verbose = true
	case 'x', 'Z': // There is one file system, without contexts.
	case contextOption:
		if o.HasValue {
			o.Proc.Warn("warning: ignoring --context; it requires an SELinux-enabled kernel")
		}
	default:
		return false
	}
	return true
}

// finish fills in the settings that depend on several options.
func (j *cpJob) finish(o *program.Options) {
	switch {
	case j.hardLink && j.symLink:
		o.Reject("cannot make both hard and symbolic links")
	case j.ask == askNever && j.backups.asked:
		o.Reject("options --backup and --no-clobber are mutually exclusive")
	case j.reflink && j.sparse != sparseAuto:
		o.Reject("--reflink can be used only with --sparse=auto")
	}
	if o.HasEnded() {
		return
	}
	j.backups.finish(o)
	if j.deref == derefUnset {
		j.deref = derefAlways
		if j.recursive && !j.hardLink {
			j.deref = derefNever
		}
	}
	if j.recursive {
		j.asRegular = j.contents
	}
	if j.force && (j.hardLink || j.symLink) {
		j.removeFirst = true
	}
}

func (j *cpJob) run(args []string) int {
	sources, ok := j.place.settle(args)
	if !ok {
		return 1
	}
	if !j.place.dirGiven && j.parents {
		return program.UsageError(j.proc, cpCommand, 1, "with --parents, the destination must be a directory")
	}
	status := 0
	if !j.place.dirGiven {
		if !j.single(sources[0]) {
			status = 1
		}
		return status
	}
	for _, src := range sources {
		if !j.intoDir(src) {
			status = 1
		}
	}
	return status
}

// single copies one operand to a name.
func (j *cpJob) single(src string) bool {
	dst := j.place.dir
	if j.force && j.backups.kind != backupNone && !j.recursive && src == dst {
		// cp -fb a a makes the backup alone.
		if info, err := j.proc.Stat(src); err == nil && info.Mode.IsRegular() {
			dst = j.backups.name(j.proc, src)
			j.backups.kind = backupNone
		}
	}
	return j.operand(src, dst)
}

// intoDir copies one operand into the target directory.
func (j *cpJob) intoDir(src string) bool {
	if j.strip {
		src = stripSlashes(src)
	}
	if j.parents {
		return j.withParents(src)
	}
	base := pathname.Base(src)
	if base == ".." {
		base = "."
	}
	return j.operand(src, pathname.Join(j.place.dir, base))
}

func stripSlashes(path string) string {
	if s := strings.TrimRight(path, "/"); s != "" {
		return s
	}
	return path
}

// withParents makes the directories of an operand's path below the target, then copies.
func (j *cpJob) withParents(src string) bool {
	rel := strings.TrimLeft(stripSlashes(src), "/")
	type made struct{ src, dst string }
	var dirs []made
	for i := 0; i < len(rel); i++ {
		if rel[i] != '/' || i > 0 && rel[i-1] == '/' {
			continue
		}
		from, to := src[:len(src)-len(strings.TrimLeft(src, "/"))]+rel[:i], pathname.Join(j.place.dir, rel[:i])
		fresh, ok := j.parent(from, to)
		if !ok {
			return false
		}
		if fresh || j.keepMode || j.keepOwner || j.keepTimes {
			dirs = append(dirs, made{from, to}) // bounded: by the depth of a path that exists
		}
	}
	ok := j.operand(src, pathname.Join(j.place.dir, rel))
	for _, d := range slices.Backward(dirs) {
		info, err := j.proc.Stat(d.src)
		if err != nil {
			continue
		}
		ok = j.finishAttributes(&copyTask{src: d.src, dst: d.dst, info: info, fresh: true}) && ok
	}
	return ok
}

// parent makes one directory of --parents.
func (j *cpJob) parent(src, dst string) (fresh, ok bool) {
	info, err := j.proc.Stat(src)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		j.proc.Errorf(err, "failed to get attributes of %s", shell.Quote(src))
		return false, false
	}
	old, err := j.proc.Stat(dst)
	if err == nil {
		if !old.IsDir() {
			j.proc.Warn("%s exists but is not a directory", shell.Quote(dst))
			return false, false
		}
		return false, true
	}
	if err := j.proc.Mkdir(dst, info.Mode&fs.ModePerm|0o700); err != nil {
		j.proc.Errorf(err, "cannot make directory %s", shell.Quote(dst))
		return false, false
	}
	if j.verbose {
		j.say(src + " -> " + dst)
	}
	return true, true
}
