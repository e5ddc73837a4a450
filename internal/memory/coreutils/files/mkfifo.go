package files

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func mkfifoCommand() program.Description {
	return program.Description{
		Name: "mkfifo", Usage: "[OPTION]... NAME...",
		Summary: "make named pipes",
		Help: `  -m, --mode=MODE  permissions as for chmod, instead of a=rw less the umask
  -Z, --context[=CONTEXT]  ignored, as on a kernel without security contexts`,
		Run: runMkfifo,
	}
}

var mkfifoOptions = []getopt.Option{
	{Short: 'm', Long: "mode", Arg: getopt.Required},
	{Short: 'Z'},
	{Long: "context", Arg: getopt.Optional, ID: contextOption},
}

func runMkfifo(p *shell.Proc) int {
	o := program.NewOptions(p, mkfifoCommand, mkfifoOptions)
	var mode filemode.Change
	for o.Next() {
		switch o.ID {
		case 'm':
			var ok bool
			if mode, ok = filemode.Parse(o.Value); !ok {
				o.RejectQuietly("invalid mode")
			}
		case contextOption:
			warnContext(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, mkfifoCommand, o.Args(), 1, -1) {
		return 1
	}
	bits := uint32(0o666)
	if mode != nil {
		if bits, _ = mode.Apply(bits, false, uint32(p.Umask())); bits&^0o777 != 0 {
			p.Warn("mode must specify only file permission bits")
			return 1
		}
	}
	status := 0
	for _, name := range o.Args() {
		err := p.Mkfifo(name, 0o666)
		if err != nil {
			p.Errorf(err, "cannot create fifo %s", shell.Quote(name))
			status = 1
			continue
		}
		if mode == nil {
			continue
		}
		if err := p.Chmod(name, filemode.FromBits(bits)); err != nil {
			p.Errorf(err, "cannot set permissions of %s", shell.Quote(name))
			status = 1
		}
	}
	return status
}
