package shell

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// asker is the process that reads /proc: a shell, or the program that it runs. It sees its machine: the processes, the
// limits and its own descriptors. Each read generates the content.
type asker struct {
	sh *interp
	p  *Proc // nil: the shell itself
}

// procReader is a shell that reads /proc.
type procReader interp

func (r *procReader) asker() *asker { return &asker{sh: (*interp)(r)} }

// Entry implements vfs.Generated.
func (r *procReader) Entry(name string) (vfs.Entry, error) { return r.asker().Entry(name) }

// List implements vfs.Generated.
func (r *procReader) List(name string) ([]vfs.DirEntry, error) { return r.asker().List(name) }

// Read implements vfs.Generated.
func (r *procReader) Read(name string) ([]byte, error) { return r.asker().Read(name) }

// Stat implements vfs.Generated.
func (r *procReader) Stat(name string) (vfs.Info, error) { return r.asker().Stat(name) }

// Open implements vfs.Generated.
func (r *procReader) Open(ctx context.Context, name string, flag int) (*vfs.File, error) {
	return r.asker().Open(ctx, name, flag)
}

// procNode is something in /proc: under the top, or under the directory of a process.
type procNode struct {
	name   string
	mode   fs.FileMode
	text   func(a *asker, p *process.Process) (string, error) // of a file
	target func(a *asker, p *process.Process) (string, error) // of a link
	list   func(a *asker, p *process.Process) ([]vfs.DirEntry, error)
}

const (
	procDir  = fs.ModeDir | 0o555
	procLink = fs.ModeSymlink | 0o777
	procFile = fs.FileMode(0o444)
)

// procPath is a name in /proc taken apart.
type procPath struct {
	node *procNode        // nil: a directory that leads to nodes
	of   *process.Process // nil: it is about the machine
	fd   int              // of a link of fd; -1: it is none
	name string
}

// find looks a name up.
func (a *asker) find(name string) (procPath, error) {
	at := procPath{fd: -1, name: name}
	first, rest, _ := strings.Cut(name, "/")
	nodes := systemNodes()
	if pid, err := strconv.Atoi(first); err == nil && strconv.Itoa(pid) == first {
		if at.of = a.sh.m.table.Find(pid); at.of == nil {
			return at, syscall.ENOENT
		}
		if rest == "" {
			return at, nil
		}
		nodes, name = processNodes(), rest
	}
	if number, ok := strings.CutPrefix(name, "fd/"); ok && at.of != nil {
		fd, err := strconv.Atoi(number)
		if err != nil || strconv.Itoa(fd) != number {
			return at, syscall.ENOENT
		}
		d, err := a.opened(at.of, fd)
		if err != nil {
			return at, err
		}
		d.Unref()
		at.fd = fd
		return at, nil
	}
	if name == "." {
		return at, nil
	}
	inside := false
	for i := range nodes {
		if nodes[i].name == name {
			at.node = &nodes[i]
			return at, nil
		}
		inside = inside || strings.HasPrefix(nodes[i].name, name+"/")
	}
	if inside {
		return at, nil
	}
	return at, syscall.ENOENT
}

// Entry implements vfs.Generated.
func (a *asker) Entry(name string) (vfs.Entry, error) {
	at, err := a.find(name)
	if err != nil {
		return vfs.Entry{}, err
	}
	now := a.sh.m.now()
	e := vfs.Entry{Info: vfs.Info{Mode: procDir, Nlink: 1, Ino: at.ino(), Atime: now, Mtime: now, Ctime: now}}
	if at.of != nil {
		e.Info.UID, e.Info.GID = a.sh.cred.UID, a.sh.cred.GID
	}
	switch {
	case at.fd >= 0:
		e.Jump = true
		e.Info.Mode, e.Target, err = a.fdLink(at.of, at.fd)
	case at.node == nil:
	case at.node.target != nil:
		e.Info.Mode = procLink
		e.Target, err = at.node.target(a, at.of)
	default:
		e.Info.Mode = at.node.mode
	}
	switch e.Info.Mode.Type() {
	case fs.ModeDir:
		e.Info.Nlink = 2
	case fs.ModeSymlink:
		e.Info.Size = int64(min(len(e.Target), 64))
	default:
	}
	return e, err
}

// ino returns an inode number: the slot of the process, and below it a hash of the name. Two names may have the same
// number, as nothing links them.
func (at *procPath) ino() uint64 {
	sum := uint32(2166136261)
	for i := range len(at.name) {
		sum = (sum ^ uint32(at.name[i])) * 16777619
	}
	return uint64(sum)
}

// List implements vfs.Generated.
func (a *asker) List(name string) ([]vfs.DirEntry, error) {
	at, err := a.find(name)
	if err != nil {
		return nil, err
	}
	if at.node != nil && at.node.list != nil {
		return at.node.list(a, at.of)
	}
	nodes, dir := systemNodes(), ""
	if name != "." {
		dir = name + "/"
	}
	if at.of != nil {
		nodes, dir = processNodes(), ""
		if _, rest, more := strings.Cut(name, "/"); more {
			dir = rest + "/"
		}
	}
	list := nodesIn(nodes, dir)
	if name == "." {
		for _, p := range a.sh.m.processes() {
			list = append(list, vfs.DirEntry{Name: strconv.Itoa(p.PID), Mode: fs.ModeDir})
		}
	}
	for i := range list {
		below := procPath{name: strings.TrimPrefix(name+"/"+list[i].Name, "./")}
		list[i].Ino = below.ino()
	}
	slices.SortFunc(list, func(a, b vfs.DirEntry) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// nodesIn returns the names right below a directory.
func nodesIn(nodes []procNode, dir string) []vfs.DirEntry {
	var list []vfs.DirEntry
	for _, n := range nodes {
		rest, ok := strings.CutPrefix(n.name, dir)
		if !ok || rest == "" {
			continue
		}
		mode := n.mode.Type()
		first, _, more := strings.Cut(rest, "/")
		if more {
			mode = fs.ModeDir
		}
		if len(list) == 0 || list[len(list)-1].Name != first {
			list = append(list, vfs.DirEntry{Name: first, Mode: mode})
		}
	}
	return list
}

// Read implements vfs.Generated.
func (a *asker) Read(name string) ([]byte, error) {
	at, err := a.find(name)
	if err != nil {
		return nil, err
	}
	if at.node == nil || at.node.text == nil {
		return nil, syscall.EINVAL
	}
	text, err := at.node.text(a, at.of)
	return []byte(text), err
}

// Stat implements vfs.Generated.
func (a *asker) Stat(name string) (vfs.Info, error) {
	at, err := a.find(name)
	if err != nil {
		return vfs.Info{}, err
	}
	d, err := a.opened(at.of, at.fd)
	if err != nil {
		return vfs.Info{}, err
	}
	defer d.Unref()
	return a.sh.statOpen(d)
}

// Open implements vfs.Generated.
func (a *asker) Open(ctx context.Context, name string, flag int) (*vfs.File, error) {
	at, err := a.find(name)
	if err != nil {
		return nil, err
	}
	d, err := a.opened(at.of, at.fd)
	if err != nil {
		return nil, err
	}
	defer d.Unref()
	again, err := a.sh.reopen(ctx, d, flag)
	if err != nil {
		return nil, err
	}
	defer again.Unref()
	return again.Open(ctx)
}

// seconds writes a time as /proc does.
func seconds(d time.Duration) string {
	n := max(0, int64(d/(10*time.Millisecond)))
	return strconv.FormatInt(n/100, 10) + "." + pad2(n%100)
}

func pad2(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// process returns the asker's place in the process table. A program that a shell runs by itself gets one
// when it asks: most never do.
func (a *asker) process() *process.Process {
	if a.p == nil { // It is on the shell's own goroutine.
		return a.sh.process()
	}
	if own := a.known(); own != nil {
		return own
	}
	m := a.sh.m
	q, err := m.table.Start(a.p.ctx, a.sh.p)
	if err != nil { // The table is full: it goes on under the shell's number.
		return a.sh.p
	}
	q.SetName(strings.Join(a.p.Args, " "))
	m.mu.Lock()
	if a.p.own == nil {
		a.p.own = q
		m.mu.Unlock()
		return q
	}
	own := a.p.own
	m.mu.Unlock()
	q.End(0) // Another goroutine was faster.
	return own
}

// known returns the place that the asker has already, nil if it has none.
func (a *asker) known() *process.Process {
	switch {
	case a.p == nil && !a.sh.ownProcess:
		return nil
	case a.p == nil || a.sh.sole || a.sh.p.PID != a.sh.mainPID:
		return a.sh.p
	}
	a.sh.m.mu.Lock()
	defer a.sh.m.mu.Unlock()
	return a.p.own
}

// leave gives the program's place in the process table back.
func (p *Proc) leave(status int) {
	p.sh.m.mu.Lock()
	own := p.own
	p.sh.m.mu.Unlock()
	if own != nil {
		own.End(status)
	}
}

// isOwn reports whether a process of the table is the asker.
func (a *asker) isOwn(p *process.Process) bool { return p == a.known() }

// opened returns the open file of a process under a number; the caller releases the reference.
func (a *asker) opened(p *process.Process, n int) (*fd.Description, error) {
	if a.isOwn(p) {
		d := a.sh.fds.Get(n)
		if a.p != nil && n <= 2 {
			if s := a.p.streamOf(n); s != nil {
				d = s.Description
			}
		}
		if d == nil {
			return nil, syscall.ENOENT
		}
		return d.Ref(), nil
	}
	if d := p.Fds.Load().Take(n); d != nil {
		return d, nil
	}
	return nil, syscall.ENOENT
}

// numbers lists the open descriptors of a process.
func (a *asker) numbers(p *process.Process) []int {
	if !a.isOwn(p) {
		return p.Fds.Load().Numbers()
	}
	var list []int
	for fd := range max(a.sh.fds.Len(), 3) {
		if d, err := a.opened(p, fd); err == nil {
			d.Unref()
			list = append(list, fd) // bounded: by the limit of descriptors
		}
	}
	return list
}

func (a *asker) listFds(p *process.Process) ([]vfs.DirEntry, error) {
	var list []vfs.DirEntry
	for _, fd := range a.numbers(p) {
		number := strconv.Itoa(fd)
		at := procPath{name: strconv.Itoa(p.PID) + "/fd/" + number}
		list = append(list, vfs.DirEntry{Name: number, Mode: fs.ModeSymlink, Ino: at.ino()})
	}
	return list, nil
}

// fdLink describes the link that stands for a descriptor.
func (a *asker) fdLink(p *process.Process, n int) (fs.FileMode, string, error) {
	d, err := a.opened(p, n)
	if err != nil {
		return 0, "", err
	}
	defer d.Unref()
	mode := fs.ModeSymlink
	if d.Mode&fd.ModeRead != 0 {
		mode |= 0o500
	}
	if d.Mode&fd.ModeWrite != 0 {
		mode |= 0o300
	}
	return mode, d.Shown(a.sh.m.nextPipe), nil
}

// statOpen is fstat(2) for a description. A stream of the host looks like a pipe, or like a terminal if it is one.
func (s *processState) statOpen(d *fd.Description) (vfs.Info, error) {
	if d.File == nil && d.Mode == 0 {
		return vfs.Info{}, syscall.EBADF
	}
	if d.File != nil {
		info, err := d.File.Stat()
		if info.Mode.Type() == fs.ModeNamedPipe && info.Ino == 0 {
			info.Ino = d.Number(s.m.nextPipe)
		}
		return info, err
	}
	now := s.m.now()
	info := vfs.Info{
		Name: "pipe", Ino: d.Number(s.m.nextPipe), Mode: fs.ModeNamedPipe | 0o600, Nlink: 1,
		UID: s.cred.UID, GID: s.cred.GID, Atime: now, Mtime: now, Ctime: now,
	}
	if d.IsTerminal() {
		info.Name, info.Mode, info.Rdev = "tty", fs.ModeDevice|fs.ModeCharDevice|0o620, vfs.Device(5, 0)
	}
	return info, nil
}

// reopen opens the file of a descriptor, as opening /dev/fd/N does on Linux: a regular file afresh,
// with an offset of its own and if the process may; a pipe is the same pipe.
func (s *processState) reopen(ctx context.Context, d *fd.Description, flag int) (*fd.Description, error) {
	need := uint8(fd.ModeRead)
	switch flag & (os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		need = fd.ModeWrite
	case os.O_RDWR:
		need = fd.ModeRead | fd.ModeWrite
	}
	piped := d.File == nil
	if !piped && !d.Seek {
		info, err := d.File.Stat()
		piped = err == nil && info.Mode.Type() == fs.ModeNamedPipe
	}
	if piped && flag&syscall.O_DIRECTORY != 0 {
		return nil, syscall.ENOTDIR
	}
	if piped && need&^d.Mode == 0 { // What was read too much of it is in the description.
		return d.Ref(), nil
	}
	if d.File == nil {
		return nil, syscall.EACCES
	}
	f, err := d.File.Reopen(ctx, s.cred, flag)
	if err != nil {
		return nil, err
	}
	return fd.NewFile(f, d.Name), nil
}

// ownStream returns the descriptor that a path of /dev or /proc stands for; no lookup in the tree is needed. These names work in
// a tree without /dev, too.
func ownStream(path string) (fd int, ok bool) {
	switch path {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	number, ok := strings.CutPrefix(path, "/dev/fd/")
	if !ok {
		number, ok = strings.CutPrefix(path, "/proc/self/fd/")
	}
	if !ok {
		return 0, false
	}
	fd, err := strconv.Atoi(number)
	return fd, err == nil && fd >= 0 && strconv.Itoa(fd) == number
}

// processNodes are the entries of /proc/PID, in the order of their names. What a process has in
// its environment is visible only to itself and to the processes that it starts.
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

// args returns the arguments of a process as other processes can see them.
func (a *asker) args(p *process.Process) []string {
	if a.isOwn(p) && a.p != nil {
		return a.p.Args
	}
	return strings.Fields(a.sh.m.table.About(p).Command) // bounded: by the title of a process
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

// program returns the path of the program that a process runs.
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

// state returns the letter and the word for the state of a process.
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

// limits returns the values of ulimit in the format of proc(5).
func (a *asker) limits(*process.Process) (string, error) {
	var b strings.Builder
	row := func(name, soft, hard, unit string) {
		fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", name, soft, hard, unit)
	}
	most := a.sh.m.rlimits()
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
		row("Max "+l.name, a.sh.rlimit.Base(l.c, false, most), a.sh.rlimit.Base(l.c, true, most), l.unit)
	}
	return b.String(), nil
}

// Release is the version of the system that machines seem to run.
const Release = "6.1.0"

// systemNodes are the entries of /proc about the machine, in the order of their names.
var systemNodes = sync.OnceValue(func() []procNode {
	constant := func(text string) func(*asker, *process.Process) (string, error) {
		return func(*asker, *process.Process) (string, error) { return text, nil }
	}
	list := []procNode{
		{name: "cpuinfo", text: constant("processor\t: 0\nvendor_id\t: virtual\nmodel name\t: virtual\ncpu cores\t: 1\n\n")},
		{name: "filesystems", text: constant("nodev\tproc\nnodev\ttmpfs\n")},
		{name: "loadavg", text: (*asker).loadAverage},
		{name: "meminfo", text: (*asker).memory},
		{name: "net/dev", text: constant(netDevices)},
		{name: "self", mode: procLink, target: (*asker).self},
		{name: "stat", text: (*asker).ticks},
		{name: "sys/kernel/hostname", text: func(a *asker, _ *process.Process) (string, error) { return a.sh.m.hostname + "\n", nil }},
		{name: "sys/kernel/osrelease", text: constant(Release + "\n")},
		{name: "sys/kernel/ostype", text: constant("Linux\n")},
		{name: "sys/kernel/pid_max", text: constant(strconv.Itoa(process.MaxPID+1) + "\n")},
		{name: "sys/kernel/random/boot_id", text: (*asker).bootID},
		{name: "sys/kernel/random/uuid", text: (*asker).uuid},
		{name: "sys/kernel/version", text: constant("#1 SMP\n")},
		{name: "uptime", text: (*asker).uptime},
		{name: "version", text: constant("Linux version " + Release + " (agent-sandbox in memory) #1 SMP\n")},
		{name: "mounts", mode: procLink, target: func(*asker, *process.Process) (string, error) { return "self/mounts", nil }},
	}
	return procNodes(list)
})

// procNodes sorts nodes, and gives files their mode.
func procNodes(list []procNode) []procNode {
	for i := range list {
		if list[i].mode == 0 {
			list[i].mode = procFile
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	return list
}

// netDevices is /proc/net/dev of a machine that reaches nothing.
const netDevices = "Inter-|   Receive                                                |  Transmit\n" +
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n" +
	"    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n"

func (a *asker) self(*process.Process) (string, error) { return strconv.Itoa(a.process().PID), nil }

// age returns the machine's uptime.
func (m *machine) age() time.Duration { return max(0, m.now().Sub(m.born)) }

// ticks is the clock of the process table: hundredths of a second since the machine began.
func (m *machine) ticks() int64 { return int64(m.age() / (10 * time.Millisecond)) }

// uptime reports that the machine was always idle: the work of scripts is not measured in time.
func (a *asker) uptime(*process.Process) (string, error) {
	s := seconds(a.sh.m.age())
	return s + " " + s + "\n", nil
}

func (a *asker) loadAverage(*process.Process) (string, error) {
	running, all, last := a.sh.m.table.Load()
	return fmt.Sprintf("0.00 0.00 0.00 %d/%d %d\n", running, all, last), nil
}

func (a *asker) ticks(*process.Process) (string, error) {
	m := a.sh.m
	_, _, last := m.table.Load()
	idle := int64(max(0, m.now().Sub(m.born)) / (10 * time.Millisecond))
	cpu := fmt.Sprintf(" 0 0 0 %d 0 0 0 0 0 0\n", idle)
	return "cpu " + cpu + "cpu0" + cpu + fmt.Sprintf("intr 0\nctxt 0\nbtime %d\nprocesses %d\nprocs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n",
		m.born.Unix(), last), nil
}

// memory returns the machine's memory for variables and buffers: files count elsewhere.
func (a *asker) memory(*process.Process) (string, error) {
	m := a.sh.m
	total := min(m.limits.Bytes, 1<<50)
	used := min(max(0, m.bytes.Load()), total)
	var b strings.Builder
	for _, row := range []struct {
		name  string
		bytes int64
	}{
		{"MemTotal", total},
		{"MemFree", total - used},
		{"MemAvailable", total - used},
		{"Buffers", 0},
		{"Cached", 0},
		{"SwapCached", 0},
		{"Active", used},
		{"Inactive", 0},
		{"SwapTotal", 0},
		{"SwapFree", 0},
		{"Dirty", 0},
		{"Shmem", 0},
	} {
		fmt.Fprintf(&b, "%-15s %8d kB\n", row.name+":", row.bytes>>10)
	}
	return b.String(), nil
}

// uuid is another one each time; with a fixed seed of the machine, the same ones in each run.
func (a *asker) uuid(*process.Process) (string, error) {
	r := a.sh.m.newRand()
	return formatUUID(r.Uint64(), r.Uint64()), nil
}

// bootID is one number for as long as the machine lives.
func (a *asker) bootID(*process.Process) (string, error) {
	n := uint64(a.sh.m.born.UnixNano())
	return formatUUID(n*0x9e3779b97f4a7c15, n*0xbf58476d1ce4e5b9), nil
}

// formatUUID writes random bits as a UUID of version 4.
func formatUUID(hi, lo uint64) string {
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x\n", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1))
}

// mounts lists the machine's mounts.
func (a *asker) mounts(*process.Process) (string, error) {
	var b strings.Builder
	b.WriteString("none / tmpfs rw,relatime 0 0\nproc /proc proc rw,relatime 0 0\n")
	for _, m := range a.sh.m.fs.Mounts() {
		mode := "rw"
		if m.ReadOnly {
			mode = "ro"
		}
		b.WriteString("none " + mountName(m.Path) + " tmpfs " + mode + ",relatime 0 0\n")
	}
	return b.String(), nil
}

// mountName writes a path as fstab(5) has it.
func mountName(path string) string {
	return strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(path)
}

var _ vfs.Generated = (*asker)(nil)

// show publishes the process in /proc: its arguments, its directory, its open files.
func (t *descriptors) show(name string) {
	t.p.SetName(name)
	t.showDir()
	t.showFds()
}

func (s *processState) showDir() {
	if s.ownProcess {
		dir := s.dir
		s.p.Dir.Store(&dir)
	}
}

// stop ends the run: no script survives it.
func (m *machine) stop(why error) {
	m.mu.Lock()
	cancel := m.cancel
	m.mu.Unlock()
	if cancel != nil {
		cancel(why)
	}
}

// process gives the process a place of its own in the table, when it still uses its parent's.
func (t *descriptors) process() *process.Process {
	if t.ownProcess {
		return t.p
	}
	t.ownProcess = true
	p, err := t.m.table.Start(t.ctx, t.p)
	if err != nil { // The table is full: it goes on under the parent's number.
		return t.p
	}
	t.ownedEnd = true
	t.p, t.ctx = p, p.Ctx
	t.showDir()
	t.showFds()
	return p
}
