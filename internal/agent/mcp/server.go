package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// protocol is the version offered to servers; they may choose an older one.
const protocol = "2025-11-25"

const (
	defaultTimeout = time.Minute
	beginTime      = 30 * time.Second // from a server's start until its tools are known
	maxBegins      = 5                // of a server that keeps exiting, within beginsTime
	beginsTime     = time.Minute
)

// server is one server of a set, started on demand.
type server struct {
	tool.Server

	options Options
	turn    chan struct{} // held while the server starts or ends
	over    chan struct{} // closed when the server is ended for good
	ending  sync.Once

	now    *live // guarded by turn; nil: never started
	begins []time.Time
}

// live is a running server.
type live struct {
	session *sdk.ClientSession
	pipe    *pipe             // nil: a server over HTTP
	web     *http.Transport   // nil: a child process
	secret  *strings.Replacer // hides the query of its URL, which may contain a key
	stale   atomic.Bool       // its list of tools has changed
	ended   chan struct{}     // closed when the server no longer answers
	closing chan struct{}     // closed when we end it
	once    sync.Once

	mu    sync.Mutex
	tools []tool.Tool // under their own names
}

func newServer(s tool.Server, o Options) *server {
	return &server{Server: s, options: o, turn: make(chan struct{}, 1), over: make(chan struct{})}
}

// lives returns the running server, and starts it if it has not started or has ended.
func (s *server) lives(ctx context.Context) (*live, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.isOver() {
		return nil, errClosed()
	}
	if now := s.now; now != nil {
		select {
		case <-now.ended:
			now.close()
		default:
			return now, now.refresh(ctx, s.Server)
		}
	}
	if err := s.mayBegin(); err != nil {
		return nil, err
	}
	now, err := s.begin(ctx)
	if err != nil && s.isOver() {
		return nil, errClosed()
	}
	if err != nil {
		return nil, err
	}
	s.now = now
	return now, nil
}

func (s *server) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

func errClosed() error { return sandbox.Errorf(sandbox.Closed, "the servers are closed") }

// mayBegin limits how often a server is started.
func (s *server) mayBegin() error {
	since := time.Now().Add(-beginsTime)
	s.begins = slices.DeleteFunc(s.begins, func(at time.Time) bool { return at.Before(since) })
	if len(s.begins) >= maxBegins {
		return sandbox.Errorf(sandbox.Exhausted, "it was started %d times within a minute", maxBegins).WithHint("find out why it ends")
	}
	s.begins = append(s.begins, time.Now())
	return nil
}

// begin starts the server and lists its tools. On an error it leaves nothing running.
func (s *server) begin(ctx context.Context) (*live, error) {
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	go func() {
		select {
		case <-s.over:
			cancel()
		case <-ctx.Done(): // ends at the latest when begin returns
		}
	}()
	l := &live{ended: make(chan struct{}), closing: make(chan struct{})}
	transport, err := s.transport(l)
	if err != nil {
		return nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "agent-sandbox", Version: s.options.Version}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.stale.Store(true) },
	})
	l.session, err = client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		l.close()
		return nil, l.explain(ctx, err)
	}
	go func() {
		_ = l.session.Wait() // explain has the reason
		close(l.ended)
	}()
	if err := l.learn(ctx, s.Server, true); err != nil {
		if sandbox.CodeOf(err) == sandbox.Internal {
			err = l.explain(ctx, err)
		}
		l.close()
		return nil, err
	}
	return l, nil
}

func (s *server) transport(l *live) (sdk.Transport, error) {
	if s.URL != "" {
		l.secret = strings.NewReplacer()
		if _, query, ok := strings.Cut(s.URL, "?"); ok && query != "" {
			l.secret = strings.NewReplacer(query, "...")
		}
		t, web, err := newHTTPTransport(s.Server, s.options.Env)
		l.web = web
		return t, err
	}
	p, err := startProcess(s.Server, s.options.Env)
	if err != nil {
		return nil, err
	}
	l.pipe = newPipe(p, func() { l.stale.Store(true) })
	return l.pipe, nil
}

// close ends the server and waits for its end.
func (l *live) close() {
	l.once.Do(func() { close(l.closing) })
	if l.pipe != nil {
		_ = l.pipe.Close()
	}
	if l.session != nil {
		_ = l.session.Close() // waits for running calls, which now fail
		<-l.ended
	}
	if l.web != nil {
		l.web.CloseIdleConnections()
	}
}

// refresh lists the tools again when they have changed.
func (l *live) refresh(ctx context.Context, s tool.Server) error {
	if !l.stale.Swap(false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	err := l.learn(ctx, s, false)
	if err != nil {
		l.stale.Store(true)
	}
	return err
}

// explain describes in one line why a server does not answer.
func (l *live) explain(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return sandbox.Errorf(sandbox.Canceled, "%w", ctx.Err())
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return l.withStderr(sandbox.Timeout, "it did not answer in time")
	}
	if l.pipe == nil {
		if isGone(err) && l.session != nil {
			l.close() // so that the next call starts it again
		}
		return sandbox.Errorf(sandbox.Unavailable, "%s", oneLine(l.secret.Replace(err.Error()), 500))
	}
	if wrong := l.pipe.wrong(); wrong != nil {
		return l.withStderr(sandbox.Unavailable, wrong.Error())
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return l.withStderr(sandbox.Unavailable, oneLine(wire.Message, 500))
	}
	_ = l.pipe.Close() // it has ended or broke the protocol
	if l.session != nil {
		<-l.ended // so that the next call starts it again
	}
	return l.withStderr(sandbox.Unavailable, "it has ended: "+l.pipe.process.status)
}

// isGone reports whether the server has ended or lost its session.
func isGone(err error) bool {
	return errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, sdk.ErrSessionMissing)
}

// isUndelivered reports whether an error of a server over HTTP comes from the SDK: it uses the codes -32003 and -32004 for a connection
// that is closing, and -32005 for a request that it could not send.
func isUndelivered(wire *jsonrpc.Error) bool { return wire.Code <= -32003 && wire.Code >= -32005 }

// withStderr adds the end of a child's stderr to an error.
func (l *live) withStderr(code sandbox.Code, what string) error {
	if l.pipe != nil {
		if said := l.pipe.process.stderr.String(); said != "" {
			return sandbox.Errorf(code, "%s (stderr: %s)", what, said)
		}
	}
	return sandbox.Errorf(code, "%s", what)
}

// call calls a tool by the server's own name of it.
func (l *live) call(ctx context.Context, s tool.Server, name string, arguments json.RawMessage) (tool.Result, error) {
	limit := s.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	go func() {
		select {
		case <-l.closing:
			cancel()
		case <-bounded.Done(): // ends at the latest when call returns
		}
	}()
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = json.RawMessage("{}")
	}
	res, err := l.session.CallTool(bounded, &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err == nil {
		return convertResult(res)
	}
	if ctx.Err() == nil && errors.Is(bounded.Err(), context.Canceled) {
		return tool.Result{}, sandbox.Errorf(sandbox.Closed, "it was ended while %s was used", name)
	}
	if ctx.Err() == nil && bounded.Err() != nil {
		return tool.Result{}, sandbox.Errorf(sandbox.Timeout, "%s did not answer within %s", name, limit).WithHint("give the server a longer timeout")
	}
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	// The server's error about the call is for the model, even if it is a protocol error.
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && !isGone(err) && (l.pipe != nil || !isUndelivered(wire)) {
		return failed(oneLine(wire.Message, 4<<10)), nil
	}
	return tool.Result{}, l.explain(ctx, err)
}

// end ends the server for good.
func (s *server) end() {
	s.ending.Do(func() { close(s.over) })
	s.turn <- struct{}{} // the goroutine that starts the server gives up
	defer func() { <-s.turn }()
	if s.now != nil {
		s.now.close()
	}
}
