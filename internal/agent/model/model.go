// Package model is the model step without a sandbox: it asks a connector's model directly, runs its tools, and reports
// with the events of the coding agents.
//
// The types of requests and answers have only the members that are used: those of the official SDKs made the program
// 26 MB larger. Sending again, reading the stream and the bounds on both are this package's too, because each retry is
// an event and a server may be hostile. Nothing is read from the environment.
package model

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
)

// Options are those of a [Client]. The zero value is for connectors that need no key.
type Options struct {
	Keys     connector.Source                      // fetches the key of each request; nil: a connector that names a key fails
	HTTP     *http.Client                          // closed by the caller; redirects are never followed. nil: a default client
	Proxy    func(*http.Request) (*url.URL, error) // of the default client; nil: no proxy, also when the environment names one
	Retries  int                                   // how often a request is made again; 0: 4; negative: never
	Backoff  time.Duration                         // before the first retry, doubled for each further one; 0: half a second
	MaxWait  time.Duration                         // for one retry; a server that asks for a longer wait is not asked again. 0: a minute
	Idle     time.Duration                         // how long a server may be silent; 0: five minutes
	Timeout  time.Duration                         // of one answer; 0: an hour
	Parallel int                                   // how many tools run at once; 0: 8
}

// Client asks models. It is safe for concurrent use, and keeps connections for the next request.
type Client struct {
	opt  Options
	http *http.Client
	own  *http.Transport // nil: the caller's
}

// New makes a Client. Close it.
func New(opt Options) *Client {
	or := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	or(&opt.Backoff, 500*time.Millisecond)
	or(&opt.MaxWait, time.Minute)
	or(&opt.Idle, 5*time.Minute)
	or(&opt.Timeout, time.Hour)
	if opt.Parallel <= 0 {
		opt.Parallel = 8
	}
	if opt.Retries == 0 {
		opt.Retries = 4
	}
	c := &Client{opt: opt}
	c.http, c.own = httpClient(opt)
	return c
}

// Close closes connections that wait for another request; those of streams that go on end with them.
func (c *Client) Close() error {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// Request is a chat that a model continues. Stream neither changes nor retains it.
type Request struct {
	Connector   connector.Connector
	System      []string            // the prompts, before the messages
	Messages    []message.Message   // the chat; those of role system are added to System
	Temperature *float64            // nil: the server's
	TopP        *float64            // nil: the server's
	MaxTokens   int64               // that an answer may have; 0: the connector's
	Reasoning   connector.Reasoning // unset fields are the connector's
	Tools       tool.Set            // nil: none
	MaxTurns    int                 // how often the model is asked; 0: 20
	Limits      Limits
}

// Limits are ceilings on a whole [Request]. They are checked while answers arrive, with the usage that the server
// reported and a low estimate of the rest, so that a run exceeds one by little, not by a whole answer.
type Limits struct {
	Tokens  int64   // of all prompts and answers together, cached ones too; 0: none
	CostUSD float64 // 0: none. It needs a connector with a price
}

// Stream asks the model, runs the tools that it calls, and asks again until it stops. The events are those of package
// event, of executor "direct", and the last is the result, also after a fault, a limit or the end of ctx, which
// interrupts. An error is the only pair: the request is invalid (code invalid), or its tools cannot be
// listed, and no request was sent. Events are made as the caller asks for them. A caller that stops early ends the
// request; Stream returns when the running tools have ended.
func (c *Client) Stream(ctx context.Context, req Request) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, err := c.begin(ctx, req)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r.yield = func(e event.Event) {
			if !r.stopped && !yield(e, nil) {
				r.stopped = true
				cancel()
			}
		}
		r.all(ctx)
	}
}
