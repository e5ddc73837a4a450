//go:build memory || agent

package run

import (
	"cmp"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keyboard is the input of a terminal, which the editor of lines and the commands that
// it starts read in turn: what one has read and not used is left to the next.
type keyboard struct {
	*os.File     // the terminal, opened anew so that a read of it can be ended
	fd       int // its descriptor: File.Fd would make it one that blocks

	reading     sync.Mutex // held by who reads from the terminal
	reclaiming  atomic.Bool
	interrupted bool // the last key that the editor took was Ctrl-C

	mu   sync.Mutex
	back []byte // what was given back
}

func newKeyboard() (*keyboard, error) {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &keyboard{File: os.NewFile(uintptr(fd), "/dev/tty"), fd: fd}, nil
}

// Read reads what was given back, or else typed.
func (k *keyboard) Read(p []byte) (int, error) {
	for {
		if n := k.again(p); n > 0 || len(p) == 0 {
			return n, nil
		}
		n, err := k.readTerminal(p)
		if !errors.Is(err, errLook) {
			return n, err
		}
	}
}

// errLook says that something was given back while we waited for a key.
var errLook = errors.New("look again")

func (k *keyboard) readTerminal(p []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	n, err := k.File.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && !k.reclaiming.Load() {
		return 0, cmp.Or(k.SetReadDeadline(time.Time{}), errLook)
	}
	return n, err
}

// again reads what was given back.
func (k *keyboard) again(p []byte) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := copy(p, k.back)
	k.back = k.back[n:]
	return n
}

// Unread is that of shell.Unreader. Who waits for a key gets what is given back.
func (k *keyboard) Unread(b []byte) {
	k.mu.Lock()
	k.back = append(b, k.back...)
	k.mu.Unlock()
	_ = k.SetReadDeadline(time.Now()) // A terminal takes deadlines.
}

// drop forgets what was given back, as the terminal does with what was typed before Ctrl-C.
func (k *keyboard) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.back = nil
}

// reclaim ends a read that a command has left behind: it must not take what is typed next.
func (k *keyboard) reclaim() {
	k.reclaiming.Store(true)
	defer k.reclaiming.Store(false)
	if k.SetReadDeadline(time.Now()) == nil {
		k.reading.Lock()   // waits until the reader is gone
		k.reading.Unlock() //nolint:staticcheck // Reads may wait again when they see that.
	}
}

// Terminal returns its size.
func (k *keyboard) Terminal() (columns, rows int, ok bool) {
	columns, rows, err := term.GetSize(k.fd)
	return columns, rows, err == nil
}

// raw puts the terminal into raw mode, but for Enter, which stays the end of a line:
// what is typed before the command that reads it runs is whole lines to that command.
func (k *keyboard) raw() (*term.State, error) {
	old, err := term.MakeRaw(k.fd)
	if err != nil {
		return nil, err
	}
	mode, err := unix.IoctlGetTermios(k.fd, getTermios)
	if err != nil {
		return old, nil //nolint:nilerr // Raw mode serves as well, but for what is typed ahead.
	}
	mode.Iflag |= unix.ICRNL
	_ = unix.IoctlSetTermios(k.fd, setTermios, mode) // as above
	return old, nil
}

// keys is the keyboard for the editor. It gives a key at a time, so that what is typed
// after a line is left to the command that the line starts, and notes Ctrl-C, which
// the editor tells as it tells the end of the input.
type keys struct{ *keyboard }

// Read reads a byte of what was typed.
func (k keys) Read(p []byte) (int, error) {
	n, err := k.keyboard.Read(p[:min(1, len(p))])
	k.interrupted = n == 1 && p[0] == 3
	return n, err
}
