package session

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The frames of a stream.
const (
	// To the guest.
	frameRequest = 'r' // a request as JSON; the first frame of a stream, like the next two
	frameSetup   = 'u' // a Setup as JSON
	frameDial    = 'd' // a target as JSON; after frameBegun the stream is a connection, see conn
	frameListen  = 'l' // a Relay as JSON, also a first frame; after frameBegun it listens until either end closes the stream
	frameSignal  = 's' // one byte: the signal's number
	frameSize    = 'w' // rows and columns, two bytes each
	frameKill    = 'k' // kills the whole process tree; the exit frame follows
	// To the host.
	frameRelay      = 'n' // a relay's name; the first frame of a stream that the guest opens, which is a connection then
	frameRedirected = 'p' // a redirectedTo as JSON; like frameRelay, for a connection that was redirected
	frameAsk        = 'q' // an address as text; also a first frame: may a program connect to it? frameBegun or frameFailed follows
	frameRefusal    = 'g' // a refusal of the guard's as JSON, after the frameBegun of a Setup
	frameBegun      = 'b' // four bytes: the command's pid inside
	frameFailed     = 'f' // a failure as JSON, or empty when none is known; the last frame
	frameOutput     = 'o'
	frameErrors     = 'e'
	frameExit       = 'x' // four bytes: the exit status, or 128+n after signal n; one byte: that signal or 0; then why agent-sandbox killed it; the last frame
)

// inputMark is the first byte of a stream with a command's input.
const inputMark = 'i'

// Limits of a frame's length in bytes.
const (
	maxData    = 64 << 10
	maxRequest = 8 << 20 // the kernel takes 2 MiB of arguments and environment by default (execve(2)); JSON takes more
	maxSetup   = 16 << 20
	maxTarget  = 1 << 10
	maxFailure = 64 << 10
	maxRefusal = 16 << 10 // a path and its name, in base64
)

const headLength = 5

var errFrame = errors.New("the other end broke the protocol")

// limitOf returns the maximum length of a frame; false: the kind is unknown.
func limitOf(kind byte) (int, bool) {
	switch kind {
	case frameRequest:
		return maxRequest, true
	case frameSetup:
		return maxSetup, true
	case frameDial, frameListen:
		return maxTarget, true
	case frameRelay:
		return maxRelayName, true
	case frameAsk, frameRedirected:
		return maxTarget, true
	case frameFailed:
		return maxFailure, true
	case frameRefusal:
		return maxRefusal, true
	case frameOutput, frameErrors:
		return maxData, true
	case frameSignal:
		return 1, true
	case frameSize, frameBegun:
		return 4, true
	case frameExit:
		return exitSize + maxExitReason, true
	case frameKill:
		return 0, true
	}
	return 0, false
}

// writeFrame sends a frame in one write.
func writeFrame(w *mux.Stream, kind byte, data []byte) error {
	head := frameHead(kind, data)
	_, err := w.WriteTwo(head[:], data)
	return err
}

func frameHead(kind byte, data []byte) (head [headLength]byte) {
	head[0] = kind
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	return head
}

func writeJSON(w *mux.Stream, kind byte, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w, kind, data)
}

// frameReader reads frames from a stream.
type frameReader struct {
	r   io.Reader
	buf []byte
}

// next returns the next frame; data is valid until the next call. io.EOF: the stream ended between two
// frames.
func (f *frameReader) next() (kind byte, data []byte, err error) {
	var head [headLength]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if limit, ok := limitOf(head[0]); !ok || n > uint32(limit) {
		return 0, nil, fmt.Errorf("%w: a frame %q of %d bytes", errFrame, head[0], n)
	}
	if int(n) > cap(f.buf) {
		f.buf = make([]byte, n)
	}
	data = f.buf[:n]
	if _, err := io.ReadFull(f.r, data); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return head[0], data, nil
}

// request is a request for a command or an operation.
type request struct {
	Sandbox string            `json:"sandbox,omitempty"` // if the other end holds several; empty: its only one
	Op      string            `json:"op,omitempty"`      // empty: to run Args
	Arg     json.RawMessage   `json:"arg,omitempty"`     // of Op
	Args    [][]byte          `json:"args"`
	Env     [][]byte          `json:"env"`
	Dir     string            `json:"dir,omitempty"`   // empty: the sandbox's initial directory
	Input   uint32            `json:"input,omitempty"` // the stream that carries its input; 0: it has none
	TTY     *sandbox.Terminal `json:"tty,omitempty"`   // the size of its terminal
	Typed   *sandbox.Terminal `json:"typed,omitempty"` // the size of the terminal that its input comes from; nil: another source
	Leave   bool              `json:"leave,omitempty"` // do not wait for processes that the command has left running
}

// failure is the reason for which a command was not started.
type failure struct {
	Code   sandbox.Code `json:"code"`
	Status int          `json:"status,omitempty"` // 126 or 127 for an error of the program itself
	Text   string       `json:"text"`
	Hint   string       `json:"hint,omitempty"`
}

func byteStrings(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func plainStrings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}
