//go:build linux

package bwrap

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// status is bubblewrap's report: the PID of its first process, and the command's exit
// status. No process inside can write to its pipe. Bubblewrap waits for release before it
// executes the command.
type status struct {
	read                  *os.File
	write                 *os.File
	blockRead, blockWrite *os.File

	text  []byte        // of an unfinished line
	child func(pid int) // called once, with the PID of the sandbox's first process
	code  int           // the exit status
	known bool          // whether code was reported

	mu    sync.Mutex
	freed bool // release has succeeded
}

func newStatus() (*status, error) {
	s := &status{}
	var err error
	if s.read, s.write, err = blockingPipe(); err != nil {
		return nil, err
	}
	if err := s.keepReader(); err != nil {
		closeAll([]*os.File{s.read, s.write})
		return nil, err
	}
	if s.blockRead, s.blockWrite, err = blockingPipe(); err != nil {
		closeAll([]*os.File{s.read, s.write})
		return nil, err
	}
	return s, nil
}

// keepReader opens the write end for reading, too, so that bubblewrap itself is a reader of the
// pipe: if this process were killed, SIGPIPE would kill bubblewrap before it lets its first
// process continue, which would then wait forever.
func (s *status) keepReader() error {
	both, err := unix.Open("/proc/self/fd/"+strconv.Itoa(int(s.write.Fd())), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	_ = s.write.Close()
	s.write = os.NewFile(uintptr(both), "pipe")
	return nil
}

// blockingPipe is os.Pipe without the runtime's poller, which wakes up threads.
func blockingPipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("pipe: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe"), nil
}

// args returns bubblewrap's options for childEnds, the first of which has number fd.
func (s *status) args(fd int) []string {
	return []string{"--json-status-fd", strconv.Itoa(fd), "--block-fd", strconv.Itoa(fd + 1)}
}

func (s *status) childEnds() []*os.File { return []*os.File{s.write, s.blockRead} }

// closeChildEnds closes the end that only bubblewrap needs; built needs the other one.
func (s *status) closeChildEnds() { _ = s.write.Close() }

func (s *status) close() {
	closeAll([]*os.File{s.read, s.write, s.blockRead, s.blockWrite})
}

// isBuilt reports whether bubblewrap has read the byte of release, which it does when the
// isolation is built, right before it executes the command.
func (s *status) isBuilt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.freed && !isReadable(s.blockRead)
}

// release lets the command run.
func (s *status) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.blockWrite.Write([]byte{1})
	_ = s.blockWrite.Close()
	s.freed = err == nil
	return err
}

func isReadable(f *os.File) bool {
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err == nil && n > 0 && poll[0].Revents&unix.POLLIN != 0
}

// maxReport bounds a line, which only bubblewrap can write.
const maxReport = 1 << 16

// receive reads once, which does not block after a poll. It returns false at the end of the
// pipe.
func (s *status) receive() bool {
	buf := make([]byte, 1024)
	n, err := s.read.Read(buf)
	if err != nil {
		return false
	}
	s.text = append(s.text, buf[:n]...)
	for {
		line, rest, ok := bytes.Cut(s.text, []byte("\n"))
		if !ok {
			return len(s.text) < maxReport
		}
		s.text = rest
		s.take(line)
	}
}

func (s *status) take(line []byte) {
	if pid, ok := reported(line, "child-pid"); ok && s.child != nil {
		s.child(pid)
		s.child = nil
	}
	if code, ok := reported(line, "exit-code"); ok {
		s.code, s.known = code, true
	}
}

// reported returns the number of a member of an object that bubblewrap wrote with --json-status-fd: one line without
// strings as values. Package json takes longer for its first object than bubblewrap for its next steps, which wait.
func reported(line []byte, member string) (n int, ok bool) {
	_, rest, found := bytes.Cut(line, []byte(`"`+member+`":`))
	if !found || line[0] != '{' || line[len(line)-1] != '}' {
		return 0, false
	}
	digits, _, _ := bytes.Cut(bytes.TrimLeft(rest[:len(rest)-1], " "), []byte(","))
	n, err := strconv.Atoi(string(bytes.TrimRight(digits, " ")))
	return n, err == nil
}

// drain reads what bubblewrap has written before its end.
func (s *status) drain() {
	for isReadable(s.read) && s.receive() {
	}
}
