package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// liveJobs are the jobs that have a number, those that have ended and were not told of too.
func (sh *interp) liveJobs() []*job {
	var list []*job
	for _, j := range sh.jobsOf().list {
		if j.id > 0 && !j.gone() && !j.told {
			list = append(list, j)
		}
	}
	return list
}

func (sh *interp) jobsBuiltin(args []string) int {
	list, rest, st := sh.flags2(args, "lnprsx")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	for _, f := range list {
		on[f.c] = true
	}
	jobs := sh.liveJobs()
	if len(rest) > 0 {
		jobs = nil
		for _, spec := range rest {
			j, msg := sh.findJob(spec)
			if j == nil {
				st = sh.fail("%s: %s", spec, msg)
				continue
			}
			jobs = append(jobs, j)
		}
	}
	var b strings.Builder
	all := sh.liveJobs()
	for _, j := range jobs {
		ended, stopped := j.ended(), j.isStopped()
		if on['r'] && (ended || stopped) || on['s'] && !stopped {
			continue
		}
		if on['p'] {
			b.WriteString(strconv.Itoa(j.p.PID) + "\n")
			continue
		}
		b.WriteString(sh.jobLine(j, all, on['l']))
		if ended {
			j.told = true
			sh.reap(j)
		}
	}
	return max(st, 0, sh.outString(b.String()))
}

// jobLine is a line of jobs.
func (sh *interp) jobLine(j *job, all []*job, long bool) string {
	mark := " "
	if n := len(all); n > 0 && all[n-1] == j {
		mark = "+"
	} else if n > 1 && all[n-2] == j {
		mark = "-"
	}
	state, tail := "Running", " &"
	switch {
	case j.ended() && j.p.Status == 0:
		state, tail = "Done", ""
	case j.ended() && j.p.Status > 128 && signal.Text(j.p.Status-128) != "":
		state, tail = signal.Text(j.p.Status-128), ""
	case j.ended():
		state, tail = "Exit "+strconv.Itoa(j.p.Status), ""
	case j.isStopped():
		state, tail = "Stopped", ""
	}
	pid := ""
	if long {
		pid = strconv.Itoa(j.p.PID) + " "
	}
	return fmt.Sprintf("[%d]%s  %s%-24s%s%s\n", j.id, mark, pid, state, strings.TrimSuffix(j.text, " &"), tail)
}

// jobArg returns the job that the operand names, the current one without.
func (sh *interp) jobArg(args []string) *job {
	spec := "%%"
	if len(args) > 0 {
		spec = args[0]
	}
	j, msg := sh.findJob(spec)
	if j == nil {
		if len(args) == 0 {
			spec = "current"
		}
		sh.fail("%s: %s", spec, msg)
	}
	return j
}

func (sh *interp) fg(args []string) int {
	_, rest, st := sh.flags2(args, "-")
	if st >= 0 {
		return st
	}
	if sh.opt&optMonitor == 0 {
		return sh.fail("no job control")
	}
	j := sh.jobArg(rest)
	if j == nil {
		return 1
	}
	sh.outString(strings.TrimSuffix(j.text, " &") + "\n")
	j.p.Resume()
	st, _ = sh.waitFor(j.p)
	j.told = true
	sh.reap(j)
	return st
}

func (sh *interp) bg(args []string) int {
	_, rest, st := sh.flags2(args, "-")
	if st >= 0 {
		return st
	}
	if sh.opt&optMonitor == 0 {
		return sh.fail("no job control")
	}
	j := sh.jobArg(rest)
	if j == nil {
		return 1
	}
	if !j.isStopped() {
		sh.fail("job %d already in background", j.id)
		return 0
	}
	j.p.Resume()
	return sh.outString(fmt.Sprintf("[%d]+ %s &\n", j.id, strings.TrimSuffix(j.text, " &")))
}

func (sh *interp) disown(args []string) int {
	list, rest, st := sh.flags2(args, "har")
	if st >= 0 {
		return st
	}
	t := sh.jobsOf()
	keep := false // -h: they stay, without a hangup, which nobody sends here
	for _, f := range list {
		keep = keep || f.c == 'h'
		if f.c == 'a' && len(rest) == 0 && !keep {
			t.list = nil
			return 0
		}
	}
	if len(rest) == 0 {
		rest = []string{"current"}
	}
	st = 0
	for _, spec := range rest {
		name := spec
		if spec == "current" {
			name = "%%"
		}
		j, msg := sh.findJob(name)
		if j == nil {
			st = sh.fail("%s: %s", spec, msg)
			continue
		}
		if keep {
			continue
		}
		t.list = slices.DeleteFunc(t.list, func(k *job) bool { return k == j })
	}
	return st
}

func (sh *interp) suspend([]string) int { return sh.fail("cannot suspend: no job control") }

// waitBuiltin waits for processes.
func (sh *interp) waitBuiltin(args []string) int {
	list, rest, st := sh.flags2(args, "fnp:")
	if st >= 0 {
		return st
	}
	next, name := false, ""
	for _, f := range list {
		switch f.c {
		case 'n':
			next = true
		case 'p':
			name = f.arg
		}
	}
	if name != "" && isName(name) {
		sh.unsetVar(sh.slot(name))
	}
	if next {
		return sh.waitNext(rest, name)
	}
	if len(rest) == 0 {
		return sh.waitAllJobs()
	}
	for _, spec := range rest {
		if st = sh.waitOne(spec, name); sh.ctl != ctlNone {
			return sh.status
		}
	}
	return st
}

func (sh *interp) waitOne(spec, name string) int {
	if !strings.HasPrefix(spec, "%") && !isDigits(spec) {
		sh.fail("`%s': not a pid or valid job spec", spec)
		return 1
	}
	j, msg := sh.findJob(spec)
	if j == nil {
		if isDigits(spec) {
			sh.fail("pid %s is not a child of this shell", spec)
		} else {
			sh.fail("%s: %s", spec, msg)
		}
		return 127
	}
	st, interrupted := sh.waitFor(j.p)
	if interrupted {
		return st
	}
	sh.reap(j)
	if name != "" {
		sh.assignNamed(name, strconv.Itoa(j.p.PID))
	}
	return st
}

// waitAllJobs waits for all jobs and forgets them.
func (sh *interp) waitAllJobs() int {
	t := sh.jobsOf()
	for _, j := range t.list {
		if j.id == 0 && j.p.PID != sh.lastBg {
			continue // Of process substitutions only the last counts.
		}
		if st, interrupted := sh.waitFor(j.p); interrupted {
			return st
		}
		sh.reap(j)
	}
	t.list = nil
	return 0
}

// waitNext is wait -n: the next one of the jobs that ends.
func (sh *interp) waitNext(specs []string, name string) int {
	var jobs []*job
	for _, j := range sh.jobsOf().list {
		if len(specs) == 0 && !j.waited && j.id > 0 {
			jobs = append(jobs, j)
		}
	}
	for _, s := range specs {
		if j, _ := sh.findJob(s); j != nil && !j.gone() {
			jobs = append(jobs, j)
		} else {
			sh.fail("%s: no such job", s)
		}
	}
	if len(jobs) == 0 {
		return 127
	}
	for {
		changes := sh.m.table.Changes()
		for _, j := range jobs {
			if j.ended() {
				sh.reap(j)
				if name != "" {
					sh.assignNamed(name, strconv.Itoa(j.p.PID))
				}
				return j.p.Status
			}
		}
		if sig := sh.block(changes); sig != 0 {
			return 128 + sig
		}
		if sh.ctl != ctlNone {
			return sh.status
		}
	}
}

// kill sends signals.
func (sh *interp) kill(args []string) int {
	if len(args) < 2 {
		return sh.usage(sh.usageOf(), "")
	}
	sig := signal.TERM
	rest := args[1:]
	switch a := rest[0]; {
	case a == "--help":
		return sh.helpText(args[0])
	case a == "-l" || a == "-L":
		return sh.killList(rest[1:])
	case a == "-s" || a == "-n":
		if len(rest) < 2 {
			return sh.fail("%s: option requires an argument", a)
		}
		if sig = signal.Number(rest[1]); sig < 0 {
			return sh.fail("%s: invalid signal specification", rest[1])
		}
		rest = rest[2:]
	case a == "--":
		rest = rest[1:]
	case len(a) > 1 && a[0] == '-':
		if sig = signal.Number(a[1:]); sig < 0 {
			return sh.fail("%s: invalid signal specification", a[1:])
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return sh.usage(sh.usageOf(), "")
	}
	sent, st := false, 0
	for _, spec := range rest {
		if sh.killOne(spec, sig) {
			sent = true
		} else {
			st = 1
		}
	}
	if sent && len(rest) > 1 {
		st = 0
	}
	if sh.p.Attention.Load() {
		sh.tickSlow()
		if sh.ctl == ctlExit {
			return sh.status
		}
	}
	return st
}

func (sh *interp) killOne(spec string, sig int) bool {
	if strings.HasPrefix(spec, "%") {
		j, msg := sh.findJob(spec)
		if j == nil {
			sh.fail("%s: %s", spec, msg)
			return false
		}
		j.p.Send(sig)
		return true
	}
	pid, err := strconv.Atoi(spec)
	if err != nil {
		sh.fail("%s: arguments must be process or job IDs", spec)
		return false
	}
	if sh.m.table.Kill(sh.p, pid, sig) {
		return true
	}
	if pid > 0 {
		if j, _ := sh.findJob(spec); j != nil && !j.waited && !j.signaled {
			j.signaled = true
			return true // It has ended, and the shell has not seen that yet.
		}
	}
	sh.errorf("%s: (%s) - No such process", sh.builtinName, spec)
	return false
}

// killList is kill -l.
func (sh *interp) killList(specs []string) int {
	if len(specs) == 0 {
		return sh.outString(signal.Table())
	}
	st := 0
	for _, s := range specs {
		if n, err := strconv.Atoi(s); err == nil {
			if n > 128 {
				n -= 128
			}
			name := signal.Name(n)
			if name == "" || n < 0 {
				st = sh.fail("%s: invalid signal specification", s)
				continue
			}
			sh.outString(name + "\n")
			continue
		}
		n := signal.Number(s)
		if n < 0 {
			st = sh.fail("%s: invalid signal specification", s)
			continue
		}
		sh.outString(strconv.Itoa(n) + "\n")
	}
	return st
}
