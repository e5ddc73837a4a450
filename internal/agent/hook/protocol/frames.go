package protocol

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Host serves a script's calls of the host. Its calls come one at a time.
type Host interface {
	Call(ctx context.Context, op string, args json.RawMessage) (json.RawMessage, error)
}

// Machine compiles and runs scripts. Its errors have the type *Fault or are the context's.
type Machine interface {
	Compile(ctx context.Context, h Host, o CompileOrder) (*Bundle, error)
	Run(ctx context.Context, h Host, o RunOrder) (json.RawMessage, error)
}

// Frame is one message between the host and a worker: an order of the host, a script's call of the host, the reply
// to it, or the outcome of the order. Exactly one field is set.
type Frame struct {
	Compile *CompileOrder `json:"compile,omitempty"`
	Run     *RunOrder     `json:"run,omitempty"`
	Call    *HostCall     `json:"call,omitempty"`
	Reply   *HostReply    `json:"reply,omitempty"`
	Done    *Outcome      `json:"done,omitempty"`
}

// CompileOrder requests a bundle of a source file, named relative to the assistant's directory.
type CompileOrder struct {
	Entry  string `json:"entry"`
	Limits Limits `json:"limits"`
}

// Bundle is a compiled script in one file, with its source map.
type Bundle struct {
	ID     string   `json:"id"` // a hash of the content
	Code   string   `json:"code"`
	Exists []string `json:"exists"` // the hooks that the script has
}

// RunOrder requests a call of one hook.
type RunOrder struct {
	ID       string          `json:"id"`
	Code     string          `json:"code,omitempty"` // "": the worker has cached it
	Function string          `json:"function"`
	Setting  Setting         `json:"setting"`
	Argument json.RawMessage `json:"argument"` // messages, or the payload
	Options  json.RawMessage `json:"options"`
	Limits   Limits          `json:"limits"`
}

// Setting has the values of ctx that are not functions.
type Setting struct {
	Context json.RawMessage `json:"context"`
	Sandbox bool            `json:"sandbox,omitempty"`
	Workdir string          `json:"workdir,omitempty"`
}

// HostCall is a script's call of the host.
type HostCall struct {
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

// HostReply answers a HostCall.
type HostReply struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Refusal *Refusal        `json:"refusal,omitempty"`
}

// Outcome is the result of an order. A nil Fault means success.
type Outcome struct {
	Value  json.RawMessage `json:"value,omitempty"`
	Bundle *Bundle         `json:"bundle,omitempty"`
	Fault  *Fault          `json:"fault,omitempty"`
}

// Refusal is the failure of a call of the host. The script sees an Error with these properties.
type Refusal struct {
	Message string         `json:"message"`
	Props   map[string]any `json:"props,omitempty"`
	Missing bool           `json:"missing,omitempty"` // the source file does not exist
}

func (r *Refusal) Error() string { return r.Message }

// Refuse returns a Refusal with a message of at most MaxText bytes.
func Refuse(format string, args ...any) *Refusal {
	return &Refusal{Message: Clip(fmt.Sprintf(format, args...), MaxText)}
}

// WriteFrame writes f as JSON after its length in four bytes, most significant first, in one call of Write.
func WriteFrame(w io.Writer, f Frame) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(data) > MaxFrame {
		return fmt.Errorf("more than %d bytes at once", MaxFrame)
	}
	// A separate write of the length would cost a system call and a wake-up.
	_, err = w.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data))), data...))
	return err
}

// ReadFrame reads one frame that WriteFrame wrote. It returns io.EOF when r ends before the first byte.
func ReadFrame(r io.Reader) (Frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return Frame{}, fmt.Errorf("a frame of %d bytes", n)
	}
	data, err := readExactly(r, int(n))
	if err != nil {
		return Frame{}, err
	}
	var f Frame
	if err := json.Unmarshal(data, &f); err != nil {
		return Frame{}, fmt.Errorf("a frame that is not valid JSON: %w", err)
	}
	return f, nil
}

// readExactly reads n bytes. It allocates memory as bytes arrive, because the sender may lie about n.
func readExactly(r io.Reader, n int) ([]byte, error) {
	data := make([]byte, 0, min(n, 1<<20))
	for len(data) < n {
		step := min(n-len(data), max(len(data), 1<<16))
		data = append(data, make([]byte, step)...)
		if _, err := io.ReadFull(r, data[len(data)-step:]); err != nil {
			return nil, fmt.Errorf("a frame that breaks off: %w", err)
		}
	}
	return data, nil
}
