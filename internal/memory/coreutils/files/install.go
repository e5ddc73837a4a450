package files

import (
	"bytes"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func installCommand() program.Description {
	return program.Description{
		Name: "install", Usage: "[OPTION]... [-T] SOURCE DEST\n[OPTION]... SOURCE... DIRECTORY\n[OPTION]... -t DIRECTORY SOURCE...\n[OPTION]... -d DIRECTORY...",
		Summary: "copy files and set their permissions, or make directories with -d",
		Help: backupHelp + `  -c                           ignored
  -C, --compare                leave a target that is the same already
  -d, --directory              make directories
  -D                           make the directories above the target
  -g, --group=GROUP            the group of the target
  -m, --mode=MODE              its permissions, as for chmod; rwxr-xr-x without this
  -o, --owner=OWNER            its owner
  -p, --preserve-timestamps    the source's times
  -s, --strip                  refused: there is nothing that could strip
      --strip-program=PROGRAM  accepted
  -t, --target-directory=DIRECTORY  where to copy to
  -T, --no-target-directory    take DEST for a file
  -v, --verbose                say what is done
      --preserve-context, -Z, --context[=CTX]  ignored, as on a kernel without security contexts`,
		Run: runInstall,
	}
}

const (
	installStrip = getopt.First + iota
	installContext
)

var installOptions = append([]getopt.Option{
	{Short: 'c'},
	{Short: 'C', Long: "compare"},
	{Short: 's', Long: "strip"},
	{Short: 'd', Long: "directory"},
	{Short: 'D'},
	{Short: 'm', Long: "mode", Arg: getopt.Required},
	{Short: 'o', Long: "owner", Arg: getopt.Required},
	{Short: 'g', Long: "group", Arg: getopt.Required},
	{Short: 'p', Long: "preserve-timestamps"},
	{Short: 't', Long: "target-directory", Arg: getopt.Required},
	{Short: 'T', Long: "no-target-directory"},
	{Short: 'v', Long: "verbose"},
	{Short: 'Z'},
	{Long: "strip-program", Arg: getopt.Required, ID: installStrip},
	{Long: "preserve-context", ID: installContext},
	{Long: "context", Arg: getopt.Optional, ID: contextOption},
}, backupOptions...)

// installJob is a run of install.
type installJob struct {
	*copier
	accounts     *accounts.Database
	place        targetPlace
	mode         string
	change       filemode.Change
	owner, group string
	uid, gid     *uint32
	dirs, above  bool
	compare      bool
	stamps       bool
	strip        bool
}

func runInstall(p *shell.Proc) int {
	o := program.NewOptions(p, installCommand, installOptions)
	j := &installJob{
		copier: newCopier(p, program.NewOutput(p)), accounts: accounts.New(p), mode: "755",
		place: targetPlace{proc: p, describe: installCommand},
	}
	j.removeFirst, j.deref = true, derefAlways
	for o.Next() {
		j.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if j.backups.finish(o); o.HasEnded() {
		return o.Status
	}
	if !j.settle() {
		return 1
	}
	return j.out.Close(j.run(o.Args()))
}

func (j *installJob) option(o *program.Options) {
	switch o.ID {
	case 'C':
		j.compare = true
	case 'd':
		j.dirs = true
	case 'D':
		j.above = true
	case 'm':
		j.mode = o.Value
	case 'o':
		j.owner = o.Value
	case 'g':
		j.group = o.Value
	case 'p':
		j.stamps = true
	case 's':
		j.strip = true
	case 't':
		j.place.option(o)
	case 'T':
		j.place.none = true
	case 'v':
		j.verbose = true
	case contextOption:
		if o.HasValue {
			o.Proc.Warn("warning: ignoring --context; it requires an SELinux-enabled kernel")
		}
	case 'c', 'Z', installStrip, installContext:
	default:
		j.backups.option(o)
	}
}

// settle reads the mode and the owner.
func (j *installJob) settle() bool {
	switch {
	case j.dirs && j.strip:
		j.proc.Warn("the strip option may not be used when installing a directory")
		return false
	case j.dirs && j.place.dirGiven:
		j.proc.Warn("target directory not allowed when installing a directory")
		return false
	case j.strip:
		j.proc.Warn("cannot run strip: No such file or directory")
		return false
	}
	var ok bool
	if j.change, ok = filemode.Parse(j.mode); !ok {
		j.proc.Warn("invalid mode %s", quoting.Name(j.mode))
		return false
	}
	bits, _ := j.change.Apply(0, false, 0)
	j.setMode = &bits
	if j.owner != "" {
		id, ok := j.accounts.UserID(j.owner)
		if !ok {
			j.proc.Warn("invalid user %s", quoting.Name(j.owner))
			return false
		}
		j.uid = &id
	}
	if j.group != "" {
		id, ok := j.accounts.GroupID(j.group)
		if !ok {
			j.proc.Warn("invalid group %s", quoting.Name(j.group))
			return false
		}
		j.gid = &id
	}
	return true
}

func (j *installJob) run(args []string) int {
	status := 0
	if j.dirs {
		if len(args) == 0 {
			return program.UsageError(j.proc, installCommand, 1, "missing file operand")
		}
		for _, dir := range args {
			if !j.makeDir(dir) {
				status = 1
			}
		}
		return status
	}
	if j.above && len(args) > 0 && !j.makeAbove(args) {
		return 1
	}
	sources, ok := j.place.settle(args)
	if !ok {
		return 1
	}
	for _, src := range sources {
		dst := j.place.dir
		if j.place.dirGiven {
			dst = pathname.Join(dst, pathname.Base(src))
		}
		if !j.install(src, dst) {
			status = 1
		}
	}
	return status
}

func (j *installJob) maker() *dirMaker {
	return &dirMaker{proc: j.proc, out: j.out, verbose: j.verbose, words: "creating directory "}
}

// makeAbove makes the directories of -D.
func (j *installJob) makeAbove(args []string) bool {
	dir := ""
	switch {
	case j.place.dirGiven:
		dir = j.place.dir + "/x"
	case len(args) < 2:
		return true
	default:
		dir = args[len(args)-1]
	}
	return j.maker().makeParents(dir)
}

func (j *installJob) makeDir(dir string) bool {
	if !j.maker().make(dir, true) {
		return false
	}
	return j.setOwner(dir) && j.setBits(dir)
}

func (j *installJob) setBits(path string) bool {
	info, err := j.proc.Stat(path)
	if err == nil {
		bits, meant := j.change.Apply(0, info.IsDir(), 0)
		if info.IsDir() {
			bits = bits&meant | filemode.Bits(info.Mode)&^meant&(filemode.SetuidBit|filemode.SetgidBit)
		}
		err = j.proc.Chmod(path, filemode.FromBits(bits))
	}
	if err != nil {
		j.proc.Errorf(err, "cannot change permissions of %s", shell.Quote(path))
		return false
	}
	return true
}

func (j *installJob) setOwner(path string) bool {
	if j.uid == nil && j.gid == nil {
		return true
	}
	info, err := j.proc.Stat(path)
	if err == nil {
		uid, gid := info.UID, info.GID
		if j.uid != nil {
			uid = *j.uid
		}
		if j.gid != nil {
			gid = *j.gid
		}
		err = j.proc.Chown(path, uid, gid, true)
	}
	if err != nil {
		j.proc.Errorf(err, "cannot change ownership of %s", shell.Quote(path))
		return false
	}
	return true
}

func (j *installJob) install(src, dst string) bool {
	if j.compare && j.isSame(src, dst) {
		return true
	}
	info, err := j.proc.Stat(src)
	if err == nil && info.IsDir() {
		j.proc.Warn("omitting directory %s", shell.Quote(src))
		return false
	}
	if !j.operand(src, dst) {
		return false
	}
	if j.stamps && err == nil {
		if err := j.proc.Chtimes(dst, info.Atime, info.Mtime, true); err != nil {
			j.proc.Errorf(err, "cannot set timestamps for %s", shell.Quote(dst))
			return false
		}
	}
	return j.setOwner(dst) && j.setBits(dst)
}

// isSame reports whether the target needs no change for -C.
func (j *installJob) isSame(src, dst string) bool {
	a, err := j.proc.Lstat(src)
	if err != nil {
		return false
	}
	b, err := j.proc.Lstat(dst)
	if err != nil || !a.Mode.IsRegular() || !b.Mode.IsRegular() || a.Size != b.Size || filemode.Bits(b.Mode) != *j.setMode {
		return false
	}
	uid, gid := j.proc.Cred().UID, j.proc.Cred().GID
	if j.uid != nil {
		uid = *j.uid
	}
	if j.gid != nil {
		gid = *j.gid
	}
	return b.UID == uid && b.GID == gid && j.equal(src, dst)
}

func (j *installJob) equal(src, dst string) bool {
	a, err := j.proc.Open(src)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := j.proc.Open(dst)
	if err != nil {
		return false
	}
	defer b.Close()
	return hasEqualContent(j.proc, a, b)
}

func hasEqualContent(p *shell.Proc, a, b *vfs.File) bool {
	x, y := make([]byte, program.BufferSize), make([]byte, program.BufferSize)
	for {
		n, err := io.ReadFull(a, x)
		m, _ := io.ReadFull(b, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) || p.Spend(n/64+1) != nil {
			return false
		}
		if err != nil {
			return program.IsEnd(err) || n < len(x)
		}
	}
}
