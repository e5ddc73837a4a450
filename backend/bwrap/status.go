//go:build linux

package bwrap

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// status is bubblewrap's account of itself: the pid of its first process, and the
// command's exit status, which nobody inside can write. bubblewrap waits for our
// leave before it executes the command.
type status struct {
	read, write           *os.File
	blockRead, blockWrite *os.File
}

func newStatus() (*status, error) {
	s := &status{}
	var err error
	if s.read, s.write, err = os.Pipe(); err != nil {
		return nil, err
	}
	if s.blockRead, s.blockWrite, err = os.Pipe(); err != nil {
		closeAll([]*os.File{s.read, s.write})
		return nil, err
	}
	return s, nil
}

// args are bubblewrap's options for childEnds, whose first has number fd.
func (s *status) args(fd int) []string {
	return []string{"--json-status-fd", strconv.Itoa(fd), "--block-fd", strconv.Itoa(fd + 1)}
}

func (s *status) childEnds() []*os.File { return []*os.File{s.write, s.blockRead} }

// closeChildEnds closes what only bubblewrap needs; built needs the other end.
func (s *status) closeChildEnds() { _ = s.write.Close() }

func (s *status) close() {
	closeAll([]*os.File{s.read, s.write, s.blockRead, s.blockWrite})
}

// built reports whether bubblewrap took our leave, which it reads when the walls
// stand and only the execution is left.
func (s *status) built() bool {
	poll := []unix.PollFd{{Fd: int32(s.blockRead.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	return err == nil && (n == 0 || poll[0].Revents&unix.POLLIN == 0)
}

// release lets the command run.
func (s *status) release() error {
	_, err := s.blockWrite.Write([]byte{1})
	_ = s.blockWrite.Close()
	return err
}

// report is one document of --json-status-fd.
type report struct {
	ChildPid *int `json:"child-pid"`
	ExitCode *int `json:"exit-code"`
}

// follow calls child once with the pid of the sandbox's first process, and
// returns the exit status, or ok false if bubblewrap never got that far.
func (s *status) follow(child func(pid int)) (code int, ok bool) {
	// bubblewrap writes a few hundred bytes; nothing inside can write here.
	decoder := json.NewDecoder(bufio.NewReader(io.LimitReader(s.read, 1<<16)))
	for {
		var r report
		if err := decoder.Decode(&r); err != nil {
			return code, ok
		}
		if r.ChildPid != nil {
			child(*r.ChildPid)
		}
		if r.ExitCode != nil {
			code, ok = *r.ExitCode, true
		}
	}
}
