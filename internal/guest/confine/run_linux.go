package confine

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
	"github.com/seed434b0696/agent-sandbox/internal/landlock"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
)

// Run is [Command] with the arguments after it, for a guest that is not linked with [Entry]. It returns an exit status
// if it cannot execute the command.
func Run(p process.Process, args []string) int {
	runtime.LockOSThread() // the thread that is confined executes the command
	end := slices.Index(args, "--")
	if end < 1 || end+1 >= len(args) {
		return p.Usage()
	}
	host, err := strconv.Atoi(args[0])
	if err != nil || host <= 2 {
		return p.Usage()
	}
	unix.CloseOnExec(host)
	failed, err := enter(host)
	if err == nil {
		failed, err = stepExecute, execute(args[1:end], args[end+1:], p.Env)
	}
	errno, _ := errors.AsType[unix.Errno](err)
	report := binary.NativeEndian.AppendUint32(nil, uint32(failed))
	_ = unix.Send(host, binary.NativeEndian.AppendUint32(report, uint32(errno)), unix.MSG_NOSIGNAL)
	return ExitFailed
}

// enter confines the calling thread.
func enter(host int) (step, error) {
	message := make([]byte, 64<<10)
	n, err := unix.Read(host, message)
	if err != nil {
		return stepMessage, err
	}
	asks, err := seccomp.Parse(message[min(8, n):n])
	if err != nil {
		return stepMessage, unix.EINVAL
	}
	if err := landlock.Deny(binary.NativeEndian.Uint64(message)); err != nil {
		return stepDomain, err
	}
	const waitKillable = 1 << 5 // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19
	listener, err := asks.InstallListener(waitKillable)
	if errors.Is(err, unix.EINVAL) {
		listener, err = asks.InstallListener(0)
	}
	if err != nil {
		return stepListen, err
	}
	defer unix.Close(listener)
	if err := unix.Sendmsg(host, []byte{0}, unix.UnixRights(listener), nil, unix.MSG_NOSIGNAL); err != nil {
		return stepSend, err
	}
	return 0, nil
}

// execute executes the first file that can be executed. Like execvp(3), it prefers the error of a file that exists.
func execute(files, command, env []string) error {
	var found error = syscall.ENOENT
	for _, file := range files {
		err := process.ExecFile(file, command, env)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			found = err
		}
	}
	return found
}
