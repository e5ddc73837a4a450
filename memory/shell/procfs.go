package shell

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// asker is who looks at /proc: a shell, or the program that it runs. What he sees there is his machine:
// its processes, its limits, what he has open. Nothing of it is kept anywhere.
type asker struct {
	sh *interp
	p  *Proc // nil: the shell itself
}

// introduce makes the process one that has a /proc of its own.
func (sh *interp) introduce() {
	sh.as = asker{sh: sh}
	sh.cred.Proc = &sh.as
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

// find says what a name is.
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

// ino numbers what there is: the place of the process, and below it a sum of the name. Two names may come to the same
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
