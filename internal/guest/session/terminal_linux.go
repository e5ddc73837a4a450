package session

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// terminal gives the command its own terminal for all three streams.
func (c *command) terminal() (theirs files, ours map[byte]*os.File, err error) {
	master, slave, err := openTerminal(*c.req.TTY)
	if err != nil {
		return nil, nil, err
	}
	c.master = master
	if c.in != nil {
		c.input = master
	}
	return files{slave, slave, slave}, map[byte]*os.File{frameOutput: master}, nil
}

// endOfInput is the character that ends a terminal's input (VEOF in termios(3)).
const endOfInput = 4

// openInputTerminal makes a terminal for input from another terminal, which has already echoed it and interpreted its
// control characters. It passes lines on unchanged, and output to it is lost.
func openInputTerminal(size sandbox.Terminal) (master, slave *os.File, err error) {
	master, slave, err = openTerminal(size)
	if err != nil {
		return nil, nil, err
	}
	mode := unix.Termios{Cflag: unix.CS8 | unix.CREAD | unix.B38400, Lflag: unix.ICANON}
	mode.Cc[unix.VEOF] = endOfInput // the others are 0, which means none
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, &mode); err != nil {
		files{master, slave}.close()
		return nil, nil, os.NewSyscallError("ioctl", err)
	}
	go func() { _, _ = io.Copy(io.Discard, master) }() // ends when the master is closed
	return master, slave, nil
}

// openTerminal makes a pseudo-terminal (pty(7)). It opens the slave through the master (TIOCGPTPEER in ioctl_tty(2)),
// not by its name, which could belong to another terminal. The master is polled, so that a read of it can be ended.
func openTerminal(size sandbox.Terminal) (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, winsize(size))
	}
	var peer uintptr
	if err == nil {
		var errno unix.Errno
		if peer, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC); errno != 0 {
			err = errno
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, nil, os.NewSyscallError("ioctl", err)
	}
	return os.NewFile(uintptr(fd), "terminal"), os.NewFile(peer, "terminal"), nil
}

func winsize(s sandbox.Terminal) *unix.Winsize { return &unix.Winsize{Row: s.Rows, Col: s.Cols} }

// resize changes the terminal's size; the kernel signals the command.
func (c *command) resize(s sandbox.Terminal) {
	if c.master == nil {
		return
	}
	raw, err := c.master.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, winsize(s)) }) // it may have ended
	}
}
