//go:build linux

// Program runner makes the calls of a program that it reads from stdin, each of the program's threads on its own thread. It
// prints how many calls it made, and how many of them succeeded; see package calls.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/fuzz/calls"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = run(string(text))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		os.Exit(2)
	}
}

// stall is the time without a result after which a thread is considered blocked for ever, for example on the other end of a
// FIFO.
const stall = 400 * time.Millisecond

// run makes a program's calls. The arguments are its time limit, and variables as NAME=VALUE.
func run(text string) error {
	p, err := calls.Parse(text)
	if err != nil {
		return err
	}
	limit, err := time.ParseDuration(os.Args[1])
	if err != nil {
		return err
	}
	m := &machine{vars: os.Args[2:]}
	for i := range m.registers {
		m.registers[i].Store(-1)
	}
	// The first pipe creates the runtime's epoll descriptor. It must be there before a program gives a thread descriptors of its own
	// with unshare(CLONE_FILES), because any thread may wait on it.
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	_, _ = r.Close(), w.Close()
	var loops, others sync.WaitGroup
	for _, t := range p.Threads {
		if t.Loop {
			m.start(&loops, t)
		} else {
			m.start(&others, t)
		}
	}
	ended := make(chan struct{})
	go func() {
		others.Wait()
		m.stop.Store(true)
		loops.Wait()
		close(ended)
	}()
	word := m.wait(ended, limit)
	fmt.Printf("%s: %d calls, %d succeeded\n", word, m.made.Load(), m.succeeded.Load())
	return nil
}

// machine is the state that a program's threads share.
type machine struct {
	vars            []string // NAME=VALUE
	registers       [calls.Registers]atomic.Int64
	stop            atomic.Bool
	made, succeeded atomic.Int64
}

// wait waits until the program ends, makes no more calls, or reaches its time limit.
func (m *machine) wait(ended chan struct{}, limit time.Duration) string {
	end := time.Now().Add(limit)
	for made := int64(-1); made != m.made.Load(); {
		made = m.made.Load()
		select {
		case <-ended:
			return "ended"
		case <-time.After(stall):
		}
		if time.Now().After(end) {
			return "cut off"
		}
	}
	return "stalled"
}

func (m *machine) start(group *sync.WaitGroup, t calls.Thread) {
	group.Go(func() {
		runtime.LockOSThread() // never unlocked: the thread can have a working directory of its own
		w := &worker{m: m, tid: unix.Gettid()}
		prepared := make([]*preparedCall, len(t.Calls))
		var flips []*flip
		for i, c := range t.Calls {
			prepared[i] = &preparedCall{Call: c}
			if c.Flip != "" {
				f := newFlip(w.expand(c.Path), w.expand(c.Flip))
				prepared[i].address, prepared[i].path, flips = f.address, f.buffer, append(flips, f)
			}
		}
		if len(flips) > 0 {
			ended := make(chan struct{})
			defer close(ended)
			go exchange(flips, ended)
		}
		for round := 0; !m.stop.Load() && (t.Loop || round < max(1, t.Repeat)); round++ {
			for _, c := range prepared {
				w.make(c)
			}
		}
	})
}

// worker is a thread of a program.
type worker struct {
	m   *machine
	tid int
}

// preparedCall is a call with the memory of its path, if another thread changes that.
type preparedCall struct {
	calls.Call
	address []byte // of a Unix socket with the same path
	path    []byte
}

// flip is a path in memory and two texts for it of the same length.
type flip struct{ address, buffer, one, other []byte }

func newFlip(one, other string) *flip {
	size := max(len(one), len(other)) + 3
	f := &flip{one: padded(one, size), other: padded(other, size)}
	f.address = append([]byte{unix.AF_UNIX, 0}, f.one...)
	f.buffer = f.address[2:]
	return f
}

// padded returns an equivalent path that ends in NUL, in size bytes.
func padded(path string, size int) []byte {
	fill := size - len(path)
	prefix := "." + strings.Repeat("/", fill-1)
	if strings.HasPrefix(path, "/") {
		prefix = strings.Repeat("/", fill)
	}
	return append([]byte(prefix+path), 0)
}

// exchange keeps changing the paths, without synchronisation with their readers.
func exchange(flips []*flip, ended chan struct{}) {
	runtime.LockOSThread()
	for {
		select {
		case <-ended:
			return
		default:
		}
		for range 200 {
			for _, f := range flips {
				copy(f.buffer, f.other)
				copy(f.buffer, f.one)
			}
		}
	}
}

// expand replaces the variables of a text.
func (w *worker) expand(text string) string {
	for start := strings.IndexByte(text, '{'); start >= 0; {
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			break
		}
		value := w.value(text[start+1 : start+end])
		text = text[:start] + value + text[start+end+1:]
		next := strings.IndexByte(text[start+len(value):], '{')
		if next < 0 {
			break
		}
		start += len(value) + next
	}
	return text
}

func (w *worker) value(name string) string {
	for _, v := range w.m.vars {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	if size, ok := strings.CutPrefix(name, "pad:"); ok {
		n, _ := strconv.Atoi(size)
		return strings.Repeat("./", n/2)
	}
	switch {
	case name == "pid":
		return strconv.Itoa(os.Getpid())
	case name == "tid":
		return strconv.Itoa(w.tid)
	case len(name) == 2 && name[0] == 'r':
		return strconv.Itoa(w.descriptor(name))
	}
	return "{" + name + "}"
}

// descriptor returns the number of a directory descriptor.
func (w *worker) descriptor(name string) int {
	if len(name) == 2 && name[0] == 'r' && name[1] >= '0' && name[1] < '0'+calls.Registers {
		return int(w.m.registers[name[1]-'0'].Load())
	}
	return unix.AT_FDCWD
}

// set puts a new descriptor into a register and closes the previous one.
func (w *worker) set(reg int, fd uintptr) {
	if old := w.m.registers[reg].Swap(int64(fd)); old > 2 {
		_ = unix.Close(int(old))
	}
}

func (w *worker) make(c *preparedCall) {
	errno := w.do(c)
	w.m.made.Add(1)
	if errno == 0 {
		w.m.succeeded.Add(1)
		if c.Name == "io_uring_setup" {
			fmt.Println("OPEN io_uring_setup") // io_uring's operations bypass every filter of system calls
		}
	}
}

// errnoOf returns the number of an error of package unix.
func errnoOf(err error) syscall.Errno {
	if errno, ok := err.(syscall.Errno); ok { //nolint:errorlint // the package returns nothing else
		return errno
	}
	return 0
}
