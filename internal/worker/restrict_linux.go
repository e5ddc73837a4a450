package worker

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// inherit returns the connection on descriptor 3.
func inherit() (net.Conn, error) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	f := os.NewFile(3, "worker")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "a worker process inherits a socket as descriptor 3: %w", err)
	}
	return conn, nil
}

// restrict limits this process permanently: its memory, its core dumps, and system calls that sandboxes in memory do
// not need, among them the execution of programs.
//
// The kernel counts all private memory against RLIMIT_DATA (getrlimit(2), Linux 4.7) and Go's runtime ends the process
// when it gets no more. From seven eighths of the limit, the runtime collects garbage before it allocates more.
func restrict(memory sandbox.Bytes) error {
	if err := rlimit.SuppressCore(0); err != nil {
		return fmt.Errorf("RLIMIT_CORE: %w", err)
	}
	if err := rlimit.Lower(0, unix.RLIMIT_DATA, uint64(memory)); err != nil {
		return fmt.Errorf("RLIMIT_DATA: %w", err)
	}
	debug.SetMemoryLimit(int64(memory) / 8 * 7)
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_DUMPABLE: %w", err)
	}
	program, err := seccomp.Deny(runtime.GOARCH, seccomp.DenyOptions{NoExec: true})
	if err == nil {
		err = program.InstallEverywhere()
	}
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}
