package session

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// command is a running command in the guest.
type command struct {
	*asked

	runners *runners
	own     bool // an operation on files, which also a frozen sandbox has

	runner *runner
	input  *os.File // writing end of its input, or nil
	master *os.File // master of its terminal, or nil
	copies sync.WaitGroup

	kill  chan struct{} // closed when the host kills the command or has gone
	empty chan struct{} // closed when the runner has no processes of the command any more

	outputs map[byte]*os.File // set before the copies begin

	mu     sync.Mutex
	pid    int // 0: not running
	status unix.WaitStatus
	ended  chan struct{} // closed when status is known
}

// serve runs the command from its request to its exit. Its background processes stay below its runner.
func (c *command) serve() {
	c.kill, c.empty, c.ended = make(chan struct{}), make(chan struct{}), make(chan struct{})
	before, _ := c.runners.oomKills()
	outputs, why := c.start()
	if why != nil {
		c.out.fail(*why)
		return
	}
	c.outputs = outputs
	for kind, f := range outputs {
		c.copies.Go(func() { c.copyOut(kind, f) })
	}
	if c.in != nil {
		go c.copyIn()
	}
	go c.obey()
	c.finish(before)
}

// finish waits for the end of the command and sends it. before is what oomKills returned at its start.
func (c *command) finish(before uint64) {
	select {
	case <-c.ended:
	case <-c.runner.dead:
	case <-c.kill:
		c.runners.kill(c.runner)
	}
	written := make(chan struct{})
	go func() {
		c.hangUp()
		c.copies.Wait()
		close(written)
	}()
	select {
	case <-written:
	case <-c.kill:
		c.runners.kill(c.runner)
		<-written
	}
	if c.input != nil {
		_ = c.input.Close()
	}
	// The guard checks for raced files before the host learns of the end, because the host may then remove the
	// container.
	if !c.runners.inspect() {
		<-c.kill // the sandbox ends
		return
	}
	code, signal := c.exit()
	exit := sandbox.Exit{Code: code, Signal: signal, Reason: c.runners.reason(code, before)}
	_ = c.out.last(frameExit, exitFrame(exit)) // the host is gone otherwise
	go c.handBack()
}

// handBack releases the runner when no process is left below it.
func (c *command) handBack() {
	select {
	case <-c.empty:
		c.runners.release(c.runner)
	case <-c.runner.dead:
		_ = c.runner.link.Close()
	}
}

// exit returns the status of the command itself. It reports a command that died with its runner as killed.
func (c *command) exit() (code, signal int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.ended:
	default:
		return 128 + int(unix.SIGKILL), int(unix.SIGKILL)
	}
	if c.status.Signaled() {
		return 128 + int(c.status.Signal()), int(c.status.Signal())
	}
	return c.status.ExitStatus(), 0
}

// start passes the request to a runner, and returns the sources of the output.
func (c *command) start() (outputs map[byte]*os.File, why *failure) {
	if !c.own {
		release, ok := c.runners.freezer.admit()
		if !ok {
			return nil, frozenFailure()
		}
		defer release()
	}
	theirs, ours, err := c.streams()
	defer theirs.close()
	if err == nil {
		c.runner, err = c.runners.acquire(c.own)
	}
	if err == nil {
		err = c.runner.send(c.req, theirs)
	}
	if err == nil {
		why, err = c.begun()
	}
	if err == nil && why == nil {
		err = c.out.frame(frameBegun, binary.BigEndian.AppendUint32(nil, uint32(c.pid)))
		if c.pid != 0 {
			go c.follow()
		}
		if err != nil {
			c.runners.kill(c.runner)
		}
	}
	if err != nil && why == nil {
		why = &failure{Code: sandbox.Internal, Text: err.Error()}
	}
	if why != nil {
		for _, f := range ours {
			_ = f.Close()
		}
		files{c.input, c.master}.close()
		return nil, why
	}
	return ours, nil
}

// streams creates the command's standard streams. theirs are the command's ends; ours are the guest's ends by kind of
// frame.
func (c *command) streams() (theirs files, ours map[byte]*os.File, err error) {
	if c.req.TTY != nil {
		return c.terminal()
	}
	ours = map[byte]*os.File{}
	switch {
	case c.in == nil:
		null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, nil, os.NewSyscallError("open "+os.DevNull, err)
		}
		theirs = files{os.NewFile(uintptr(null), os.DevNull)}
	case c.req.Typed != nil:
		master, slave, err := openInputTerminal(*c.req.Typed)
		if err != nil {
			return nil, nil, err
		}
		theirs, c.input = files{slave}, master
	default:
		r, w, err := pipe(1)
		if err != nil {
			return nil, nil, err
		}
		theirs, c.input = files{r}, w
	}
	for _, kind := range []byte{frameOutput, frameErrors} {
		r, w, err := pipe(0)
		if err != nil {
			return theirs, ours, err
		}
		theirs, ours[kind] = append(theirs, w), r
	}
	return theirs, ours, nil
}

// pipe makes a pipe of which the guest uses one end, the reading (0) or the writing one (1). os.Pipe would poll both ends, with
// three times as many system calls.
func pipe(ours int) (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	if err := unix.SetNonblock(fds[ours], true); err != nil { // polled; the command's end is not
		_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe"), nil
}

// begun reads the runner's first answer.
func (c *command) begun() (*failure, error) {
	kind, n, err := c.runner.reply()
	switch {
	case err != nil:
		return nil, nil //nolint:nilnil,nilerr // the command was faster and killed its runner: it ran, and is dead
	case kind == replyFailed && n <= maxFailure:
		data := make([]byte, n)
		if _, err := io.ReadFull(c.runner.link, data); err != nil {
			return nil, errGone
		}
		var why failure
		if err := json.Unmarshal(data, &why); err != nil {
			return nil, err
		}
		c.runners.release(c.runner)
		return &why, nil
	case kind != replyBegun:
		return nil, errFrame
	}
	c.pid = int(n)
	return nil, nil //nolint:nilnil // no failure and no error: it runs
}

// follow reads the runner's later answers.
func (c *command) follow() {
	for {
		kind, n, err := c.runner.reply()
		switch {
		case err != nil:
			return
		case kind == replyExit:
			c.mu.Lock()
			c.status, c.pid = unix.WaitStatus(n), 0
			c.mu.Unlock()
			close(c.ended)
		case kind == replyEmpty:
			close(c.empty)
			return
		}
	}
}

// obey handles the host's frames until the stream ends.
func (c *command) obey() {
	defer close(c.kill)
	for {
		kind, data, err := c.frames.next()
		if err != nil {
			return
		}
		switch {
		case kind == frameSignal && len(data) == 1 && data[0] != byte(unix.SIGKILL):
			c.signal(unix.Signal(data[0]))
		case kind == frameSize && len(data) == 4:
			c.resize(sandbox.Terminal{Rows: binary.BigEndian.Uint16(data), Cols: binary.BigEndian.Uint16(data[2:])})
		default: // frameKill, or an invalid frame
			return
		}
	}
}

// signal sends a signal to the command's process group. SIGCONT would continue a frozen command, and the SIGCONT of a thaw discards
// signals that stop processes (signal(7)), so these wait.
func (c *command) signal(sig unix.Signal) {
	if controlsJob(sig) && c.runners.freezer.postpone(func() { c.signal(sig) }) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid > 0 {
		_ = unix.Kill(-c.pid, sig) // the command has its own session; it may have ended
	}
}

// controlsJob reports whether a signal continues processes, or stops those that do not handle it.
func controlsJob(sig unix.Signal) bool {
	return slices.Contains([]unix.Signal{unix.SIGCONT, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU}, sig)
}

func (c *command) copyIn() {
	_, _ = io.Copy(c.input, c.in) // EPIPE if the command does not read its input
	switch {
	case c.master != nil:
	case c.req.Typed != nil:
		_, _ = c.input.Write([]byte{endOfInput}) // closing it would drop what the command has not read yet
	default:
		_ = c.input.Close()
	}
}

// copyOut sends the output until all writers have ended, or hangUp ends it.
func (c *command) copyOut(kind byte, f *os.File) {
	buf := make([]byte, maxData)
	for {
		n, err := f.Read(buf)
		if n > 0 && c.out.frame(kind, buf[:n]) != nil {
			break
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && c.master == nil {
			c.sendWritten(kind, f, buf)
			go discard(f)
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.drain(kind, f, buf)
		}
		if err != nil {
			break
		}
	}
	_ = f.Close()
}

// hangUp ends the terminal of a command that has ended, also for other processes that have it open, and the output of a
// command that leaves others running.
func (c *command) hangUp() {
	if c.master != nil {
		_ = c.master.SetReadDeadline(time.Unix(1, 0))
	}
	if c.req.Leave {
		for _, f := range c.outputs {
			_ = f.SetReadDeadline(time.Unix(1, 0))
		}
	}
}

// sendWritten sends the bytes that a pipe contains now, and no bytes that other processes write to it later.
func (c *command) sendWritten(kind byte, f *os.File, buf []byte) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		left, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		for err == nil && left > 0 {
			var n int
			if n, err = unix.Read(int(fd), buf[:min(left, len(buf))]); n <= 0 || c.out.frame(kind, buf[:n]) != nil {
				return
			}
			left -= n
		}
	})
}

// discard reads a pipe until all writers have ended, so that their writes neither fail nor block.
func discard(f *os.File) {
	defer f.Close()
	if f.SetReadDeadline(time.Time{}) == nil {
		_, _ = io.Copy(io.Discard, f) // it ends with the writers
	}
}

// drain sends the output that a terminal has buffered.
func (c *command) drain(kind byte, f *os.File, buf []byte) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		for {
			n, err := unix.Read(int(fd), buf)
			if n <= 0 || err != nil || c.out.frame(kind, buf[:n]) != nil {
				return
			}
		}
	})
}

// send passes a request and its streams to the runner.
func (r *runner) send(req *request, streams files) error {
	data, err := json.Marshal(req)
	if err != nil {
		return err
	}
	var fds []int
	for _, f := range streams {
		fds = append(fds, int(f.Fd()))
	}
	message := append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data))), data...)
	raw, err := r.link.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var sent error
	err = raw.Control(func(fd uintptr) { // the socket's buffer is empty, so it accepts the first bytes with the streams
		n, sent = unix.SendmsgN(int(fd), message, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
	})
	if firstOf(err, sent) != nil {
		return errGone
	}
	if n < len(message) {
		_, err = r.link.Write(message[n:])
	}
	return err
}

func (r *runner) reply() (kind byte, n uint32, err error) {
	var msg [5]byte
	if _, err := io.ReadFull(r.link, msg[:]); err != nil {
		return 0, 0, err
	}
	return msg[0], binary.BigEndian.Uint32(msg[1:]), nil
}
