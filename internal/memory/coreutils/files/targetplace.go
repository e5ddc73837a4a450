package files

import (
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// targetPlace is the destination of cp, mv and install: a directory, or a name.
type targetPlace struct {
	proc     *shell.Proc
	describe func() program.Description
	dir      string // the directory if dirGiven, else the name
	dirGiven bool
	none     bool // -T
}

// option takes -t.
func (t *targetPlace) option(o *program.Options) {
	if t.dirGiven {
		o.RejectQuietly("multiple target directories specified")
		return
	}
	t.dir, t.dirGiven = o.Value, true
}

// settle examines the last operand, and returns the others; not ok after a message.
func (t *targetPlace) settle(args []string) (sources []string, ok bool) {
	least := 2
	if t.dirGiven {
		least = 1
	}
	if len(args) < least {
		if len(args) == 0 {
			program.UsageError(t.proc, t.describe, 1, "missing file operand")
		} else {
			program.UsageError(t.proc, t.describe, 1, "missing destination file operand after %s", shell.Quote(args[0]))
		}
		return nil, false
	}
	if t.none {
		switch {
		case t.dirGiven:
			t.proc.Warn("cannot combine --target-directory (-t) and --no-target-directory (-T)")
			return nil, false
		case len(args) > 2:
			program.UsageError(t.proc, t.describe, 1, "extra operand %s", shell.Quote(args[2]))
			return nil, false
		}
		t.dir = args[1]
		return args[:1], true
	}
	if t.dirGiven {
		if err := t.mustBeDir(t.dir); err != nil {
			words := "target directory %s"
			if t.proc.Name() == "install" {
				words = "failed to access %s"
			}
			t.proc.Errorf(err, words, shell.Quote(t.dir))
			return nil, false
		}
		return args, true
	}
	last := args[len(args)-1]
	t.dir = last
	err := t.mustBeDir(last)
	if t.dirGiven = err == nil; !t.dirGiven && len(args) > 2 {
		t.proc.Errorf(err, "target %s", shell.Quote(last))
		return nil, false
	}
	return args[:len(args)-1], true
}

func (t *targetPlace) mustBeDir(path string) error {
	info, err := t.proc.Stat(path)
	if err == nil && !info.IsDir() {
		return syscall.ENOTDIR
	}
	return err
}
