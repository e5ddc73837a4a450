package session

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxReason limits how many bytes of the guest's text an error repeats.
const maxReason = 4 << 10

// Process is a command in a session. Its methods are safe for concurrent use.
type Process struct {
	mux    *mux.Session
	name   string
	stdio  sandbox.Stdio
	stream *mux.Stream
	input  *mux.Stream // nil: none
	stop   func() bool // stops watching the context
	done   chan struct{}

	mu   sync.Mutex // error of writing to the stream
	exit sandbox.Exit
	err  error
}

// begin sends the request and waits for its answer.
func (p *Process) begin(req request) error {
	data, err := json.Marshal(req)
	if err != nil {
		return err
	}
	if len(data) > maxRequest {
		return sandbox.Errorf(sandbox.Invalid, "the command line is longer than this system allows").
			WithHint("pass long input through a file or standard input")
	}
	if err := p.mux.Together(func() error { return p.ask(data) }); err != nil {
		return ended(err)
	}
	frames := &frameReader{r: p.stream}
	kind, answer, err := frames.next()
	switch {
	case err != nil:
		return ended(err)
	case kind == frameFailed:
		return refused(answer, p.name)
	case kind != frameBegun:
		return sandbox.Errorf(sandbox.Internal, "the guest answered with a frame %q", kind)
	}
	if p.input != nil {
		go p.copyIn()
	}
	go p.receive(frames)
	return nil
}

// ask sends the request with the number of its input stream.
func (p *Process) ask(request []byte) error {
	if p.input != nil {
		if _, err := p.input.Write([]byte{inputMark}); err != nil {
			return err
		}
	}
	return p.write(frameRequest, request)
}

// copyIn sends the caller's input. No goroutine waits for its end, because the source may never end.
func (p *Process) copyIn() {
	if _, err := io.Copy(p.input, p.stdio.Stdin); err != nil {
		p.input.Reset() // the source failed, or the command does not read it
		return
	}
	_ = p.input.CloseWrite() // an error means that the command has ended
}

// receive reads the command's output and its end.
func (p *Process) receive(frames *frameReader) {
	defer close(p.done)
	defer p.close()
	for {
		kind, data, err := frames.next()
		switch {
		case err != nil:
			p.err = firstOf(p.err, ended(err))
			return
		case kind == frameOutput:
			err = forward(p.stdio.Stdout, data)
		case kind == frameErrors:
			err = forward(p.stdio.Stderr, data)
		case kind == frameFailed && len(data) > 0:
			p.err = firstOf(p.err, refused(data, p.name))
			return
		case kind == frameFailed:
			p.err = firstOf(p.err, sandbox.Errorf(sandbox.Closed, "the sandbox has ended"))
			return
		case kind == frameExit && len(data) >= exitSize:
			p.exit = sandbox.Exit{
				Code: int(binary.BigEndian.Uint32(data) & 0xff), Signal: int(data[4] & 0x7f), Reason: Printable(string(data[exitSize:])),
			}
			return
		default:
			p.err = sandbox.Errorf(sandbox.Internal, "the guest sent a frame %q", kind)
			return
		}
		if err != nil { // The caller accepts no more output: kill the command.
			p.err = err
			p.kill()
		}
	}
}

func forward(w io.Writer, data []byte) error {
	if w == nil {
		return nil
	}
	_, err := w.Write(data)
	return err
}

// refused converts a failure to the errors that all drivers return. program is empty if the failure is not about a
// program.
func refused(data []byte, program string) error {
	var why failure
	if err := json.Unmarshal(data, &why); err != nil {
		return sandbox.Errorf(sandbox.Internal, "the guest's reason: %w", err)
	}
	text := errors.New(Printable(why.Text[:min(len(why.Text), maxReason)]))
	if !slices.Contains(codes, why.Code) {
		why.Code = sandbox.Internal
	}
	e := &sandbox.Error{Code: why.Code, Hint: Printable(why.Hint[:min(len(why.Hint), maxReason)]), Err: text}
	if program == "" {
		return e
	}
	if why.Status == sandbox.ExitNotFound || why.Status == sandbox.ExitNotExecutable {
		e.Err = &sandbox.ExecError{Name: program, Code: why.Status, Err: text}
	}
	return e
}

// codes are the error codes that the other end may send.
var codes = []sandbox.Code{
	sandbox.Invalid, sandbox.NotFound, sandbox.Exists, sandbox.Conflict, sandbox.Denied, sandbox.Unsupported,
	sandbox.Unavailable, sandbox.Exhausted, sandbox.Closed, sandbox.Internal,
}

// Done is closed when the command has ended, when Wait returns.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns when the command and everything that writes to its output has ended.
func (p *Process) Wait() (sandbox.Exit, error) {
	<-p.done
	p.stop()
	return p.exit, p.err
}

// Signal sends sig to the command's process group; SIGKILL ends all that it has started.
func (p *Process) Signal(sig os.Signal) error {
	n, ok := sig.(syscall.Signal)
	if !ok || n <= 0 || n > 64 {
		return sandbox.Errorf(sandbox.Invalid, "signal %v is none of this system", sig)
	}
	if n == syscall.SIGKILL {
		p.kill()
		return nil
	}
	_ = p.write(frameSignal, []byte{byte(n)}) // the command may have ended
	return nil
}

// Resize changes the size of the command's terminal.
func (p *Process) Resize(s sandbox.Terminal) error {
	data := binary.BigEndian.AppendUint16(nil, s.Rows)
	_ = p.write(frameSize, binary.BigEndian.AppendUint16(data, s.Cols)) // as for Signal
	return nil
}

func (p *Process) kill() { _ = p.write(frameKill, nil) } // the command may have ended

func (p *Process) write(kind byte, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return writeFrame(p.stream, kind, data)
}

func (p *Process) close() {
	if p.stream != nil {
		_ = p.stream.Close()
	}
	if p.input != nil {
		_ = p.input.Close()
	}
}
