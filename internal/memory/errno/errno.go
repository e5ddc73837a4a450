// Package errno finds the error numbers of Linux in errors of Go, and their texts.
package errno

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// texts are those of strerror(3) in the GNU C library. They are the same on every host.
var texts = map[syscall.Errno]string{
	syscall.EPERM:        "Operation not permitted",
	syscall.ENOENT:       "No such file or directory",
	syscall.ESRCH:        "No such process",
	syscall.EINTR:        "Interrupted system call",
	syscall.EIO:          "Input/output error",
	syscall.ENXIO:        "No such device or address",
	syscall.E2BIG:        "Argument list too long",
	syscall.ENOEXEC:      "Exec format error",
	syscall.EBADF:        "Bad file descriptor",
	syscall.ECHILD:       "No child processes",
	syscall.EAGAIN:       "Resource temporarily unavailable",
	syscall.ENOMEM:       "Cannot allocate memory",
	syscall.EACCES:       "Permission denied",
	syscall.EFAULT:       "Bad address",
	syscall.EBUSY:        "Device or resource busy",
	syscall.EEXIST:       "File exists",
	syscall.EXDEV:        "Invalid cross-device link",
	syscall.ENODEV:       "No such device",
	syscall.ENOTDIR:      "Not a directory",
	syscall.EISDIR:       "Is a directory",
	syscall.EINVAL:       "Invalid argument",
	syscall.ENFILE:       "Too many open files in system",
	syscall.EMFILE:       "Too many open files",
	syscall.ENOTTY:       "Inappropriate ioctl for device",
	syscall.ETXTBSY:      "Text file busy",
	syscall.EFBIG:        "File too large",
	syscall.ENOSPC:       "No space left on device",
	syscall.ESPIPE:       "Illegal seek",
	syscall.EROFS:        "Read-only file system",
	syscall.EMLINK:       "Too many links",
	syscall.EPIPE:        "Broken pipe",
	syscall.EDOM:         "Numerical argument out of domain",
	syscall.ERANGE:       "Numerical result out of range",
	syscall.EDEADLK:      "Resource deadlock avoided",
	syscall.ENAMETOOLONG: "File name too long",
	syscall.ENOLCK:       "No locks available",
	syscall.ENOSYS:       "Function not implemented",
	syscall.ENOTEMPTY:    "Directory not empty",
	syscall.ELOOP:        "Too many levels of symbolic links",
	syscall.EOVERFLOW:    "Value too large for defined data type",
	syscall.EILSEQ:       "Invalid or incomplete multibyte or wide character",
	syscall.EOPNOTSUPP:   "Operation not supported",
	syscall.ETIMEDOUT:    "Connection timed out",
	syscall.ECONNREFUSED: "Connection refused",
	syscall.EHOSTUNREACH: "No route to host",
	syscall.ENETUNREACH:  "Network is unreachable",
	syscall.EDQUOT:       "Disk quota exceeded",
	syscall.ECANCELED:    "Operation canceled",
}

// Of returns the error number inside err: that of a syscall.Errno, or of the
// io/fs sentinel that err is. It is 0 when there is none.
func Of(err error) syscall.Errno {
	var no syscall.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, fs.ErrInvalid):
		return syscall.EINVAL
	case errors.Is(err, fs.ErrClosed):
		return syscall.EBADF
	case errors.Is(err, io.ErrClosedPipe):
		return syscall.EPIPE
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return syscall.EINTR
	}
	return 0
}

// Text returns the GNU C library's text for the error inside err, without the
// operation and path that Go puts around it. An error without a number is its own text.
func Text(err error) string {
	if err == nil {
		return "Success"
	}
	no := Of(err)
	if no == 0 {
		return err.Error()
	}
	if s, ok := texts[no]; ok {
		return s
	}
	return no.Error()
}
