package model

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// dialect is the API of one run. It holds the messages in the API's form and builds requests from them.
type dialect interface {
	// body returns the body of the next request.
	body() ([]byte, error)
	// send posts a body and returns the stream of events; any other response is a [fault].
	send(ctx context.Context, body []byte, key string) (*http.Response, error)
	// read adds an event to an answer.
	read(f frame, a *answer) *fault
	// extend appends an answer and the results of its tools to the messages.
	extend(a *answer, results []result)
	// adapt changes a request that a server refused with this status and text, and reports whether to send it again.
	adapt(status int64, text string) bool
}

// run is one [Request] under way.
type run struct {
	c         *Client
	req       Request
	api       dialect
	tools     *toolbox
	limit     int64 // tokens of an answer; 0: the server's
	text      int64 // bytes of text in the next request
	secrets   []string
	yield     func(event.Event)
	stopped   bool // the caller stopped reading events
	begun     time.Time
	usage     event.Usage
	estimated bool
	turns     int64
	ids       map[string]bool
}

// all sends requests until there is a result.
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

// success marks a run that succeeded.
var success = &fault{outcome: event.Success}

// verdict returns the end of the run after an answer; nil: the model continues.
func (r *run) verdict(a *answer, uses []*block) *fault {
	if f := a.failure(r.limit); f != nil {
		return f
	}
	switch {
	case len(uses) == 0 && a.end == wantsUse:
		return &fault{outcome: event.Failed, text: "the model stopped for tool calls and has none"}
	case len(uses) == 0 && a.end == stopped && !a.hasText() && r.turns <= 1:
		return &fault{outcome: event.Failed, text: "the answer is empty"}
	case len(uses) == 0 && a.end == stopped:
		return success
	case r.turns >= int64(r.req.MaxTurns):
		return &fault{outcome: event.MaxTurns, text: fmt.Sprintf("the limit of %d turns was reached, and the model wanted to go on", r.req.MaxTurns)}
	}
	return r.exceeded(r.usage)
}

// exceeded returns the fault of a usage above the limits; nil: it is within them.
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

// finish yields the result.
func (r *run) finish(a *answer, f *fault) {
	res := event.Result{
		Outcome: f.outcome, Status: f.status, Usage: r.usage, Estimated: r.estimated, Turns: r.turns,
		DurationMS: time.Since(r.begun).Milliseconds(), StopReason: clip(a.reason, 64),
	}
	if f.outcome != event.Success {
		res.Errors = []string{r.redacted(f.text)}
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

func (r *run) redacted(text string) string { return redact(r.req.Connector.ID, text, r.secrets) }
