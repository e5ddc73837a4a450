package shell

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// messageName is what messages begin with: the script, or $0.
func (sh *interp) messageName() string {
	if s := sh.currentSource(); s != "" && sh.opt&optInteractive == 0 {
		return s
	}
	return sh.name
}

// errorf writes a message of the shell to descriptor 2: "bash: line 3: text".
func (sh *interp) errorf(format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	prefix := sh.messageName() + ": "
	if sh.opt&optInteractive == 0 {
		prefix += "line " + itoa(sh.line) + ": "
	}
	sh.errorRaw(prefix + msg + "\n")
}

// fail writes a message of the running builtin: "bash: line 3: cd: text". It returns 1.
func (sh *interp) fail(format string, args ...any) int {
	sh.errorf("%s: %s", sh.builtinName, fmt.Sprintf(format, args...))
	return 1
}

// usage writes a message about wrong use and how it is right. It returns 2.
func (sh *interp) usage(usage, format string, args ...any) int {
	if format != "" {
		sh.fail(format, args...)
	}
	sh.errorRaw(sh.builtinName + ": usage: " + usage + "\n")
	return 2
}

// errorRaw writes to descriptor 2; that it cannot has no consequence.
func (sh *interp) errorRaw(s string) {
	if d := sh.fds.Get(2); d != nil {
		_, _ = d.Write(sh.ctx, []byte(s))
	}
}

// arithMessage tells what is wrong with an expression.
func (sh *interp) arithMessage(err *arithError) {
	prefix := ""
	if sh.builtinName != "" && !err.fatal {
		prefix = sh.builtinName + ": "
	}
	sh.errorf("%s%s", prefix, err.Error())
}

// out writes to descriptor 1 for a builtin and returns its status: that of success, or what a
// failed write asks for.
func (sh *interp) out(b []byte) int {
	d := sh.fds.Get(1)
	if d == nil {
		return sh.fail("write error: Bad file descriptor")
	}
	if len(b) == 0 {
		return 0
	}
	if len(b) > 64 {
		sh.gas -= len(b) >> 6
	}
	if _, err := d.Write(sh.ctx, b); err != nil {
		return sh.writeFailed(err)
	}
	return 0
}

func (sh *interp) outString(s string) int { return sh.out([]byte(s)) }

// writeFailed is what a failed write does: nobody reads, then the process dies of SIGPIPE unless
// that is ignored.
func (sh *interp) writeFailed(err error) int {
	if sh.ctx.Err() != nil {
		sh.tickSlow()
		return sh.status
	}
	if strings.HasSuffix(Strerror(err), "Broken pipe") && sh.p.Ignored.Load()&(1<<signal.PIPE) == 0 {
		if cmd, ok := sh.traps.get(signal.PIPE); !ok || cmd == "" || sh.trapsInherited {
			sh.dieOf(signal.PIPE)
			return sh.status
		}
		sh.process().Send(signal.PIPE)
	}
	return sh.fail("write error: %s", Strerror(err))
}
