package process

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Stdio is a pair of streams as one connection: In is read, Out is written.
type Stdio struct{ In, Out *os.File }

// PrivateStdio moves standard input and output to other descriptors and replaces them by /dev/null, so that no
// other code of this process reads or writes the connection.
func PrivateStdio() (io.ReadWriteCloser, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	var moved [2]*os.File
	for i, name := range []string{"stdin", "stdout"} {
		fd, err := unix.FcntlInt(uintptr(i), unix.F_DUPFD_CLOEXEC, 3)
		if err == nil {
			err = unix.SetNonblock(fd, true) // so that closing ends a read
		}
		if err == nil {
			err = unix.Dup3(int(null.Fd()), i, 0)
		}
		if err != nil {
			return nil, os.NewSyscallError(name, err)
		}
		moved[i] = os.NewFile(uintptr(fd), name)
	}
	return Stdio{moved[0], moved[1]}, nil
}

// Read reads from In.
func (s Stdio) Read(p []byte) (int, error) { return s.In.Read(p) }

// Write writes to Out.
func (s Stdio) Write(p []byte) (int, error) { return s.Out.Write(p) }

// Close closes both streams.
func (s Stdio) Close() error { return errors.Join(s.In.Close(), s.Out.Close()) }
