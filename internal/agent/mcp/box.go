package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// BoxOptions configure how a sandbox is served.
type BoxOptions struct {
	Version string // of this program, sent to clients; "": none
	Dir     string // absolute, the directory in which commands start and relative names resolve; "": the sandbox's own
	// Refused returns a line for each denial since its last call; nil: results do not name denials.
	Refused func(ctx context.Context) []string
	// Reopen replaces the sandbox after it has ended; nil: it stays ended. The caller of ServeBox closes both.
	Reopen func(ctx context.Context) (*sandbox.Sandbox, error)
}

const instructions = "A sandbox: commands run in it and files are in it, and nothing of it reaches the machine around it but what its policy allows. " +
	"Names are absolute paths inside, or relative to its start directory."

// ServeBox serves a sandbox as an MCP server over a byte stream, one message per line, with the tools run, read, write and list, and
// snapshot, restore and snapshots if the sandbox supports them. It returns when the client or ctx has ended and no call of
// the client is running; nil: the client has ended. It closes conn; the caller closes the sandbox.
func ServeBox(ctx context.Context, conn io.ReadWriteCloser, box *sandbox.Sandbox, o BoxOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &boxed{box: box, options: o, slots: make(chan struct{}, maxBoxed)}
	server := sdk.NewServer(&sdk.Implementation{Name: "agent-sandbox", Title: "agent-sandbox: " + box.Backend(), Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	b.register(ctx, server)
	lines := &lineConn{in: bufio.NewReaderSize(conn, 64<<10), conn: conn, out: lineWriter{to: conn}, ended: cancel}
	err := server.Run(ctx, lines)
	cancel()
	_ = conn.Close()
	b.end()
	if errors.Is(err, io.EOF) || lines.hasClientEnded() {
		return nil
	}
	return err
}

// lineConn is a stream of lines. It answers an invalid message with an error and continues.
type lineConn struct {
	in    *bufio.Reader
	conn  io.ReadWriteCloser
	out   lineWriter
	ended func() // called at the end of the input

	mu   sync.Mutex
	over bool
}

var _ sdk.Connection = (*lineConn)(nil)

// Connect returns the connection itself.
func (l *lineConn) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// SessionID returns "": the stream has a single session.
func (l *lineConn) SessionID() string { return "" }

// Read returns the next message.
func (l *lineConn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := readLine(l.in, maxMessage)
		var wrong answering
		var message jsonrpc.Message
		switch {
		case errors.Is(err, errTooLong):
			wrong = rejectMessage(jsonrpc.CodeParseError, err.Error())
		case err != nil:
			l.mu.Lock()
			l.over = errors.Is(err, io.EOF)
			l.mu.Unlock()
			l.ended()
			return nil, err
		case len(line) == 0:
			continue
		case !json.Valid(line):
			wrong = rejectMessage(jsonrpc.CodeParseError, "this is not JSON")
		default:
			if message, err = jsonrpc.DecodeMessage(line); err == nil {
				return message, nil
			}
			wrong = rejectMessage(jsonrpc.CodeInvalidRequest, "this is not a JSON-RPC 2.0 message")
		}
		if err := l.out.write(wrong()); err != nil {
			return nil, err
		}
	}
}

// hasClientEnded reports whether the client has ended.
func (l *lineConn) hasClientEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// Write sends one message.
func (l *lineConn) Write(_ context.Context, m jsonrpc.Message) error { return l.out.send(m) }

// Close closes the stream.
func (l *lineConn) Close() error { return l.conn.Close() }
