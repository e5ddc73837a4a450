package hook

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// frame is what goes between us and a worker: an order to it, its calls of the host with our answers, and its outcome.
// One field is set.
type frame struct {
	Compile *compileOrder `json:"compile,omitempty"`
	Run     *runOrder     `json:"run,omitempty"`
	Call    *hostCall     `json:"call,omitempty"`
	Reply   *hostReply    `json:"reply,omitempty"`
	Done    *outcome      `json:"done,omitempty"`
}

// compileOrder asks for a bundle of a source file, whose name is relative to the assistant's directory.
type compileOrder struct {
	Entry  string `json:"entry"`
	Limits Limits `json:"limits"`
}

// bundle is a script in one piece, with its source map.
type bundle struct {
	ID     string   `json:"id"` // of its content
	Code   string   `json:"code"`
	Exists []string `json:"exists"` // the hooks that it has
}

// runOrder asks for a call of one hook.
type runOrder struct {
	ID       string          `json:"id"`
	Code     string          `json:"code,omitempty"` // "": the worker has it
	Function string          `json:"function"`
	Setting  setting         `json:"setting"`
	Argument json.RawMessage `json:"argument"` // messages, or the payload
	Options  json.RawMessage `json:"options"`
	Limits   Limits          `json:"limits"`
}

// setting is what ctx has beside functions.
type setting struct {
	Context json.RawMessage `json:"context"`
	Sandbox bool            `json:"sandbox,omitempty"`
	Workdir string          `json:"workdir,omitempty"`
}

// hostCall is a call of something that is outside of the script.
type hostCall struct {
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

// hostReply answers a hostCall.
type hostReply struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Refusal *refusal        `json:"refusal,omitempty"`
}

// outcome is the end of an order.
type outcome struct {
	Value  json.RawMessage `json:"value,omitempty"`
	Bundle *bundle         `json:"bundle,omitempty"`
	Fault  *fault          `json:"fault,omitempty"`
}

// refusal is why a call of the host failed, as the script sees it: an Error with these properties.
type refusal struct {
	Message string         `json:"message"`
	Props   map[string]any `json:"props,omitempty"`
	Missing bool           `json:"missing,omitempty"` // a source file that does not exist
}

func (r *refusal) Error() string { return r.Message }

func refuse(format string, args ...any) *refusal {
	return &refusal{Message: clip(fmt.Sprintf(format, args...), maxText)}
}

// writeFrame writes the length in four bytes and the frame as JSON.
func writeFrame(w io.Writer, f frame) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(data) > maxFrame {
		return fmt.Errorf("more than %d bytes at once", maxFrame)
	}
	// One write: the length alone would cost a system call and a wake-up of its own.
	_, err = w.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data))), data...))
	return err
}

// readFrame reads what writeFrame writes. io.EOF: nothing came.
func readFrame(r io.Reader) (frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return frame{}, fmt.Errorf("a frame of %d bytes", n)
	}
	data, err := readExactly(r, int(n))
	if err != nil {
		return frame{}, err
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		return frame{}, fmt.Errorf("a frame that is no JSON: %w", err)
	}
	return f, nil
}

// readExactly takes memory as bytes come, not as a length promises.
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
