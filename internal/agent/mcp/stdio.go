package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxGarbage is the total number of bytes other than messages that a server may print: some print a greeting on stdout.
const maxGarbage = 1 << 20

const (
	methodPing         = "ping"
	methodToolsChanged = "notifications/tools/list_changed"
)

var errGarbage = errors.New("it prints data that is not a message of the protocol")

// pipe is the connection to a server that is a child process. It answers the server's requests itself and looks at only one
// notification, so that no queue grows with a talkative server.
type pipe struct {
	process *process
	in      *bufio.Reader
	garbage int
	changed func()
	out     lineWriter

	closing sync.Once
	mu      sync.Mutex
	why     error // the server's protocol error; nil: none
}

var (
	_ sdk.Transport  = (*pipe)(nil)
	_ sdk.Connection = (*pipe)(nil)
)

func newPipe(p *process, changed func()) *pipe {
	return &pipe{process: p, in: bufio.NewReaderSize(p.stdout, 64<<10), out: lineWriter{to: p.stdin}, changed: changed}
}

// Connect returns the connection itself.
func (p *pipe) Connect(context.Context) (sdk.Connection, error) { return p, nil }

// SessionID is empty: there is one.
func (p *pipe) SessionID() string { return "" }

// Read returns the next answer.
func (p *pipe) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := readLine(p.in, maxMessage)
		if err != nil {
			return nil, p.fault(err)
		}
		if len(line) == 0 {
			continue
		}
		message, err := decode(line)
		if err != nil {
			if p.garbage += len(line); p.garbage > maxGarbage {
				return nil, p.fault(errGarbage)
			}
			continue
		}
		if asked, ok := message.(*jsonrpc.Request); ok {
			if err := p.answer(asked); err != nil {
				return nil, p.fault(err)
			}
			continue
		}
		return message, nil
	}
}

// decode decodes one message; the standard library bounds its depth.
func decode(line []byte) (jsonrpc.Message, error) {
	if line[0] != '{' || !json.Valid(line) {
		return nil, errGarbage
	}
	return jsonrpc.DecodeMessage(line)
}

// answer answers a server's requests: it confirms a ping and rejects the others.
func (p *pipe) answer(r *jsonrpc.Request) error {
	if !r.IsCall() {
		if r.Method == methodToolsChanged {
			p.changed()
		}
		return nil
	}
	reply := &jsonrpc.Response{ID: r.ID, Result: json.RawMessage("{}")}
	if r.Method != methodPing {
		reply = &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client has no such method"}}
	}
	return p.Write(context.Background(), reply)
}

// fault records a protocol error.
func (p *pipe) fault(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil && (errors.Is(err, errTooLong) || errors.Is(err, errGarbage)) {
		p.why = err
	}
	return err
}

// wrong returns the server's protocol error.
func (p *pipe) wrong() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// Write sends one message.
func (p *pipe) Write(_ context.Context, m jsonrpc.Message) error { return p.out.send(m) }

// Close ends the server and waits until it is gone.
func (p *pipe) Close() error {
	p.closing.Do(p.process.close)
	return nil
}
