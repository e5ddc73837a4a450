package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// turn sends a request. It repeats it after a transient fault until a part of an answer has arrived.
func (r *run) turn(ctx context.Context) (*answer, *fault) {
	body, err := r.api.body()
	for attempt := 1; ; attempt++ {
		a := &answer{prompt: r.text}
		if err != nil {
			return a, &fault{outcome: event.Failed, text: err.Error()}
		}
		f := r.attempt(ctx, body, a)
		r.book(a)
		if f == nil || a.begun {
			return a, f
		}
		if r.api.adapt(f.status, f.text) {
			r.yield(event.Event{Kind: event.RetryScheduled, Retry: &event.Retry{
				Attempt: int64(attempt), Max: int64(max(r.c.opt.Retries, attempt)), Status: f.status, Error: r.redacted(f.text),
			}})
			if body, err = r.api.body(); !r.stopped {
				continue
			}
		}
		if !r.pause(ctx, f, attempt) {
			return a, f
		}
	}
}

// book reports the usage of an answer and adds it to the usage of the run.
func (r *run) book(a *answer) {
	if !a.begun {
		return
	}
	r.name(a)
	u, estimated := a.booked()
	r.turns++
	r.usage, r.estimated = r.usage.Add(u), r.estimated || estimated
	r.yield(event.Event{Kind: event.UsageReported, Message: a.id, Usage: &u})
}

// attempt makes one request and reads its answer into a.
func (r *run) attempt(ctx context.Context, body []byte, a *answer) *fault {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	key, err := r.key(ctx)
	if err != nil {
		return &fault{outcome: event.Failed, text: err.Error()}
	}
	opt := r.c.opt
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	whole := time.AfterFunc(opt.Timeout, func() { cancel(apiFault("the answer lasted longer than %s", opt.Timeout)) })
	defer whole.Stop()
	idle := time.AfterFunc(opt.Idle, func() { cancel(apiFault("the server was silent for %s", opt.Idle)) })
	defer idle.Stop()
	res, err := r.api.send(ctx, body, key)
	if err != nil {
		return sendFault(ctx, err, r.req.Connector)
	}
	defer res.Body.Close()
	f := r.read(ctx, newFrames(res.Body, func() { idle.Reset(opt.Idle) }), a)
	a.close()
	r.drain(a)
	return f
}

// read reads the events of a stream up to its end.
func (r *run) read(ctx context.Context, in *frames, a *answer) *fault {
	for !r.stopped {
		frame, err := in.next()
		switch {
		case errors.Is(err, io.EOF), err == nil && isDone(frame.data):
			return nil // the answer knows whether it is complete
		case err != nil:
			return readFault(ctx, err, a)
		}
		f := garbage(frame.data)
		if frame.data[0] == '{' {
			f = r.api.read(frame, a)
		}
		if f == nil {
			f = a.checkSize()
		}
		if f == nil && len(a.events) > 0 {
			f = r.checkLimits(a)
		}
		r.drain(a)
		if f != nil {
			return f
		}
	}
	return interrupted(ctx)
}

// checkLimits returns the fault of an answer that exceeds a limit while it arrives.
func (r *run) checkLimits(a *answer) *fault {
	if r.req.Limits == (Limits{}) || a.end != cut {
		return nil
	}
	u, _ := a.booked()
	return r.exceeded(r.usage.Add(u))
}

func readFault(ctx context.Context, err error, a *answer) *fault {
	if f, ok := errors.AsType[*fault](context.Cause(ctx)); ok {
		return f
	}
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if !a.begun {
		f := apiFault("the connection broke before the answer: %v", err)
		f.again = isTransient(err)
		return f
	}
	return apiFault("the answer was cut off in the middle: %v", err)
}

// drain yields the events of an answer.
func (r *run) drain(a *answer) {
	if len(a.events) == 0 {
		return
	}
	r.name(a)
	for _, e := range a.events {
		r.yield(e)
	}
	clear(a.events)
	a.events = a.events[:0]
}

// name sets the ID of an answer and its events. An answer without an ID, or with that of another, gets its own.
func (r *run) name(a *answer) {
	if !a.named {
		a.named = true
		if a.id = clip(a.id, 200); a.id == "" || r.ids[a.id] {
			a.id = fmt.Sprintf("%s#%d", a.id, r.turns+1)
		}
		r.ids[a.id] = true
	}
	for i := range a.events {
		a.events[i].Message = a.id
	}
}

// key fetches the key and records the secrets that faults must not show.
func (r *run) key(ctx context.Context) (string, error) {
	s := r.req.Connector.Secret
	if r.c.opt.Keys == nil {
		if s.Env+s.File+s.Value != "" || len(s.Command) > 0 {
			return "", errors.New("the connector names a key, and this client has no source of keys")
		}
		return "", nil
	}
	key, err := r.c.opt.Keys.Key(ctx, s)
	if err != nil {
		return "", fmt.Errorf("its key: %w", err)
	}
	r.secrets = secretsOf(key, r.req.Connector)
	return key, nil
}

// secretsOf returns the key and the long values of headers, which may be keys too.
func secretsOf(key string, c connector.Connector) []string {
	var out []string
	if len(key) >= 4 {
		out = append(out, key)
	}
	for _, v := range c.Headers {
		if len(v) >= 8 {
			out = append(out, v)
		}
	}
	return out
}
