//go:build linux

package confine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/landlock"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
)

// Command is the operation of the guest:
//
//	confine FD FILE... -- COMMAND [ARGUMENT...]
//
// FD is the inherited end of a socket to the host (SOCK_SEQPACKET), from which it reads one message: the access rights
// of the ruleset (eight bytes in the byte order of the machine), then the guard's program. It sends one message with
// the listener, or a report of eight bytes. The execution of COMMAND closes its end. It tries each FILE as execvp(3)
// does.
const Command = "confine"

// ExitFailed is the status of a command that could not be confined or executed. The report says more.
const ExitFailed = 125

// Line returns the command line that confines a command. fd is the descriptor's number inside, path the command's PATH.
func Line(fd int, path string, command []string) []string {
	line := append([]string{layout.Program, Command, strconv.Itoa(fd)}, session.Candidates(command[0], path, ".")...)
	return append(append(line, "--"), command...)
}

// Socket returns the two ends of a socket, and has already sent the host's message to the other end.
func Socket(asks seccomp.Program) (host, guest int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("socketpair: %w", err)
	}
	message := binary.NativeEndian.AppendUint64(nil, landlock.Entries(landlock.Version()))
	if _, err := unix.Write(pair[0], append(message, asks.Bytes()...)); err != nil {
		_, _ = unix.Close(pair[0]), unix.Close(pair[1])
		return -1, -1, err
	}
	return pair[0], pair[1], nil
}

// step is the step that failed in the guest.
type step uint32

// The steps of the guest; entry_amd64.s contains their numbers, too.
const (
	stepMessage step = iota + 1
	stepDomain
	stepListen
	stepSend
	stepExecute
)

func (s step) String() string {
	names := [...]string{"the message of the host", "Landlock", "seccomp", "sending the listener", "execve"}
	if s < 1 || int(s) > len(names) {
		return "step " + strconv.Itoa(int(s))
	}
	return names[s-1]
}

// ReceiveListener reads the guest's first message without waiting. It returns the listener, or -1 if the guest has ended or reports
// an error.
func ReceiveListener(host int) (int, error) {
	fd, report, err := receive(host)
	if err == nil && fd < 0 {
		err = report
	}
	return fd, err
}

// ExecuteError returns the guest's error of the execution of the command; nil: the guest has executed it, or has not
// tried yet.
func ExecuteError(host int) error {
	fd, report, _ := receive(host) // an error means that there is no report
	if fd >= 0 {
		_ = unix.Close(fd)
	}
	if report == nil {
		return nil
	}
	errno, _ := errors.AsType[unix.Errno](report)
	return errno
}

var errEnded = errors.New("it has ended")

// receive reads one message. It returns a descriptor, or -1 and a report.
func receive(host int) (fd int, report, err error) {
	var data [8]byte
	oob := make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := unix.Recvmsg(host, data[:], oob, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, nil, err
	}
	if n == 0 {
		return -1, nil, errEnded
	}
	if messages, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil && len(messages) == 1 {
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
			return fds[0], nil, nil
		}
	}
	if n != len(data) {
		return -1, nil, errEnded
	}
	failed, errno := step(binary.NativeEndian.Uint32(data[:])), unix.Errno(binary.NativeEndian.Uint32(data[4:]))
	return -1, fmt.Errorf("%s: %w", failed, errno), nil
}
