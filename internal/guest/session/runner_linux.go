package session

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// A runner is a process of the guest between the supervisor and one command. It adopts processes that the command
// leaves running (PR_SET_CHILD_SUBREAPER in prctl(2)). So every process of a command, also a daemon, is below the
// command's runner and dies with it. One idle runner waits for the next command; a runner is idle again when all
// processes below it have ended.
//
// They communicate over a socket, the runner's descriptor 3: the supervisor sends a request (four bytes of length, big
// endian, and JSON), with the three standard streams attached to its first byte, and receives replies of five bytes.
const (
	runnerFd = 3

	replyBegun  = 'b' // the pid
	replyFailed = 'f' // a failure follows: so many bytes of JSON
	replyExit   = 'x' // the wait status of the command itself
	replyEmpty  = 'z' // no process of the command is left
)

// Run is the main function of a runner, which the supervisor starts from its own program. It returns an exit status.
func Run() int {
	runtime.GOMAXPROCS(1) // It mostly waits, so one thread is enough.
	if err := prepareRunner(); err != nil {
		return 1
	}
	reserveThreads(runnerThreads)
	link := os.NewFile(runnerFd, "supervisor")
	for {
		req, files, err := receiveRequest(link)
		if err != nil {
			return 0 // the supervisor has gone or ends this runner
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

// prepareRunner protects the runner from commands: a process of the same user may not trace a process that is not
// dumpable, or open its descriptors (ptrace(2), PR_SET_DUMPABLE in prctl(2)).
func prepareRunner() error {
	unix.CloseOnExec(runnerFd)
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// runOne runs a command and waits until none of its processes is left.
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
			if left, err := tellExit(link, status); !left || err != nil {
				return err
			}
		}
	}
}

// tellExit sends the status of the command itself. If none of its processes is left, it sends both replies in one
// write, so that the receiver wakes only once.
func tellExit(link *os.File, status unix.WaitStatus) (left bool, err error) {
	for {
		got, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case got > 0 || errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			_, err := link.Write(append(encodeReply(replyExit, uint32(status)), encodeReply(replyEmpty, 0)...))
			return false, err
		case err != nil:
			return false, err
		default:
			return true, reply(link, replyExit, uint32(status))
		}
	}
}

func reply(w io.Writer, kind byte, n uint32) error {
	_, err := w.Write(encodeReply(kind, n))
	return err
}

// encodeReply returns the bytes of a reply.
func encodeReply(kind byte, n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{kind}, n) }

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
	for _, path := range Candidates(args[0], variable(env, "PATH"), req.Dir) {
		// The child executes a relative path in its own directory; a script gets the path unchanged.
		at := path
		if !strings.HasPrefix(path, "/") {
			at = req.Dir + "/" + path
		}
		_, err := os.Stat(at) // a fork that only finds no file would cost as much as the command
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			pid, err = syscall.ForkExec(path, args, attr)
			if err == nil {
				return pid, nil
			}
			if errors.Is(err, fs.ErrNotExist) && exists(at) {
				err = errNoInterpreter
			}
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			found = err
		}
	}
	return 0, refusal(found)
}

var errNoInterpreter error = unix.ENOEXEC

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func refusal(err error) *failure {
	if e := sandbox.Unexecutable("", err); e != nil {
		why, _ := errors.AsType[*sandbox.ExecError](e) // it always has a value
		return &failure{Code: e.Code, Status: why.Code, Text: why.Err.Error()}
	}
	if errors.Is(err, unix.E2BIG) {
		return &failure{
			Code: sandbox.Invalid, Text: "the command line is longer than this system allows",
			Hint: "pass long input through a file or standard input",
		}
	}
	return &failure{Code: sandbox.Internal, Text: err.Error()}
}
