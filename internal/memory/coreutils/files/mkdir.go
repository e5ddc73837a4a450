package files

import (
	"io/fs"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func mkdirCommand() program.Description {
	return program.Description{
		Name: "mkdir", Usage: "[OPTION]... DIRECTORY...",
		Summary: "make directories",
		Help: `  -m, --mode=MODE  permissions as for chmod, instead of a=rwx less the umask
  -p, --parents    make parents too; an existing directory is not an error
  -v, --verbose    say what is made
  -Z, --context[=CONTEXT]  not supported here; ignored with a warning as on a kernel without it`,
		Run: runMkdir,
	}
}

const contextOption = getopt.First + 99

var mkdirOptions = []getopt.Option{
	{Short: 'm', Long: "mode", Arg: getopt.Required},
	{Short: 'p', Long: "parents"},
	{Short: 'v', Long: "verbose"},
	{Short: 'Z'},
	{Long: "context", Arg: getopt.Optional, ID: contextOption},
}

// warnContext prints GNU's warning on a kernel without security contexts.
func warnContext(o *program.Options) {
	if o.HasValue {
		o.Proc.Warn("warning: ignoring --context; it requires an SELinux/SMACK-enabled kernel")
	}
}

// dirMaker makes directories for mkdir, install -d and cp --parents.
type dirMaker struct {
	proc    *shell.Proc
	out     *program.Output
	mode    filemode.Change // nil: the umask decides
	verbose bool
	words   string // the message about a directory; "" is that of mkdir
}

func runMkdir(p *shell.Proc) int {
	o := program.NewOptions(p, mkdirCommand, mkdirOptions)
	d := dirMaker{proc: p, out: program.NewOutput(p)}
	parents := false
	for o.Next() {
		switch o.ID {
		case 'm':
			var ok bool
			if d.mode, ok = filemode.Parse(o.Value); !ok {
				o.RejectQuietly("invalid mode %s", quoting.Name(o.Value))
			}
		case 'p':
			parents = true
		case 'v':
			d.verbose = true
		case contextOption:
			warnContext(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, mkdirCommand, o.Args(), 1, -1) {
		return 1
	}
	status := 0
	for _, name := range o.Args() {
		if !d.make(name, parents) {
			status = 1
		}
	}
	return d.out.Close(status)
}

func (d *dirMaker) make(name string, parents bool) bool {
	if parents && !d.makeParents(name) {
		return false
	}
	err := d.create(name)
	if err == nil {
		d.say(name)
		return true
	}
	if parents && name != "" {
		if info, e := d.proc.Stat(name); e == nil && info.IsDir() {
			return true
		}
	}
	d.proc.Errorf(err, "cannot create directory %s", quoting.Name(name))
	return false
}

func (d *dirMaker) say(name string) {
	if d.verbose {
		words := d.words
		if words == "" {
			words = "created directory "
		}
		_, _ = d.out.WriteString(d.proc.Name() + ": " + words + shell.Quote(name) + "\n") // The error stays in out.
	}
}

// create makes the directory with the permissions of -m, or those that the umask leaves.
func (d *dirMaker) create(name string) error {
	if d.mode == nil {
		return d.proc.Mkdir(name, 0o777)
	}
	bits, meant := d.mode.Apply(0o777, true, uint32(d.proc.Umask()))
	first := bits
	if meant&(filemode.SetuidBit|filemode.SetgidBit) != 0 || bits&filemode.StickyBit != 0 {
		// No other user may write until the special bits are right.
		first &^= 0o022
	}
	if err := d.proc.FS().Mkdir(d.proc.Cred(), d.proc.Abs(name), filemode.FromBits(first&^(filemode.SetuidBit|filemode.SetgidBit))); err != nil {
		return err
	}
	info, err := d.proc.Stat(name)
	if now := filemode.Bits(info.Mode); err == nil && (now^bits)&meant != 0 {
		err = d.proc.Chmod(name, filemode.FromBits(bits|now&^meant))
	}
	if err != nil {
		d.proc.Errorf(err, "cannot set permissions of %s", quoting.Name(name))
	}
	return nil
}

// makeParents makes the missing directories above name, with write and search for the owner.
func (d *dirMaker) makeParents(name string) bool {
	for i := 0; i < len(name); {
		for i < len(name) && name[i] == '/' {
			i++
		}
		j := strings.IndexByte(name[i:], '/')
		if j < 0 || strings.Trim(name[i+j:], "/") == "" {
			return true
		}
		i += j
		if !d.makeParent(name[:i]) {
			return false
		}
	}
	return true
}

func (d *dirMaker) makeParent(dir string) bool {
	if info, err := d.proc.Stat(dir); err == nil {
		if info.IsDir() {
			return true
		}
		d.proc.Errorf(syscall.ENOTDIR, "cannot create directory %s", quoting.Name(dir))
		return false
	}
	err := d.proc.FS().Mkdir(d.proc.Cred(), d.proc.Abs(dir), fs.FileMode(0o777)&^d.proc.Umask()|0o300)
	if err != nil {
		d.proc.Errorf(err, "cannot create directory %s", quoting.Name(dir))
		return false
	}
	d.say(dir)
	return true
}
