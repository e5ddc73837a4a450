//go:build linux

package seccomp

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Program is a classic BPF program for seccomp(2).
type Program []unix.SockFilter

// Bytes returns the program as an array of struct sock_filter, the format of bubblewrap's
// --seccomp. Both architectures are little-endian.
func (p Program) Bytes() []byte {
	b := make([]byte, 0, 8*len(p))
	for _, f := range p {
		b = binary.LittleEndian.AppendUint16(b, f.Code)
		b = append(b, f.Jt, f.Jf)
		b = binary.LittleEndian.AppendUint32(b, f.K)
	}
	return b
}

// Parse is the inverse of [Program.Bytes].
func Parse(data []byte) (Program, error) {
	if len(data) == 0 || len(data)%8 != 0 {
		return nil, fmt.Errorf("a program of %d bytes; expected a multiple of 8", len(data))
	}
	p := make(Program, 0, len(data)/8)
	for ; len(data) > 0; data = data[8:] {
		p = append(p, unix.SockFilter{Code: binary.LittleEndian.Uint16(data), Jt: data[2], Jf: data[3], K: binary.LittleEndian.Uint32(data[4:])})
	}
	return p, nil
}

// Install installs the program permanently on the calling OS thread and on the processes that
// it starts. It sets no_new_privs (prctl(2)).
func (p Program) Install() error {
	_, err := p.install(0)
	return err
}

// InstallEverywhere is like Install, for all threads of this process.
func (p Program) InstallEverywhere() error {
	runtime.LockOSThread() // no_new_privs of this thread is enough for all threads
	defer runtime.UnlockOSThread()
	thread, err := p.install(unix.SECCOMP_FILTER_FLAG_TSYNC)
	if err == nil && thread != 0 {
		return fmt.Errorf("thread %d has programs of its own", thread)
	}
	return err
}

// InstallListener is like Install, for a program that reports calls. It returns the descriptor
// of the reports. flags are additional flags of seccomp(2).
func (p Program) InstallListener(flags uintptr) (int, error) {
	return p.install(flags | unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
}

// InstallListenerEverywhere is like InstallListener, for all threads of this process.
func (p Program) InstallListenerEverywhere(flags uintptr) (int, error) {
	runtime.LockOSThread() // as in InstallEverywhere
	defer runtime.UnlockOSThread()
	const esrch = 1 << 4 // SECCOMP_FILTER_FLAG_TSYNC_ESRCH, Linux 5.7: required together with a listener
	return p.InstallListener(flags | unix.SECCOMP_FILTER_FLAG_TSYNC | esrch)
}

func (p Program) install(flags uintptr) (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, fmt.Errorf("no_new_privs: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// Allow makes a program that allows every call, to test whether a program can be installed.
func Allow() Program { return Program{{Code: bpfReply, K: unix.SECCOMP_RET_ALLOW}} }
