package files

import (
	"archive/tar"
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/tempfile"
	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

var errUsage = errors.New("usage: files open|stat|list|remove|pack|unpack NAME, files create|mkdir NAME PERM, files rename FROM TO, files search NAME QUERY")

// Serve performs one operation on the files that this process can access; the isolation of the sandbox enforces
// the policy.
func Serve(args []string, in io.Reader, out, errs io.Writer) int {
	return Status(perform(args, in, out), errs)
}

// Status returns the exit status of an operation and writes its error to errs.
func Status(err error, errs io.Writer) int {
	if err == nil {
		return 0
	}
	line, _ := json.Marshal(wireError{codeOf(err), err.Error()}) // two strings always encode
	_, _ = errs.Write(append(line, '\n'))                        // the host gets the status
	return exitFiles
}

// checkOperands refuses an unknown operation or a wrong number of operands.
func checkOperands(args []string) error {
	operands := map[string]int{
		opOpen: 1, opCreate: 2, opStat: 1, opList: 1, opRemove: 1, opRename: 2,
		opMkdir: 2, opSearch: 2, opPack: 1, opUnpack: 1,
	}
	if len(args) == 0 || operands[args[0]] == 0 || len(args) != 1+operands[args[0]] || args[1] == "" {
		return errUsage
	}
	return nil
}

func perform(args []string, in io.Reader, out io.Writer) error {
	if err := checkOperands(args); err != nil {
		return err
	}
	name := args[1]
	switch args[0] {
	case opOpen:
		return sendFile(name, out)
	case opCreate:
		return receiveFile(name, args[2], in)
	case opStat:
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(describe(name, info))
	case opList:
		return sendList(name, out)
	case opRemove:
		return removeTree(name)
	case opMkdir:
		return makeDirectory(name, args[2])
	case opSearch:
		return search(name, args[2], out)
	case opPack:
		return packTree(name, out)
	case opUnpack:
		return unpackTree(name, in)
	}
	return os.Rename(name, args[2])
}

func sendFile(name string, out io.Writer) error {
	// Without O_NONBLOCK a named pipe would wait for a writer.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	// A pipe accepts no larger writes. The library's alternatives would make system calls that fail.
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{f}, make([]byte, maxChunk))
	return err
}

var errNotRegular = errors.New("not a regular file")

func sendList(name string, out io.Writer) error {
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return err
		}
		if err := enc.Encode(describe(filepath.Join(name, info.Name()), info)); err != nil {
			return err
		}
	}
	return w.Flush()
}

func describe(file string, info fs.FileInfo) wireInfo {
	w := wireInfo{Name: []byte(info.Name()), Size: info.Size(), Mode: info.Mode(), Time: info.ModTime().UTC()}
	if info.Mode()&fs.ModeSymlink != 0 {
		// A link that was removed or cannot be read has no target.
		target, _ := os.Readlink(file)
		w.Target = []byte(target)
	}
	return w
}

// receiveFile replaces name in one step. It replaces a symbolic link itself, because rename(2) does not follow it.
func receiveFile(name, perm string, in io.Reader) error {
	mode, err := parsePerm("create", name, perm)
	if err != nil {
		return err
	}
	t, err := tempfile.New(filepath.Dir(name))
	if err != nil {
		return aboutFile(name, err)
	}
	defer t.Discard()
	if err := copyChunks(t.File, in); err != nil {
		return aboutFile(name, err)
	}
	if err := t.File.Chmod(mode); err != nil {
		return aboutFile(name, err)
	}
	return aboutFile(name, t.Replace(name))
}

// aboutFile replaces the temporary file's name in an error of the operating system by the requested name.
func aboutFile(name string, err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return &fs.PathError{Op: "create", Path: name, Err: errno}
	}
	return err
}

func parsePerm(op, name, perm string) (fs.FileMode, error) {
	mode, err := strconv.ParseUint(perm, 8, 32)
	if err != nil || mode > 0o777 {
		return 0, &fs.PathError{Op: op, Path: name, Err: syscall.EINVAL}
	}
	return fs.FileMode(mode), nil
}

func removeTree(name string) error {
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if abs == "/" {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.EINVAL}
	}
	if _, err := os.Lstat(abs); err != nil { // RemoveAll reports no error for a missing name
		return err
	}
	return os.RemoveAll(abs)
}

// codeOf maps errors of the kernel to the codes of package sandbox.
func codeOf(err error) sandbox.Code {
	for _, row := range []struct {
		code  sandbox.Code
		errno []syscall.Errno
	}{
		{sandbox.NotFound, []syscall.Errno{syscall.ENOENT}},
		{sandbox.Exists, []syscall.Errno{syscall.EEXIST, syscall.ENOTEMPTY}},
		{sandbox.Denied, []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EBUSY, syscall.EXDEV, syscall.ETXTBSY}},
		{sandbox.Exhausted, []syscall.Errno{
			syscall.ENOSPC, syscall.EDQUOT, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EFBIG, syscall.EMLINK,
		}},
		{sandbox.Invalid, []syscall.Errno{syscall.ENOTDIR, syscall.EISDIR, syscall.EINVAL, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.ENXIO}},
	} {
		for _, errno := range row.errno {
			if errors.Is(err, errno) {
				return row.code
			}
		}
	}
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		return e.Code
	}
	if errors.Is(err, transfer.ErrHostile) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, tar.ErrHeader) {
		return sandbox.Invalid
	}
	if errors.Is(err, errNotRegular) || errors.Is(err, errUsage) || errors.Is(err, errIncomplete) {
		return sandbox.Invalid
	}
	return sandbox.Internal
}
