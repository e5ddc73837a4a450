package errno_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/errno"
)

func Test_Errors_Have_The_Texts_Of_Glibc(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err  error
		no   syscall.Errno
		text string
	}{
		{nil, 0, "Success"},
		{syscall.ENOENT, syscall.ENOENT, "No such file or directory"},
		{&fs.PathError{Op: "open", Path: "f", Err: syscall.EACCES}, syscall.EACCES, "Permission denied"},
		{fmt.Errorf("open: %w", fs.ErrExist), syscall.EEXIST, "File exists"},
		{context.Canceled, syscall.EINTR, "Interrupted system call"},
		{errors.New("other"), 0, "other"},
	} {
		if no, text := errno.Of(row.err), errno.Text(row.err); no != row.no || text != row.text {
			t.Errorf("%v: %d, %q", row.err, no, text)
		}
	}
}
