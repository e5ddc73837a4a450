//go:build linux

package bwrap

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxStop bounds the time in which processes stop. One that waits in the kernel for longer, for a child of
	// vfork(2) or a slow disk, completes at most its current system call.
	maxStop = 100 * time.Millisecond
	// pollStop is the interval between two checks: the kernel reports only to a parent that a process has stopped.
	pollStop = time.Millisecond
)

// frozen is a process that freeze has stopped.
type frozen struct{ pid, fd int }

// freeze stops all processes of the sandbox, parents first, except the supervisor, which writes no files by itself. thaw
// continues them in the opposite order: a shell whose child stops and continues while the shell itself is stopped does not
// notice (wait4(2) reports only a child that is stopped now).
func freeze(ctx context.Context, p *process) (thaw func(), err error) {
	p.mu.Lock()
	first := p.child
	p.mu.Unlock()
	supervisor, err := firstChild(first)
	if err != nil {
		return func() {}, nil //nolint:nilerr // all processes have ended
	}
	var all []frozen
	thaw = func() {
		for _, f := range slices.Backward(all) {
			_ = unix.PidfdSendSignal(f.fd, unix.SIGCONT, nil, 0) // it has ended
			_ = unix.Close(f.fd)
		}
	}
	known := map[string]bool{}
	begin := time.Now()
	for {
		more, moving := stopBelow(supervisor, known, &all)
		switch {
		case !more && (!moving || time.Since(begin) > maxStop):
			return thaw, nil
		case ctx.Err() != nil:
			thaw()
			return nil, ctx.Err()
		case !more:
			<-time.After(pollStop)
		}
	}
}

// stopBelow stops the new processes below root, and reports whether there were any, and whether some still run.
func stopBelow(root int, known map[string]bool, all *[]frozen) (more, moving bool) {
	children := map[int][]stat{}
	for _, s := range processes() {
		children[s.parent] = append(children[s.parent], s)
	}
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		queue = append(queue, children[s.pid]...)
		stopped := s.state == 'T' || s.state == 't'
		switch {
		case s.state == 'Z' || s.state == 'X':
		case known[s.id()]:
			moving = moving || !stopped
		case stopped: // before the freeze, and it stays stopped
			known[s.id()] = true
		default:
			known[s.id()] = true
			if fd, ok := s.stop(); ok {
				*all = append(*all, frozen{s.pid, fd})
				more = true
			}
		}
	}
	return more, moving
}

// stat is the content of /proc/PID/stat (proc_pid_stat(5)).
type stat struct {
	pid, parent int
	state       byte
	start       string
}

// id identifies a process also after another one has got its PID.
func (s stat) id() string { return strconv.Itoa(s.pid) + " " + s.start }

// stop sends SIGSTOP to the process, unless another one has its PID by now.
func (s stat) stop() (fd int, ok bool) {
	fd, err := unix.PidfdOpen(s.pid, 0)
	if err != nil {
		return -1, false
	}
	if now, ok := readStat(strconv.Itoa(s.pid)); ok && now.id() == s.id() && unix.PidfdSendSignal(fd, unix.SIGSTOP, nil, 0) == nil {
		return fd, true
	}
	_ = unix.Close(fd)
	return -1, false
}

func processes() []stat {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // what could be read counts
	var list []stat
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if s, ok := readStat(name); ok {
			list = append(list, s)
		}
	}
	return list
}

func readStat(pid string) (s stat, ok bool) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return s, false // it has ended
	}
	// The name in parentheses may contain any bytes.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return s, false
	}
	s.state, s.start = fields[0][0], string(fields[19])
	if s.pid, err = strconv.Atoi(pid); err == nil {
		s.parent, err = strconv.Atoi(string(fields[1]))
	}
	return s, err == nil
}
