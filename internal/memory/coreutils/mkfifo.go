package coreutils

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func mkfifoCommand() description {
	return description{
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
	o := newOptions(p, mkfifoCommand, mkfifoOptions)
	var mode modeChange
	for o.Next() {
		switch o.ID {
		case 'm':
			var ok bool
			if mode, ok = parseMode(o.Value); !ok {
				o.RejectQuietly("invalid mode")
			}
		case contextOption:
			warnContext(o)
		}
	}
	if o.Ended() {
		return o.Status
	}
	if !checkOperands(p, mkfifoCommand, o.Args(), 1, -1) {
		return 1
	}
	bits := uint32(0o666)
	if mode != nil {
		if bits, _ = mode.apply(bits, false, uint32(p.Umask())); bits&^0o777 != 0 {
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
		if err := p.Chmod(name, bitsMode(bits)); err != nil {
			p.Errorf(err, "cannot set permissions of %s", shell.Quote(name))
			status = 1
		}
	}
	return status
}
