package shell

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
)

// processNodes are what /proc tells of each process, in the order of the names. What a process has in
// its environment only itself sees, and what it runs.
var processNodes = sync.OnceValue(func() []procNode {
	none := func(*asker, *process.Process) (string, error) { return "", nil }
	return procNodes([]procNode{
		{name: "cmdline", text: (*asker).commandLine},
		{name: "comm", text: func(a *asker, p *process.Process) (string, error) { return a.commandName(p) + "\n", nil }},
		{name: "cwd", mode: procLink, target: (*asker).workingDir},
		{name: "environ", mode: 0o400, text: (*asker).environ},
		{name: "exe", mode: procLink, target: (*asker).program},
		{name: "fd", mode: fs.ModeDir | 0o500, list: (*asker).listFds},
		{name: "limits", text: (*asker).limits},
		{name: "maps", text: none},
		{name: "mounts", text: (*asker).mounts},
		{name: "root", mode: procLink, target: func(*asker, *process.Process) (string, error) { return "/", nil }},
		{name: "stat", text: (*asker).stat},
		{name: "statm", text: func(*asker, *process.Process) (string, error) { return "0 0 0 0 0 0 0\n", nil }},
		{name: "status", text: (*asker).status},
	})
})

// args are what a process was started with, as far as others can know.
func (a *asker) args(p *process.Process) []string {
	if a.isOwn(p) && a.p != nil {
		return a.p.Args
	}
	return strings.Fields(a.sh.m.table.About(p).Command)
}

func (a *asker) commandLine(p *process.Process) (string, error) {
	return strings.Join(a.args(p), "\x00") + "\x00", nil
}

// commandName is the name of the program, of which Linux keeps 15 bytes.
func (a *asker) commandName(p *process.Process) string {
	name := "bash"
	if args := a.args(p); len(args) > 0 {
		name = args[0]
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	return name[:min(len(name), 15)]
}

func (a *asker) workingDir(p *process.Process) (string, error) {
	if a.isOwn(p) {
		return a.sh.dir, nil
	}
	if dir := p.Dir.Load(); dir != nil {
		return *dir, nil
	}
	return "/", nil
}

// program is where the program lies that a process runs.
func (a *asker) program(p *process.Process) (string, error) {
	name := a.commandName(p)
	if a.sh.m.command(name) == nil {
		name = "bash"
	}
	return "/usr/bin/" + name, nil
}

func (a *asker) environ(p *process.Process) (string, error) {
	own := a.isOwn(p)
	if !own && p != a.sh.p {
		return "", syscall.EACCES
	}
	env := a.sh.environ
	if own && a.p != nil {
		env = a.p.Environ
	}
	var b strings.Builder
	for _, kv := range env() {
		b.WriteString(kv + "\x00")
	}
	return b.String(), nil
}

// state is the letter and the word for what a process does.
func (a *asker) state(p *process.Process) (letter, word string) {
	switch {
	case a.sh.m.table.About(p).Stopped:
		return "T", "T (stopped)"
	case a.isOwn(p):
		return "R", "R (running)"
	}
	return "S", "S (sleeping)"
}

func (a *asker) stat(p *process.Process) (string, error) {
	q := a.sh.m.table.About(p)
	letter, _ := a.state(p)
	return fmt.Sprintf("%d (%s) %s %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0 18446744073709551615 0 0 0 0 0 %d 0 %d %d 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		q.PID, a.commandName(p), letter, q.PPID, q.PGID, a.sh.m.first.PID, p.Began, p.Pending.Load()>>1, p.Ignored.Load()>>1, p.Handled.Load()>>1), nil
}

func (a *asker) status(p *process.Process) (string, error) {
	q := a.sh.m.table.About(p)
	_, state := a.state(p)
	c := a.sh.cred
	var groups strings.Builder
	for _, g := range c.Groups {
		fmt.Fprintf(&groups, "%d ", g)
	}
	umask := a.sh.umask
	return fmt.Sprintf("Name:\t%s\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n"+
		"Uid:\t%[8]d\t%[8]d\t%[8]d\t%[8]d\nGid:\t%[9]d\t%[9]d\t%[9]d\t%[9]d\nFDSize:\t64\nGroups:\t%[10]s\n"+
		"VmSize:\t       0 kB\nVmRSS:\t       0 kB\nThreads:\t1\n"+
		"SigPnd:\t%016[11]x\nSigBlk:\t0000000000000000\nSigIgn:\t%016[12]x\nSigCgt:\t%016[13]x\nNoNewPrivs:\t1\nSeccomp:\t0\n"+
		"Cpus_allowed_list:\t0\nvoluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n",
		a.commandName(p), uint32(umask.Perm()), state, q.PID, q.PID, q.PPID, 0, c.UID, c.GID, groups.String(),
		p.Pending.Load()>>1, p.Ignored.Load()>>1, p.Handled.Load()>>1), nil
}

// limits is what ulimit shows, in the words of proc(5).
func (a *asker) limits(*process.Process) (string, error) {
	var b strings.Builder
	row := func(name, soft, hard, unit string) {
		fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", name, soft, hard, unit)
	}
	row("Limit", "Soft Limit", "Hard Limit", "Units")
	for _, l := range []struct {
		c          byte
		name, unit string
	}{
		{'t', "cpu time", "seconds"},
		{'f', "file size", "bytes"},
		{'d', "data size", "bytes"},
		{'s', "stack size", "bytes"},
		{'c', "core file size", "bytes"},
		{'m', "resident set", "bytes"},
		{'u', "processes", "processes"},
		{'n', "open files", "files"},
		{'l', "locked memory", "bytes"},
		{'v', "address space", "bytes"},
		{'x', "file locks", "locks"},
		{'i', "pending signals", "signals"},
		{'q', "msgqueue size", "bytes"},
		{'e', "nice priority", ""},
		{'r', "realtime priority", ""},
		{'R', "realtime timeout", "us"},
	} {
		row("Max "+l.name, a.sh.limitIn(l.c, false), a.sh.limitIn(l.c, true), l.unit)
	}
	return b.String(), nil
}
