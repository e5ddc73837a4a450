package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// DriverFunc returns the driver whose sandboxes a worker holds. options are those of [Options].
type DriverFunc func(options json.RawMessage, denied func(sandbox.Denial)) (sandbox.Driver, error)

// Serve is the main function of a worker. It returns at the end of the connection on descriptor 3; then the process
// must exit. Invalid: there is no connection.
func Serve(driver DriverFunc) error {
	conn, err := inherit()
	if err != nil {
		return err
	}
	s := &server{newDriver: driver, boxes: map[string]*box{}}
	return session.Share(context.Background(), conn, session.Shared{
		Start: func(context.Context, sandbox.Cmd, sandbox.Stdio) (sandbox.Process, error) {
			return nil, sandbox.Errorf(sandbox.Invalid, "a command needs a sandbox")
		},
		Busy: func(int) {}, Operation: s.operate, Of: s.of,
	})
}

// server is the worker's end.
type server struct {
	newDriver DriverFunc
	events    eventWriter

	mu     sync.Mutex
	driver sandbox.Driver // nil before opBegin
	boxes  map[string]*box
}

// box is a sandbox of the worker.
type box struct {
	server   *server
	instance sandbox.Instance
	start    files.StartFunc // Start of the instance, which also serves its files
}

// of returns a sandbox by its ID.
func (s *server) of(id string) (session.Shared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.boxes[id]
	if b == nil {
		return session.Shared{}, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	return session.Shared{Start: b.start, Busy: func(int) {}, Operation: b.operate}, nil
}

// operate performs an operation of the worker itself.
func (s *server) operate(ctx context.Context, op string, arg json.RawMessage, answer io.Writer) error {
	switch op {
	case opBegin:
		return s.begin(ctx, arg, answer)
	case opCreate:
		return s.create(ctx, arg, answer)
	case opFlush:
		return json.NewEncoder(answer).Encode(flushed{s.events.count()})
	}
	return sandbox.Errorf(sandbox.Unsupported, "no operation %.50q", op)
}

// begin restricts the process and writes events until ctx ends.
func (s *server) begin(ctx context.Context, arg json.RawMessage, answer io.Writer) error {
	var set settings
	if err := json.Unmarshal(arg, &set); err != nil {
		return sandbox.Errorf(sandbox.Invalid, "the worker's settings: %w", err)
	}
	if err := restrict(set.Memory); err != nil {
		return sandbox.Errorf(sandbox.Unavailable, "restrict a worker process: %w", err)
	}
	d, err := s.newDriver(set.Driver, s.events.deny)
	if err != nil {
		return err
	}
	s.mu.Lock()
	first := s.driver == nil
	s.driver = d
	s.mu.Unlock()
	if !first {
		return sandbox.Errorf(sandbox.Invalid, "the worker has begun already")
	}
	if err := s.events.open(answer); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (s *server) create(ctx context.Context, arg json.RawMessage, answer io.Writer) error {
	var c creation
	if err := json.Unmarshal(arg, &c); err != nil {
		return sandbox.Errorf(sandbox.Invalid, "the sandbox's description: %w", err)
	}
	for _, kv := range c.Env {
		c.Spec.Env = append(c.Spec.Env, string(kv))
	}
	s.mu.Lock()
	d := s.driver
	s.mu.Unlock()
	if d == nil {
		return sandbox.Errorf(sandbox.Invalid, "the worker has not begun")
	}
	i, err := d.Create(ctx, c.Spec)
	if err != nil {
		return err
	}
	made := created{ID: i.ID()}
	if l, ok := sandbox.As[sandbox.Limited](i); ok {
		made.Limits, err = l.Limits()
	}
	if err == nil {
		s.mu.Lock()
		s.boxes[made.ID] = &box{s, i, files.Starter(i)}
		s.mu.Unlock()
		err = json.NewEncoder(answer).Encode(made)
	}
	if err != nil {
		s.mu.Lock()
		delete(s.boxes, made.ID)
		s.mu.Unlock()
		return errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return nil
}

// operate performs an operation of a sandbox.
func (b *box) operate(ctx context.Context, op string, arg json.RawMessage, answer io.Writer) error {
	switch op {
	case opStatus:
		st, err := b.instance.Status(ctx)
		if err != nil {
			return err
		}
		return json.NewEncoder(answer).Encode(st)
	case opClose:
		b.server.mu.Lock()
		delete(b.server.boxes, b.instance.ID())
		b.server.mu.Unlock()
		return b.instance.Close(context.WithoutCancel(ctx))
	}
	return persist.Perform(ctx, b.instance, op, arg, answer)
}

// eventWriter sends the events of the driver.
type eventWriter struct {
	mu   sync.Mutex
	to   io.Writer // nil before open
	sent uint64
}

// open sends the first line, after which events follow.
func (w *eventWriter) open(to io.Writer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = to
	_, err := io.WriteString(to, readyLine)
	return err
}

func (w *eventWriter) deny(d sandbox.Denial) {
	data, err := json.Marshal(event{d})
	if err != nil {
		return // a denial contains only text, a number and a time, which always encode
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.to == nil {
		return
	}
	if _, err := w.to.Write(append(data, '\n')); err == nil {
		w.sent++
	}
}

func (w *eventWriter) count() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}
