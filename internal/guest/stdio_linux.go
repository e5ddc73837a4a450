package guest

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// stdio is what standard input and output led to, as one connection.
type stdio struct{ in, out *os.File }

// privateStdio moves standard input and output away, so that nothing else of this process comes between what is
// said there: they are /dev/null from then on.
func privateStdio() (io.ReadWriteCloser, error) {
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
	return stdio{moved[0], moved[1]}, nil
}

func (s stdio) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s stdio) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s stdio) Close() error                { return errors.Join(s.in.Close(), s.out.Close()) }
