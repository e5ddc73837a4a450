package persist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// killHolders kills the processes that have the lock of a file with SIGKILL. It fails if there is one of another user.
func killHolders(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || !holds(pid, info) {
			continue
		}
		errs = append(errs, killHolder(pid, info))
	}
	return errors.Join(errs...)
}

// killHolder kills a process if it still has the lock: its number may belong to another process by now.
func killHolder(pid int, file fs.FileInfo) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pidfd_open of process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	if !holds(pid, file) {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return nil
}

// holds reports whether a process has the lock of a file, by the descriptors that /proc lists; see proc_pid_fdinfo(5).
func holds(pid int, file fs.FileInfo) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	entries, _ := os.ReadDir(filepath.Join(dir, "fdinfo")) // empty for the processes of other users
	for _, e := range entries {
		info, err := os.ReadFile(filepath.Join(dir, "fdinfo", e.Name()))
		if err != nil || !hasLock(info) {
			continue
		}
		if of, err := os.Stat(filepath.Join(dir, "fd", e.Name())); err == nil && os.SameFile(of, file) {
			return true
		}
	}
	return false
}

// hasLock reports whether an open file has a lock of its own (F_OFD_SETLK).
func hasLock(info []byte) bool {
	for lines := bufio.NewScanner(bytes.NewReader(info)); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "lock:") && strings.Contains(lines.Text(), "OFDLCK") {
			return true
		}
	}
	return false
}
