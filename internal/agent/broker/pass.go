package broker

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

// pass sends the request to a connector that speaks the agent's API. It forwards the answer unchanged and counts it.
func (c *call) pass(ctx context.Context) *dialect.Fault {
	build := func(longest int64) ([]byte, *dialect.Fault) { return c.asked.forward(c.to, c.api, longest, false) }
	g := &gauge{prompt: func() int64 {
		r, err := dialect.For(c.api).Read(c.asked.body)
		if err != nil {
			return dialect.Tokens(int64(len(c.asked.body))) // the request has a part that cannot be translated
		}
		return dialect.Tokens(r.Characters())
	}}
	if c.asked.stream {
		return c.stream(ctx, build, g, &passed{call: c, silent: c.api == connector.OpenAI && !c.asked.usage()})
	}
	return c.whole(ctx, build, g)
}

// passed forwards events.
type passed struct {
	*call
	silent bool // the broker asked for usage, not the agent
	out    []byte
}

func (p *passed) take(deltas []dialect.Delta, e sse.Event, ready bool) {
	p.start()
	if !p.silent || len(deltas) != 1 || deltas[0].Change != dialect.SetUsage {
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

// whole forwards an answer that is not a stream.
func (c *call) whole(ctx context.Context, build builder, g *gauge) *dialect.Fault {
	return c.metered(ctx, build, g, func(u *upstream, _ *meter) *dialect.Fault {
		raw, err := io.ReadAll(io.LimitReader(u.Body, maxWhole+1))
		switch {
		case ctx.Err() != nil:
			return c.ended(ctx)
		case err != nil:
			return c.over(ctx, err, false, nil)
		}
		g.seen = int64(len(raw))
		if len(raw) > maxWhole || !strings.HasPrefix(strings.TrimSpace(string(raw[:min(len(raw), 64)])), "{") {
			return c.badAnswer(errors.New("the server of connector " + c.to.ID + " answered with something other than a JSON object"))
		}
		g.told, g.exact = dialect.For(c.api).Errors().Usage(raw)
		c.respond(http.StatusOK, raw)
		return nil
	})
}

func (c *call) headers(u *upstream) {
	for _, name := range listHeaders(true) {
		if v := u.Header.Values(name); len(v) > 0 {
			c.w.Header()[name] = v
		}
	}
}

// count answers how many tokens a request has: the server's count where it offers one, otherwise an estimate.
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
	body, f := c.asked.forward(c.to, c.api, 0, true)
	if f != nil {
		return f
	}
	return c.exchange(ctx, body, true, func(u *upstream) *dialect.Fault {
		if u.StatusCode != http.StatusOK {
			return c.refusal(u)
		}
		raw, err := io.ReadAll(io.LimitReader(u.Body, maxError))
		if err != nil {
			return c.over(ctx, err, false, nil)
		}
		c.respond(http.StatusOK, raw)
		return nil
	})
}

// hasCompletionTokens reports whether a connector names the limit of an answer as OpenAI's own server does.
func hasCompletionTokens(c connector.Connector) bool {
	u, err := url.Parse(c.BaseURL)
	return err == nil && strings.HasSuffix(u.Hostname(), "openai.com")
}
