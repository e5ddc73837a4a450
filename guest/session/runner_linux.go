package session

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// A runner is a process of the guest's own between the supervisor and one command. It adopts what the
// command leaves behind (PR_SET_CHILD_SUBREAPER in prctl(2)), so that whatever was started for a
// command is below its runner, daemons too, and dies with it. One runner is kept ready; when all that
// was below it has ended it is ready again.
//
// The two speak over a socket that is the runner's descriptor 3: the supervisor sends a request
// (four bytes of length, big endian, and JSON) whose first byte carries the three standard streams, and
// gets replies of five bytes.
const (
	runnerFd = 3

	replyBegun  = 'b' // the pid
	replyFailed = 'f' // a failure follows: so many bytes of JSON
	replyExit   = 'x' // the wait status of the command itself
	replyEmpty  = 'z' // nothing of the command is left
)

// Run is the runner: what the supervisor starts itself again as. It returns an exit status.
func Run() int {
	if err := prepareRunner(); err != nil {
		return 1
	}
	link := os.NewFile(runnerFd, "supervisor")
	for {
		req, files, err := receiveRequest(link)
		if err != nil {
			return 0 // the supervisor is gone, or wants us to go
		}
		err = runOne(link, req, files)
		for _, f := range files {
			_ = f.Close()
		}
		if err != nil {
			return 1
		}
	}
}

// prepareRunner keeps the commands' hands off: no process of the same user may trace one that is not
// dumpable, or open its descriptors (ptrace(2), PR_SET_DUMPABLE in prctl(2)).
func prepareRunner() error {
	unix.CloseOnExec(runnerFd)
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// runOne runs a command and stays until nothing of it is left.
func runOne(link *os.File, req *request, files []*os.File) error {
	pid, why := startCommand(req, files)
	for _, f := range files {
		_ = f.Close() // the command's end is the end of its streams
	}
	if why != nil {
		data, err := json.Marshal(why)
		if err != nil {
			return err
		}
		if err := reply(link, replyFailed, uint32(len(data))); err != nil {
			return err
		}
		_, err = link.Write(data)
		return err
	}
	if err := reply(link, replyBegun, uint32(pid)); err != nil {
		return err
	}
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			return reply(link, replyEmpty, 0)
		case err != nil:
			return err
		case got == pid:
			if err := reply(link, replyExit, uint32(status)); err != nil {
				return err
			}
		}
	}
}

func reply(w io.Writer, kind byte, n uint32) error {
	var msg [5]byte
	msg[0] = kind
	binary.BigEndian.PutUint32(msg[1:], n)
	_, err := w.Write(msg[:])
	return err
}

// receiveRequest waits for the next request and the streams that come with it.
func receiveRequest(link *os.File) (*request, []*os.File, error) {
	var head [4]byte
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, oobn, _, _, err := recvmsg(int(link.Fd()), head[:], oob)
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, io.EOF
	}
	files, err := receivedFiles(oob[:oobn])
	if err == nil {
		_, err = io.ReadFull(link, head[n:])
	}
	var req *request
	if err == nil {
		req, err = readRequest(link, binary.BigEndian.Uint32(head[:]))
	}
	if err != nil || len(files) != 3 {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, nil, firstOf(err, errFrame)
	}
	return req, files, nil
}

func readRequest(r io.Reader, n uint32) (*request, error) {
	if n > maxRequest {
		return nil, errFrame
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	var req request
	if err := json.Unmarshal(data, &req); err != nil {
		return nil, err
	}
	return &req, nil
}

func recvmsg(fd int, p, oob []byte) (n, oobn, flags int, from unix.Sockaddr, err error) {
	for {
		n, oobn, flags, from, err = unix.Recvmsg(fd, p, oob, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return n, oobn, flags, from, err
		}
	}
}

func receivedFiles(oob []byte) ([]*os.File, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "stream"))
		}
	}
	return files, nil
}

// startCommand executes the request's program, as execvp(3) finds it in the PATH of its own
// environment.
func startCommand(req *request, files []*os.File) (pid int, why *failure) {
	args, env := plainStrings(req.Args), plainStrings(req.Env)
	if info, err := os.Stat(req.Dir); err != nil || !info.IsDir() {
		return 0, &failure{Code: sandbox.NotFound, Text: "working directory " + req.Dir + " is not a directory"}
	}
	attr := &syscall.ProcAttr{Dir: req.Dir, Env: env, Sys: &syscall.SysProcAttr{Setsid: true}}
	for _, f := range files {
		attr.Files = append(attr.Files, f.Fd())
	}
	if req.TTY != nil {
		attr.Sys.Setctty, attr.Sys.Ctty = true, 0
	}
	found := error(unix.ENOENT)
	for _, path := range candidates(args[0], req.Dir, env) {
		pid, err := syscall.ForkExec(path, args, attr)
		if err == nil {
			return pid, nil
		}
		if errors.Is(err, fs.ErrNotExist) && exists(path) {
			err = errNoInterpreter
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			found = err
		}
	}
	return 0, refusal(found)
}

var errNoInterpreter = errors.New("cannot be executed: a missing interpreter, or another machine's program")

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// candidates are the files that a name may stand for, in order.
func candidates(name, dir string, env []string) []string {
	if strings.Contains(name, "/") {
		return []string{name}
	}
	list := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			list = v
		}
	}
	var out []string
	for _, d := range filepath.SplitList(list) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		out = append(out, filepath.Join(d, name))
	}
	return out
}

func refusal(err error) *failure {
	program := func(code sandbox.Code, status int, text string) *failure {
		return &failure{Code: code, Status: status, Text: text}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return program(sandbox.NotFound, sandbox.ExitNotFound, "not found in the sandbox")
	case errors.Is(err, errNoInterpreter), errors.Is(err, unix.ENOEXEC):
		return program(sandbox.Denied, sandbox.ExitNotExecutable, errNoInterpreter.Error())
	case errors.Is(err, unix.EISDIR):
		return program(sandbox.Denied, sandbox.ExitNotExecutable, "is a directory")
	case errors.Is(err, fs.ErrPermission):
		return program(sandbox.Denied, sandbox.ExitNotExecutable, "not executable")
	case errors.Is(err, unix.E2BIG):
		return &failure{
			Code: sandbox.Invalid, Text: "the command line is longer than this system allows",
			Hint: "pass long input through a file or standard input",
		}
	}
	return &failure{Code: sandbox.Internal, Text: err.Error()}
}
