package shell

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/umask"
)

// runSetBuiltin is the set builtin: options, then positional parameters.
func runSetBuiltin(sh *interp, args []string) int {
	if len(args) == 1 {
		return printAllVariables(sh)
	}
	i := 1
	for ; i < len(args); i++ {
		s := args[i]
		if s == "--help" {
			return sh.helpText(args[0])
		}
		if s == "--" {
			return setParameters(sh, args[i+1:])
		}
		if s == "-" {
			sh.opt &^= option.XTrace | option.Verbose
			if i+1 < len(args) {
				return setParameters(sh, args[i+1:])
			}
			return 0
		}
		if s == "+" {
			continue
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			break
		}
		on := s[0] == '-'
		for j := 1; j < len(s); j++ {
			if s[j] == 'o' {
				if i+1 >= len(args) {
					return printOptions(sh, on)
				}
				i++
				if !sh.setNamed(args[i], on) {
					return 2
				}
				continue
			}
			b := option.ByLetter(s[j])
			if s[j] == 'r' {
				if b = option.Restricted; !on && sh.isRestricted() {
					return min(sh.badOption("+r"), 1)
				}
			}
			if b == 0 {
				return sh.badOption(s[:1] + s[j:j+1])
			}
			sh.setOption(b, on)
		}
	}
	if i < len(args) {
		return setParameters(sh, args[i:])
	}
	return 0
}

// setParameters sets the positional parameters.
func setParameters(sh *interp, list []string) int {
	n := 0
	for _, s := range list {
		n += 16 + len(s)
	}
	if n < lightText {
		n = 0
	}
	if n != sh.paramsCharged {
		if !sh.charge(n - sh.paramsCharged) {
			return sh.status
		}
		sh.paramsCharged = n
	}
	sh.params = append([]string(nil), list...)
	sh.setParams = true
	return 0
}

func (v *settings) setNamed(name string, on bool) bool {
	b := option.ByName(name)
	if b == 0 {
		v.sh.fail("%s: invalid option name", name)
		return false
	}
	v.setOption(b, on)
	return true
}

func (v *settings) setOption(b option.Set, on bool) {
	if b == option.Monitor && v.sh.ownProcess {
		v.sh.p.Monitors.Store(on)
	}
	if !on {
		v.sh.opt &^= b
		switch b {
		case option.Posix:
			v.unsetVar(slotPOSIXLY)
		case option.IgnoreEOF:
			v.unsetVar(slotIGNOREEOF)
		default:
		}
		return
	}
	v.sh.opt |= b
	switch b {
	case option.IgnoreEOF:
		v.assign(slotIGNOREEOF, "10")
	case option.Vi:
		v.sh.opt &^= option.Emacs
	case option.Emacs:
		v.sh.opt &^= option.Vi
	case option.Posix:
		v.sh.shopt |= shopt.ExpandAliases
		if _, set := v.value(slotPOSIXLY); !set {
			v.assign(slotPOSIXLY, "y")
		}
	default:
	}
}

// printOptions is set -o and set +o.
func printOptions(sh *interp, human bool) int {
	var b strings.Builder
	for _, o := range option.Settings {
		on := sh.opt&o.Bit != 0
		switch {
		case human:
			state := "off"
			if on {
				state = "on"
			}
			fmt.Fprintf(&b, "%-15s\t%s\n", o.Name, state)
		case on:
			b.WriteString("set -o " + o.Name + "\n")
		default:
			b.WriteString("set +o " + o.Name + "\n")
		}
	}
	return sh.outString(b.String())
}

// runShoptBuiltin is shopt.
func runShoptBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "pqsuo")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	for _, f := range list {
		on[f.c] = true
	}
	if on['s'] && on['u'] {
		return sh.fail("cannot set and unset shell options simultaneously")
	}
	if len(rest) == 0 {
		return printShopts(sh, on)
	}
	st = 0
	var b strings.Builder
	for _, name := range rest {
		if !applyShopt(sh, name, on, &b, &st) {
			sh.fail("%s: invalid %s", name, map[bool]string{true: "option name", false: "shell option name"}[on['o']])
			if !on['o'] || !on['s'] && !on['u'] { // With both options, bash loses the failure status.
				st = 1
			}
		}
	}
	if b.Len() > 0 {
		st = max(st, sh.outString(b.String()))
	}
	return st
}

// applyShopt sets, asks or prints one option; false: there is none of that name.
func applyShopt(sh *interp, name string, on map[byte]bool, b *strings.Builder, st *int) bool {
	var state bool
	if on['o'] {
		bit := option.ByName(name)
		if bit == 0 {
			return false
		}
		if on['s'] || on['u'] {
			sh.setOption(bit, on['s'])
			return true
		}
		state = sh.opt&bit != 0
	} else {
		bit := shopt.ByName(name)
		if bit == 0 {
			return false
		}
		if bit == shopt.RestrictedShell {
			bit = 0 // Only set -r can change it.
		}
		if on['s'] {
			sh.shopt |= bit
			return true
		}
		if on['u'] {
			sh.shopt &^= bit
			return true
		}
		state = sh.shopt&bit != 0 || name == "restricted_shell" && sh.isRestricted()
	}
	if !state {
		*st = 1
	}
	if !on['q'] {
		b.WriteString(optionLine(name, state, lineStyle{reusable: on['p'], isSet: on['o']}))
	}
	return true
}

// lineStyle says how shopt prints an option.
type lineStyle struct {
	reusable bool // -p: as a command
	isSet    bool // -o: an option of set
}

// optionLine returns the line of an option.
func optionLine(name string, on bool, style lineStyle) string {
	if !style.reusable {
		state := "off"
		if on {
			state = "on"
		}
		return fmt.Sprintf("%-15s\t%s\n", name, state)
	}
	command := [2]string{"shopt -u ", "shopt -s "}
	if style.isSet {
		command = [2]string{"set +o ", "set -o "}
	}
	if on {
		return command[1] + name + "\n"
	}
	return command[0] + name + "\n"
}

func printShopts(sh *interp, on map[byte]bool) int {
	var b strings.Builder
	line := func(name string, state bool) {
		if on['s'] && !state || on['u'] && state {
			return
		}
		b.WriteString(optionLine(name, state, lineStyle{reusable: on['p'], isSet: on['o']})) // bounded: by the number of options
	}
	if on['o'] {
		for _, o := range option.Settings {
			line(o.Name, sh.opt&o.Bit != 0)
		}
	} else {
		for i, name := range shopt.Names {
			line(name, sh.shopt&(1<<i) != 0 || name == "restricted_shell" && sh.isRestricted())
		}
	}
	if on['q'] {
		return 0
	}
	return sh.outString(b.String())
}

// ulimitValue returns a limit as ulimit prints it, "" for an unknown resource.
func (s *processState) ulimitValue(resource byte, hard bool) string {
	return s.rlimit.Value(resource, hard, s.m.rlimits())
}

func runUlimitBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "SHacdefiklmnpqrstuvxRTPb")
	if st >= 0 {
		return st
	}
	which := byte('f')
	soft, hard := false, false
	for _, f := range list {
		switch f.c {
		case 'S':
			soft = true
		case 'H':
			hard = true
		case 'a':
			return printLimits(sh, hard)
		default:
			which = f.c
		}
	}
	if sh.ulimitValue(which, false) == "" {
		return sh.fail("-%c: limit not supported here", which)
	}
	if len(rest) == 0 {
		return sh.outString(sh.ulimitValue(which, hard && !soft) + "\n")
	}
	if len(rest) > 1 {
		return sh.fail("too many arguments")
	}
	if !soft && !hard {
		soft, hard = true, true
	}
	limits, err := sh.rlimit.Set(rlimit.Change{Resource: which, Value: rest[0], Soft: soft, Hard: hard}, sh.m.rlimits())
	if err != nil {
		return sh.fail("%s", err)
	}
	sh.rlimit = limits
	return 0
}

func printLimits(sh *interp, hard bool) int {
	var b strings.Builder
	for _, r := range rlimit.Resources {
		fmt.Fprintf(&b, "%-20s %20s %s\n", r.Name, "("+r.Unit+")", sh.ulimitValue(r.Letter, hard))
	}
	return sh.outString(b.String())
}

// runTimesBuiltin prints the time since the shell began; the machine does not measure processor time.
func runTimesBuiltin(sh *interp, _ []string) int {
	took := sh.m.now().Unix() - sh.start
	return sh.outString(fmt.Sprintf("%dm%d.000s 0m0.000s\n0m0.000s 0m0.000s\n", took/60, took%60))
}

// runUmaskBuiltin shows or sets the mask.
func runUmaskBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "pS")
	if st >= 0 {
		return st
	}
	symbolic, reusable := false, false
	for _, f := range list {
		symbolic = symbolic || f.c == 'S'
		reusable = reusable || f.c == 'p'
	}
	if len(rest) > 0 {
		mask, err := umask.Parse(rest[0], sh.umask)
		if err != nil {
			return sh.fail("%s", err)
		}
		if sh.umask = mask; !symbolic {
			return 0
		}
		return sh.outString(umask.Symbolic(sh.umask) + "\n")
	}
	text := fmt.Sprintf("%04o", uint32(sh.umask))
	if symbolic {
		text = umask.Symbolic(sh.umask)
	}
	if reusable {
		text = map[bool]string{false: "umask ", true: "umask -S "}[symbolic] + text
	}
	return sh.outString(text + "\n")
}
