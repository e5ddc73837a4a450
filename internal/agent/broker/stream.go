package broker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

// sink receives an answer as it arrives.
type sink interface {
	// take receives an event and its deltas.
	take(deltas []dialect.Delta, e sse.Event, ready bool)
	// flush sends buffered output.
	flush()
	// finish completes the answer.
	finish()
}

// translate sends the request to a connector that speaks a different API than the agent.
func (c *call) translate(ctx context.Context) *dialect.Fault {
	from, to := dialect.For(c.api), dialect.For(c.to.Protocol)
	r, err := from.Read(c.asked.body)
	if err != nil {
		f, ok := errors.AsType[*dialect.Fault](err)
		if !ok {
			return refused(err.Error())
		}
		f.Code = "invalid_request"
		return f
	}
	build := func(longest int64) ([]byte, *dialect.Fault) {
		return to.Write(r, dialect.Target{Model: c.to.Model, MaxTokens: longest, Completion: hasCompletionTokens(c.to)}), nil
	}
	head := dialect.Head{ID: newAnswerID(), Model: c.asked.model, Created: c.entry.Time.Unix(), Tools: r.Tools, Usage: r.StreamUsage}
	var s sink
	if c.asked.stream {
		s = &translated{call: c, encoder: from.Encoder(head)}
	} else {
		s = &folded{call: c, dialect: from, head: head}
	}
	return c.stream(ctx, build, &gauge{prompt: func() int64 { return dialect.Tokens(r.Characters()) }}, named{s, head.ID})
}

// builder writes the request for an answer of at most that many tokens; 0: no limit.
type builder func(longest int64) ([]byte, *dialect.Fault)

// Answers of requests without a limit are reserved, and bounded, by these, when a ceiling is set and the connector says
// nothing. They are what most models of the API permit; thinking is a part of the answer in Responses.
const (
	defaultAnswer   = 8192
	defaultResponse = 32768
)

// reserve opens a meter for the request and returns the longest answer; 0: no limit.
func (c *call) reserve(ctx context.Context, g *gauge) (*meter, int64, *dialect.Fault) {
	longest, f := c.asked.longest(c.api)
	if f != nil {
		return nil, 0, f
	}
	if own := c.to.MaxTokens; own > 0 && (longest == 0 || own < longest) {
		longest = own
	}
	n := need{answer: longest}
	if c.ledger.bounded() {
		n.prompt = g.prompt()
		switch {
		case longest > 0:
		case c.to.Protocol == connector.Responses:
			n.answer = defaultResponse
		default:
			n.answer = defaultAnswer
		}
		if c.to.Protocol == c.api && c.api == connector.Anthropic && c.asked.thinks() > 0 {
			n.least = connector.MinBudget + 1
		}
	}
	m, f := c.ledger.begin(ctx, c.to, n)
	switch {
	case f != nil:
		return nil, 0, f
	case m == nil:
		return nil, 0, c.ended(ctx)
	}
	return m, m.need.answer, nil
}

// metered runs one exchange with the connector and books its usage as g counted it.
func (c *call) metered(ctx context.Context, build builder, g *gauge, answered func(*upstream, *meter) *dialect.Fault) *dialect.Fault {
	m, longest, f := c.reserve(ctx, g)
	if f != nil {
		return f
	}
	asked, complete := false, false
	defer func() {
		if asked { // a refused request costs nothing
			c.entry.Usage, c.entry.Estimated = g.final(complete)
		}
		c.entry.CostUSD = m.end(c.entry.Usage)
	}()
	body, f := build(longest)
	if f != nil {
		return f
	}
	f = c.exchange(ctx, body, false, func(u *upstream) *dialect.Fault {
		if u.StatusCode != http.StatusOK {
			return c.refusal(u)
		}
		asked = true
		c.headers(u)
		f := answered(u, m)
		complete = f == nil
		return f
	})
	if f != nil && (f.Code == "canceled" || f.Code == "closed" || f.Code == "timeout") {
		asked = true // the server may have read the request
	}
	return f
}

// stream requests a stream from the connector and passes it to s.
func (c *call) stream(ctx context.Context, build builder, g *gauge, s sink) *dialect.Fault {
	return c.metered(ctx, build, g, func(u *upstream, m *meter) *dialect.Fault {
		if !isStream(u.Response) {
			return c.badAnswer(fmt.Errorf("the server of connector %s did not answer with a stream of events", c.to.ID))
		}
		f := c.events(ctx, u, g, m, s)
		if f != nil {
			s.flush()
		}
		return f
	})
}

// events reads a stream to its end.
func (c *call) events(ctx context.Context, u *upstream, g *gauge, m *meter, s sink) *dialect.Fault {
	in, decoder := sse.NewReader(u.Body, maxEvent), dialect.For(c.to.Protocol).Decoder()
	for {
		e, err := in.Next()
		if err != nil {
			return c.over(ctx, err, decoder.Complete(), s)
		}
		u.alive()
		deltas, err := decoder.Decode(e)
		g.add(deltas)
		if f := m.set(g.running()); f != nil {
			return f
		}
		if err != nil {
			return c.told(err, e, s)
		}
		if g.seen > maxWhole {
			return c.badAnswer(fmt.Errorf("an answer of connector %s is over %d bytes", c.to.ID, maxWhole))
		}
		s.take(deltas, e, in.Ready())
		if decoder.Done() {
			s.finish()
			u.drain()
			return nil
		}
	}
}

// ceilingFault handles the end of a stream. A stream that ends before its answer is complete is broken.
func (c *call) over(ctx context.Context, err error, complete bool, s sink) *dialect.Fault {
	switch {
	case complete: // agents need not wait for the connection to close
		s.finish()
		return nil
	case ctx.Err() != nil:
		return c.ended(ctx)
	case errors.Is(err, sse.ErrTooLong):
		return c.badAnswer(err)
	}
	c.entry.Err = err
	return &dialect.Fault{Status: http.StatusBadGateway, Code: "broken_stream", Message: "the answer of connector " + c.to.ID + " broke off"}
}

// told handles an error that the server reported within its answer, or an event that cannot be decoded.
func (c *call) told(err error, e sse.Event, s sink) *dialect.Fault {
	f, ok := errors.AsType[*dialect.Fault](err)
	if !ok || f.Status != 0 {
		return c.badAnswer(err)
	}
	out := &dialect.Fault{Status: http.StatusBadGateway, Message: clipText(f.Message), Code: "upstream_error"}
	switch f.Type {
	case "overloaded_error":
		out.Status = http.StatusServiceUnavailable
	case "rate_limit_error", "rate_limit_exceeded":
		out.Status = http.StatusTooManyRequests
	case "invalid_request_error":
		out.Status = http.StatusBadRequest
	}
	if c.api == connector.Anthropic && out.Status == http.StatusServiceUnavailable {
		out.Status = 529
	}
	switch {
	case c.to.Protocol == c.api && c.begun: // in the server's own words
		s.take(nil, e, false)
		c.stopped = true
	case c.api != connector.Anthropic && c.to.Protocol != connector.Anthropic && f.Code != "":
		out.Code = clipText(f.Code)
	}
	return out
}

func (c *call) badAnswer(err error) *dialect.Fault {
	c.entry.Err = err
	return &dialect.Fault{Status: http.StatusBadGateway, Code: "bad_answer", Message: "the connector " + c.to.ID + " answered with something other than an answer"}
}

// start begins a stream towards the agent.
func (c *call) start() {
	if c.begun {
		return
	}
	c.begun = true
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	c.w.WriteHeader(http.StatusOK)
}

// translated writes a stream in the agent's API.
type translated struct {
	*call
	encoder dialect.Encoder
	out     []byte
}

func (t *translated) take(deltas []dialect.Delta, _ sse.Event, ready bool) {
	if !t.begun && len(deltas) > 0 {
		t.start()
		t.out = t.encoder.Begin()
	}
	for _, d := range deltas {
		t.out = append(t.out, t.encoder.Encode(d)...)
	}
	if !ready {
		t.flush()
	}
}

func (t *translated) flush() {
	if len(t.out) > 0 {
		t.send(t.out, true)
		t.out = t.out[:0]
	}
}

func (t *translated) finish() {
	if !t.begun {
		t.start()
		t.out = t.encoder.Begin()
	}
	t.send(append(t.out, t.encoder.End()...), true)
}

// folded collects an answer and sends it when it is complete.
type folded struct {
	*call
	dialect dialect.Dialect
	head    dialect.Head
	answer  dialect.Answer
}

func (f *folded) take(deltas []dialect.Delta, _ sse.Event, _ bool) {
	for _, d := range deltas {
		f.answer.Add(d)
	}
}

func (f *folded) flush() {}

func (f *folded) finish() { f.respond(http.StatusOK, f.dialect.Whole(f.head, f.answer)) }

// named adds names to calls without one, which some servers send.
type named struct {
	sink
	id string
}

func (n named) take(deltas []dialect.Delta, e sse.Event, ready bool) {
	for i, d := range deltas {
		if d.Change == dialect.BeginCall && d.ID == "" {
			deltas[i].ID = fmt.Sprintf("call_%s_%d", n.id, d.Block)
		}
	}
	n.sink.take(deltas, e, ready)
}

// newAnswerID returns a random ID for an answer.
func newAnswerID() string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
