package session

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/hashicorp/yamux"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// asked is a request with the streams that it came with.
type asked struct {
	req    *request
	in     io.ReadCloser // nil: no input
	frames *frameReader  // what is said later
	out    *frameWriter
}

// accept takes requests off a greeted connection, each on a goroutine of its own, until the connection
// ends and all have been served.
func accept(conn io.ReadWriteCloser, serve func(*asked)) error {
	mux, err := yamux.Server(conn, settings())
	if err != nil {
		return err
	}
	m := &meeting{places: map[uint32]chan *yamux.Stream{}, end: mux.CloseChan()}
	var streams sync.WaitGroup
	for {
		stream, err := mux.AcceptStream()
		if err != nil {
			_ = mux.Close()
			streams.Wait()
			return nil //nolint:nilerr // the end of the connection is what it waits for
		}
		streams.Go(func() { m.take(stream, serve) })
	}
}

// meeting is where commands and their streams of input find each other.
type meeting struct {
	end <-chan struct{}

	mu     sync.Mutex
	places map[uint32]chan *yamux.Stream // by the input's number
}

func (m *meeting) take(stream *yamux.Stream, serve func(*asked)) {
	var first [1]byte
	if _, err := io.ReadFull(stream, first[:]); err != nil {
		_ = stream.Close()
		return
	}
	if first[0] == inputMark {
		m.place(stream.StreamID()) <- stream
		return
	}
	defer stream.Close()
	a := &asked{frames: &frameReader{r: io.MultiReader(bytes.NewReader(first[:]), stream)}, out: &frameWriter{w: stream}}
	kind, data, err := a.frames.next()
	if err != nil || kind != frameRequest {
		return
	}
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
	serve(a)
}

// place returns the place where a stream of input and its command meet.
func (m *meeting) place(id uint32) chan *yamux.Stream {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places[id] == nil {
		m.places[id] = make(chan *yamux.Stream, 1)
	}
	return m.places[id]
}

func (m *meeting) forget(id uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.places, id)
}

// refuse tells why the command is not started.
func (a *asked) refuse(err error) {
	why := failure{Code: sandbox.CodeOf(err), Text: err.Error(), Hint: sandbox.HintOf(err)}
	if e, ok := errors.AsType[*sandbox.ExecError](err); ok {
		why.Status, why.Text = e.Code, e.Err.Error()
	}
	_ = writeJSON(a.out.w, frameFailed, why) // who asked is gone otherwise
}

// frameWriter lets several goroutines write frames to one stream.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frameWriter) frame(kind byte, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return writeFrame(f.w, kind, data)
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
