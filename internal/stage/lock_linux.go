package stage

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Holder is the process that uses a stage.
type Holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"` // as one line
}

// lock locks the stage in dir. Denied: another process has the lock; the error names it. The lock belongs to the open
// file (F_OFD_SETLK in fcntl(2)): it ends with the last descriptor, also after a kill. The file is a FIFO: commands in
// a sandbox can open the descriptors of its first process again (/proc/1/fd), and must not get a file of the host
// there.
func lock(dir string, h Holder) (*os.File, error) {
	name := filepath.Join(dir, lockFile)
	err := unix.Mkfifo(name, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sandbox.Errorf(sandbox.NotFound, "the stage was discarded")
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &os.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrPermission) && os.Chmod(name, 0o600) == nil { // a command may have changed the mode
		f, err = os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sandbox.Errorf(sandbox.NotFound, "the stage was discarded")
	}
	if err != nil {
		return nil, err
	}
	if ok, err := tryLock(f); !ok {
		_ = f.Close() // the file belongs to another user
		if err == nil {
			err = busyError(dir)
		}
		return nil, err
	}
	// A discard may have moved the directory after the open.
	if !isStillAt(f, name) {
		_ = f.Close() // the file belongs to a discarded stage
		return nil, sandbox.Errorf(sandbox.NotFound, "the stage was discarded")
	}
	text, err := json.Marshal(h)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, holderFile), text, 0o600)
	}
	if err != nil {
		_ = f.Close() // also releases the lock
		return nil, err
	}
	return f, nil
}

func tryLock(f *os.File) (bool, error) {
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// awaitLock waits until no process has the lock, or ctx ends, and closes f.
func awaitLock(ctx context.Context, f *os.File) error {
	got := make(chan error, 1)
	go func() {
		err := error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLKW, &unix.Flock_t{Type: unix.F_WRLCK})
		}
		release(f)
		got <- err
	}()
	select {
	case err := <-got:
		return err
	case <-ctx.Done(): // the goroutine releases the lock as soon as it has it
		return ctx.Err()
	}
}

// release unlocks and closes f. Closing is not enough: a child that another goroutine is starting may have the
// descriptor until it executes its program.
func release(f *os.File) {
	_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK}) // closing also unlocks
	_ = f.Close()                                                                    // nothing was written
}

func isStillAt(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}

func busyError(dir string) error {
	who := "another process"
	if h, ok := readHolder(dir); ok {
		who = "process " + strconv.Itoa(h.PID)
		if h.Command != "" {
			who += " (" + strconv.Quote(h.Command) + ")"
		}
	}
	return sandbox.Errorf(sandbox.Denied, "the stage is in use by %s", who).WithHint("wait until it has ended, or end it")
}

func readHolder(dir string) (Holder, bool) {
	var h Holder
	err := readJSON(filepath.Join(dir, holderFile), &h)
	return h, err == nil && h.PID > 0
}

// Holder returns the process that uses the stage; false: none does.
func (s *Stage) Holder() (Holder, bool) {
	f, err := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return Holder{}, false
	}
	defer f.Close()
	query := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &query); err != nil || query.Type == unix.F_UNLCK {
		return Holder{}, false
	}
	h, _ := readHolder(s.dir)
	return h, true
}

func newHolder(command []string) Holder {
	const most = 200
	line := strings.Join(command, " ")
	if len(line) > most {
		line = line[:most] + "..."
	}
	return Holder{PID: os.Getpid(), Command: line}
}
