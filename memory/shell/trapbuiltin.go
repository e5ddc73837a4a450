package shell

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// trap sets, resets and lists traps.
func (sh *interp) trap(args []string) int {
	list, rest, st := sh.flags2(args, "lp")
	if st >= 0 {
		return st
	}
	print := false
	for _, f := range list {
		if f.c == 'l' {
			return sh.outString(signal.Table())
		}
		print = true
	}
	if print || len(rest) == 0 {
		return sh.printTraps(rest)
	}
	action := &rest[0]
	names := rest[1:]
	switch {
	case len(names) == 0:
		// One operand: "trap INT" resets, also "trap 0".
		if trapNumber(rest[0]) < 0 {
			return sh.usage(sh.usageOf(), "")
		}
		names, action = rest, nil
	case *action == "-":
		action = nil
	case isDigits(*action) && trapNumber(*action) >= 0:
		names, action = rest, nil
	}
	st = 0
	for _, n := range names {
		sig := trapNumber(n)
		if sig < 0 {
			st = sh.fail("%s: invalid signal specification", n)
			continue
		}
		if sig == signal.KILL || sig == signal.STOP {
			continue
		}
		sh.setTrap(sig, action)
	}
	return st
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// trapNumber understands signals and the names of pseudo signals.
func trapNumber(s string) int {
	switch strings.ToUpper(s) {
	case "EXIT", "SIGEXIT":
		return trapExit
	case "ERR", "SIGERR":
		return trapErr
	case "DEBUG", "SIGDEBUG":
		return trapDebug
	case "RETURN", "SIGRETURN":
		return trapReturn
	}
	return signal.Number(s)
}

func (sh *interp) trapName(n int) string {
	switch n {
	case trapExit:
		return "EXIT"
	case trapErr:
		return "ERR"
	case trapDebug:
		return "DEBUG"
	case trapReturn:
		return "RETURN"
	}
	if sh.opt&optPosix != 0 {
		return signal.Name(n)
	}
	return "SIG" + signal.Name(n)
}

func (sh *interp) printTraps(names []string) int {
	var want []int
	st := 0
	for _, n := range names {
		sig := trapNumber(n)
		if sig < 0 {
			st = sh.fail("%s: invalid signal specification", n)
			continue
		}
		want = append(want, sig)
	}
	if len(names) == 0 && sh.traps != nil {
		for n := range sh.traps.cmds {
			want = append(want, n)
		}
		slices.Sort(want)
	}
	var b strings.Builder
	for _, n := range want {
		if cmd, ok := sh.traps.get(n); ok {
			b.WriteString("trap -- '" + strings.ReplaceAll(cmd, "'", `'\''`) + "' " + sh.trapName(n) + "\n")
		}
	}
	return max(st, sh.outString(b.String()))
}
