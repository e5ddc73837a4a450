package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// asked is a client's request with its streams.
type asked struct {
	req    *request
	in     io.Reader    // nil: no input
	frames *frameReader // later frames of the client
	out    *frameWriter
}

// tell is a function that sends later events to the client until ctx ends.
type tell func(ctx context.Context, a *asked)

// server serves the streams that a client opens.
type server interface {
	command(a *asked)
	setUp(s Setup) (tell, error)
	dial(ctx context.Context, t target) (net.Conn, error)
	listen(ctx context.Context, r Relay) (net.Listener, error)
}

// accept serves the requests of a connection, each on a goroutine of its own, and returns when the connection has ended and all
// requests are served.
func accept(ctx context.Context, m *mux.Session, s server) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	meet := &meeting{places: map[uint32]chan *mux.Stream{}, end: m.Done()}
	var streams sync.WaitGroup
	for {
		stream, err := m.Accept()
		if err != nil {
			cancel()
			streams.Wait()
			return
		}
		streams.Go(func() { meet.take(ctx, stream, s, m) })
	}
}

// meeting passes streams of input to their commands.
type meeting struct {
	end <-chan struct{}

	mu     sync.Mutex
	places map[uint32]chan *mux.Stream // by the input's number
}

func (m *meeting) take(ctx context.Context, stream *mux.Stream, s server, over *mux.Session) {
	var first [1]byte
	if _, err := io.ReadFull(stream, first[:]); err != nil {
		_ = stream.Close()
		return
	}
	if first[0] == inputMark {
		m.place(stream.ID()) <- stream
		return
	}
	defer stream.Close()
	a := &asked{frames: &frameReader{r: io.MultiReader(bytes.NewReader(first[:]), stream)}, out: &frameWriter{w: stream}}
	kind, data, err := a.frames.next()
	switch {
	case err != nil:
		return
	case kind == frameRequest:
		m.request(a, data, s)
	case kind == frameSetup:
		a.setUp(ctx, data, s)
	case kind == frameDial:
		a.dial(ctx, data, stream, s)
	case kind == frameListen:
		a.listen(ctx, data, stream, s, over)
	}
}

// request waits for a command's input stream and then calls the handler with both.
func (m *meeting) request(a *asked, data []byte, s server) {
	var err error
	if a.req, err = decodeRequest(data); err != nil {
		a.refuse(sandbox.Errorf(sandbox.Invalid, "%w", err))
		return
	}
	if a.req.Input != 0 {
		defer m.forget(a.req.Input)
		select {
		case in := <-m.place(a.req.Input):
			defer in.Close()
			a.in = in
		case <-m.end:
			return
		}
	}
	s.command(a)
}

// place returns the channel that passes a stream of input to its command.
func (m *meeting) place(id uint32) chan *mux.Stream {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places[id] == nil {
		m.places[id] = make(chan *mux.Stream, 1)
	}
	return m.places[id]
}

func (m *meeting) forget(id uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.places, id)
}

// refuse sends the reason for which the command was not started.
func (a *asked) refuse(err error) {
	why := failure{Code: sandbox.CodeOf(err), Text: err.Error(), Hint: sandbox.HintOf(err)}
	if e, ok := errors.AsType[*sandbox.ExecError](err); ok {
		why.Status, why.Text = e.Code, e.Err.Error()
	}
	a.out.fail(why)
}

// begun sends that the requested operation has begun.
func (a *asked) begun() error { return a.out.frame(frameBegun, make([]byte, 4)) }

// frameWriter lets several goroutines write frames to one stream.
type frameWriter struct {
	mu sync.Mutex
	w  *mux.Stream
}

func (f *frameWriter) frame(kind byte, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return writeFrame(f.w, kind, data)
}

// fail ends the stream with a reason. It ignores errors, which mean that the client has gone.
func (f *frameWriter) fail(why failure) {
	if data, err := json.Marshal(why); err == nil {
		_ = f.last(frameFailed, data)
	}
}

// last writes the last frame and closes the stream.
func (f *frameWriter) last(kind byte, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	head := frameHead(kind, data)
	return f.w.WriteLast(head[:], data)
}

// kind returns a writer whose writes become frames of that kind.
func (f *frameWriter) kind(kind byte) io.Writer { return kindWriter{f, kind} }

type kindWriter struct {
	f    *frameWriter
	kind byte
}

func (k kindWriter) Write(p []byte) (int, error) {
	done := 0
	for len(p) > 0 {
		part := p[:min(len(p), maxData)]
		if err := k.f.frame(k.kind, part); err != nil {
			return done, err
		}
		done += len(part)
		p = p[len(part):]
	}
	return done, nil
}
