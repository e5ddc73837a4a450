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

// keyboard is the input of a terminal. The line editor and the commands that it starts read it in turn; each gives back what it
// has read and not used.
type keyboard struct {
	*os.File     // the terminal, reopened so that a read can be interrupted
	fd       int // its descriptor: File.Fd would make it blocking

	reading     sync.Mutex // held while reading from the terminal
	reclaiming  atomic.Bool
	interrupted bool // the last key that the editor read was Ctrl-C

	mu   sync.Mutex
	back []byte // returned bytes
}

func newKeyboard() (*keyboard, error) {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &keyboard{File: os.NewFile(uintptr(fd), "/dev/tty"), fd: fd}, nil
}

// Read returns bytes that were given back, or else new input.
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

// errLook means that bytes were given back while a reader waited for a key.
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

// again reads bytes that were given back.
func (k *keyboard) again(p []byte) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := copy(p, k.back)
	k.back = k.back[n:]
	return n
}

// Unread implements shell.Unreader. A waiting reader gets the bytes.
func (k *keyboard) Unread(b []byte) {
	k.mu.Lock()
	k.back = append(b, k.back...)
	k.mu.Unlock()
	_ = k.SetReadDeadline(time.Now()) // terminals support deadlines
}

// drop discards returned bytes, as the terminal does with input before Ctrl-C.
func (k *keyboard) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.back = nil
}

// reclaim ends a read that a command has left behind, so that it does not take later input.
func (k *keyboard) reclaim() {
	k.reclaiming.Store(true)
	defer k.reclaiming.Store(false)
	if k.SetReadDeadline(time.Now()) == nil {
		k.reading.Lock()   // waits until the reader has ended
		k.reading.Unlock() //nolint:staticcheck // Reads may wait again when they see that.
	}
}

// Terminal returns its size.
func (k *keyboard) Terminal() (columns, rows int, ok bool) {
	columns, rows, err := term.GetSize(k.fd)
	return columns, rows, err == nil
}

// raw puts the terminal into raw mode, except that Enter still ends a line:
// input typed before the command that reads it arrives there as whole lines.
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

// keys is the keyboard for the editor. It returns one key at a time, so that input
// after a line is left to the command that the line starts, and records Ctrl-C, which
// the editor does not distinguish from the end of the input.
type keys struct{ *keyboard }

// Read reads one byte of input.
func (k keys) Read(p []byte) (int, error) {
	n, err := k.keyboard.Read(p[:min(1, len(p))])
	k.interrupted = n == 1 && p[0] == 3
	return n, err
}
