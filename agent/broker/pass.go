package broker

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/broker/dialect"
	"github.com/seed434b0696/agent-sandbox/agent/broker/sse"
	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// pass asks a connector that speaks the agent's API: what it answers is passed on as it is, and counted.
func (c *call) pass(ctx context.Context, body []byte) *dialect.Fault {
	g := &gauge{prompt: func() int64 {
		r, err := dialect.For(c.api).Read(c.asked.body)
		if err != nil {
			return dialect.Tokens(int64(len(c.asked.body))) // there is something in it that is not translated
		}
		return dialect.Tokens(r.Characters())
	}}
	if c.asked.stream {
		return c.stream(ctx, body, g, &passed{call: c, silent: c.api == connector.OpenAI && !c.asked.usage()})
	}
	return c.whole(ctx, body, g)
}

// passed passes events on.
type passed struct {
	*call
	silent bool // usage has not been asked for by the agent, only by us
	out    []byte
}

func (p *passed) take(deltas []dialect.Delta, e sse.Event, ready bool) {
	p.start()
	if !(p.silent && len(deltas) == 1 && deltas[0].Change == dialect.SetUsage) {
		p.out = append(p.out, e.Raw...)
	}
	if !ready {
		p.flush()
	}
}

func (p *passed) flush() {
	if len(p.out) > 0 {
		p.send(p.out, true)
		p.out = p.out[:0]
	}
}

func (p *passed) finish() { p.flush() }

// whole passes an answer on that is no stream.
func (c *call) whole(ctx context.Context, body []byte, g *gauge) *dialect.Fault {
	m, f := c.ledger.begin(c.to)
	if f != nil {
		return f
	}
	asked, told := false, false
	defer func() {
		if asked {
			c.entry.Usage, c.entry.Estimated = g.final(told)
		}
		c.entry.CostUSD = m.end(c.entry.Usage)
	}()
	u, f := c.ask(ctx, body, false)
	if f != nil {
		asked = f.Code == "canceled" || f.Code == "closed" || f.Code == "timeout"
		return f
	}
	defer u.close()
	if u.StatusCode != http.StatusOK {
		f, raw := c.refusal(u)
		if raw != nil {
			c.passError(f, raw)
			return nil
		}
		return f
	}
	asked = true
	raw, err := io.ReadAll(io.LimitReader(u.Body, maxWhole+1))
	if ctx.Err() != nil {
		return c.ended(ctx)
	}
	if err != nil {
		return c.over(ctx, err, false, nil)
	}
	usage, ok := dialect.For(c.api).Errors().Usage(raw)
	g.seen = int64(len(raw))
	if len(raw) > maxWhole || !strings.HasPrefix(strings.TrimSpace(string(raw[:min(len(raw), 64)])), "{") {
		return c.badAnswer(errors.New("the server of connector " + c.to.ID + " answered with no JSON object"))
	}
	if ok {
		g.told, g.exact, told = usage, true, true
	}
	c.headers(u)
	c.respond(http.StatusOK, raw)
	return nil
}

func (c *call) headers(u *upstream) {
	for _, name := range passing(true) {
		if v := u.Header.Values(name); len(v) > 0 {
			c.w.Header()[name] = v
		}
	}
}

// passError passes an error on as the server told it.
func (c *call) passError(f *dialect.Fault, raw []byte) {
	c.entry.Code = f.Code
	c.respond(f.Status, raw)
}

// count says how many tokens a request has: what the server says where it can be asked, and otherwise about how many.
func (c *call) count(ctx context.Context) *dialect.Fault {
	release, f := c.slot(ctx)
	if f != nil {
		return f
	}
	defer release()
	if f := c.read(); f != nil {
		return f
	}
	if c.to.Protocol != connector.Anthropic {
		r, err := dialect.For(c.api).Read(c.asked.body)
		if err != nil {
			return refused(err.Error())
		}
		c.respond(http.StatusOK, dialect.Counted(dialect.Tokens(r.Characters())))
		return nil
	}
	body, f := c.asked.forward(c.to, c.api, true)
	if f != nil {
		return f
	}
	u, f := c.ask(ctx, body, true)
	if f != nil {
		return f
	}
	defer u.close()
	if u.StatusCode != http.StatusOK {
		f, raw := c.refusal(u)
		if raw != nil {
			c.passError(f, raw)
			return nil
		}
		return f
	}
	raw, err := io.ReadAll(io.LimitReader(u.Body, maxError))
	if err != nil {
		return c.over(ctx, err, false, nil)
	}
	c.respond(http.StatusOK, raw)
	return nil
}

// completion reports whether a connector wants the limit of an answer as OpenAI's own server does.
func completion(c connector.Connector) bool {
	u, err := url.Parse(c.BaseURL)
	return err == nil && strings.HasSuffix(u.Hostname(), "openai.com")
}
