package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// dialect is an API as one run speaks it: it has the messages in the API's own form, and makes requests of them.
type dialect interface {
	// body is the next request.
	body() ([]byte, error)
	// send sends a body with the SDK and returns the answer, whose status was looked at.
	send(ctx context.Context, body []byte, key string) (*http.Response, error)
	// read adds an event to an answer.
	read(f frame, a *answer) *fault
	// extend adds an answer and what its tools came to, to the messages.
	extend(a *answer, results []result)
	// relent changes the request so that a server that refused it with this status and text may take it.
	relent(status int64, text string) bool
}

// run is one Request on its way.
type run struct {
	c       *Client
	req     Request
	api     dialect
	tools   *toolbox
	limit   int64 // tokens of an answer; 0: the server's
	text    int64 // bytes of text in the next request
	secrets []string
	yield   func(event.Event)
	stopped bool // nobody listens any more
	begun   time.Time
	usage   event.Usage
	guessed bool
	turns   int64
	ids     map[string]bool
}

// all asks until there is a result.
func (r *run) all(ctx context.Context) {
	r.begun, r.ids = time.Now(), map[string]bool{}
	r.yield(event.Event{Kind: event.SessionStarted, Session: &event.Session{
		Executor: "direct", Model: r.req.Connector.Model, Tools: r.tools.names(),
	}})
	for !r.stopped {
		a, f := r.turn(ctx)
		uses := a.uses()
		if f == nil {
			f = r.verdict(a, uses)
		}
		if f != nil {
			r.finish(a, f)
			return
		}
		results := r.use(ctx, a.id, uses)
		if ctx.Err() != nil {
			r.finish(a, interrupted(ctx))
			return
		}
		r.api.extend(a, results)
		r.text += a.said
		for _, res := range results {
			r.text += int64(len(res.text))
		}
	}
}

// success is the fault that is none.
var success = &fault{outcome: event.Success}

// verdict decides what follows an answer: nil when the model is to be asked again.
func (r *run) verdict(a *answer, uses []*block) *fault {
	if f := a.why(r.limit); f != nil {
		return f
	}
	switch {
	case len(uses) == 0 && a.end == wantsUse:
		return &fault{outcome: event.Failed, text: "the model wants to use tools and names none"}
	case len(uses) == 0 && a.end == stopped && !a.text() && r.turns <= 1:
		return &fault{outcome: event.Failed, text: "the answer is empty"}
	case len(uses) == 0 && a.end == stopped:
		return success
	case r.turns >= int64(r.req.MaxTurns):
		return &fault{outcome: event.MaxTurns, text: fmt.Sprintf("the limit of %d turns was reached, and the model wanted to go on", r.req.MaxTurns)}
	}
	return r.exceeded(r.usage)
}

// exceeded is the fault of a usage over the limits.
func (r *run) exceeded(u event.Usage) *fault {
	l := r.req.Limits
	if n := u.Prompt() + u.Output; l.Tokens > 0 && n >= l.Tokens {
		return &fault{outcome: event.MaxBudget, text: fmt.Sprintf("the limit of %d tokens was reached", l.Tokens)}
	}
	if l.CostUSD > 0 && r.req.Connector.Price.Cost(u) >= l.CostUSD {
		return &fault{outcome: event.MaxBudget, text: fmt.Sprintf("the limit of $%g was reached", l.CostUSD)}
	}
	return nil
}

// finish tells the result.
func (r *run) finish(a *answer, f *fault) {
	res := event.Result{
		Outcome: f.outcome, Status: f.status, Usage: r.usage, Estimated: r.guessed, Turns: r.turns,
		DurationMS: time.Since(r.begun).Milliseconds(), StopReason: clip(a.reason, 64),
	}
	if f.outcome != event.Success {
		res.Errors = []string{r.told(f.text)}
	}
	model := event.ModelUsage{Model: r.req.Connector.Model, Usage: r.usage}
	if p := r.req.Connector.Price; p != nil {
		cost := p.Cost(r.usage)
		res.CostUSD, model.CostUSD = &cost, &cost
	}
	if r.turns > 0 {
		res.Models = []event.ModelUsage{model}
	}
	r.yield(event.Event{Kind: event.ResultGiven, Result: &res})
}

func (r *run) told(text string) string { return told(r.req.Connector.ID, text, r.secrets) }

// turn asks once, and again after faults that may be over soon, as long as nothing of an answer came.
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
		if r.api.relent(f.status, f.text) {
			r.yield(event.Event{Kind: event.RetryScheduled, Retry: &event.Retry{
				Attempt: int64(attempt), Max: int64(max(r.c.opt.Retries, attempt)), Status: f.status, Error: r.told(f.text),
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

// book tells the usage of an answer, and adds it to that of the run.
func (r *run) book(a *answer) {
	if !a.begun {
		return
	}
	r.name(a)
	u, guessed := a.booked()
	r.turns++
	r.usage, r.guessed = r.usage.Add(u), r.guessed || guessed
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
	idle := time.AfterFunc(opt.Idle, func() { cancel(apiFault("the server said nothing for %s", opt.Idle)) })
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
			return nil // whether that was the end, the answer says
		case err != nil:
			return readFault(ctx, err, a)
		}
		f := garbage(frame.data)
		if frame.data[0] == '{' {
			f = r.api.read(frame, a)
		}
		if f == nil {
			f = a.over()
		}
		if f == nil && len(a.events) > 0 {
			f = r.passed(a)
		}
		r.drain(a)
		if f != nil {
			return f
		}
	}
	return interrupted(ctx)
}

// passed is the fault of an answer that passes a limit while it comes.
func (r *run) passed(a *answer) *fault {
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
		f.again = transient(err)
		return f
	}
	return apiFault("the answer was cut off in the middle: %v", err)
}

// drain gives away the events of an answer.
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

// name gives an answer whose ID is missing, or was another's, one of its own, and its events with it.
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

// key fetches the key, and remembers what must not be told.
func (r *run) key(ctx context.Context) (string, error) {
	s := r.req.Connector.Secret
	if r.c.opt.Keys == nil {
		if s.Env+s.File+s.Value != "" || len(s.Command) > 0 {
			return "", errors.New("the connector names a key, and nobody is there to fetch it")
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

// secretsOf are the key and the values of headers, which may be keys as well, and are too long to be words.
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
