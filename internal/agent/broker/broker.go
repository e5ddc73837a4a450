// Package broker stands between a coding agent in a sandbox and the models: a placeholder comes in, the real key is added
// outside. It speaks Anthropic's Messages API and OpenAI's Responses and Chat Completions APIs towards the agent, and to
// the connector whichever of them that speaks, with ceilings on what a run may use.
//
// What comes from the agent is hostile, and so, in its bounds, is what servers answer.
package broker

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options say what a broker may do. Models or Other, Keys and Token are required.
type Options struct {
	Models    map[string]connector.Connector // by the name that the agent asks for
	Other     *connector.Connector           // for every other name; nil: it is refused
	Keys      connector.Source               //
	Token     string                         // the placeholder, without which nobody gets an answer; at least 16 bytes
	Limits    Limits                         //
	Log       func(Entry)                    // called after each request, by several goroutines at once; nil: nobody is told
	Transport http.RoundTripper              // to the connectors; nil: one of its own, which uses no proxy
}

// Limits are those of all requests together, unless said otherwise. The zero value has no ceilings and the defaults of the rest.
type Limits struct {
	Tokens  int64         // prompts and answers; 0: no ceiling
	CostUSD float64       // US dollars; 0: no ceiling. Every connector must have a price then
	AtOnce  int           // requests that are answered at the same time; others wait. 0: 16
	Body    int64         // bytes of one request; 0: 32 MiB
	Idle    time.Duration // that a connector's server may say nothing; 0: ten minutes
}

// Entry is what is told of a request: nothing that was said in it.
type Entry struct {
	Time      time.Time          // of its beginning
	API       connector.Protocol // that the agent spoke; "": none was recognised
	Path      string             // of a known one; "": not known
	Asked     string             // the model, as the agent called it; at most 200 bytes
	Connector string             // its ID; "": there was none
	Stream    bool               //
	Status    int                // of HTTP
	Duration  time.Duration      //
	Usage     event.Usage        // as it was booked
	Estimated bool               // the server told no usage, or not to the end: it is counted from the text that was seen
	CostUSD   *float64           // nil: the connector has no price
	Code      string             // why it failed, such as "token_ceiling" and "canceled"; "": it did not
	Err       error              // the fault of this side or of the connector, for who runs it; nil: there was none
}

// Broker is an [http.Handler]. It is safe for concurrent use, and somebody must close it.
type Broker struct {
	options   Options
	token     [sha256.Size]byte
	transport http.RoundTripper
	ledger    *ledger
	slots     chan struct{}
	waiting   chan struct{} // who waits for a slot, or has one

	mu      sync.Mutex
	closed  bool
	cancels map[*call]context.CancelCauseFunc
	calls   sync.WaitGroup
}

// waiters is how many requests may wait for each that is answered.
const waiters = 16

// New makes a broker. Its errors have the code invalid.
func New(o Options) (*Broker, error) {
	if o.Keys == nil || len(o.Token) < 16 {
		return nil, sandbox.Errorf(sandbox.Invalid, "broker: expected a source of keys, and a token of at least 16 bytes")
	}
	if o.Limits.Tokens < 0 || o.Limits.CostUSD < 0 || o.Limits.AtOnce < 0 || o.Limits.Body < 0 || o.Limits.Idle < 0 {
		return nil, sandbox.Errorf(sandbox.Invalid, "broker: a limit is below zero")
	}
	all := slices.Collect(maps.Values(o.Models))
	if o.Other != nil {
		all = append(all, *o.Other)
	}
	if len(all) == 0 {
		return nil, sandbox.Errorf(sandbox.Invalid, "broker: there is no connector")
	}
	for _, c := range all {
		if err := usable(c, o.Limits); err != nil {
			return nil, err
		}
	}
	if o.Limits.AtOnce == 0 {
		o.Limits.AtOnce = 16
	}
	if o.Limits.Body == 0 {
		o.Limits.Body = 32 << 20
	}
	if o.Limits.Idle == 0 {
		o.Limits.Idle = 10 * time.Minute
	}
	b := &Broker{
		options: o, token: sha256.Sum256([]byte(o.Token)), transport: o.Transport, ledger: newLedger(o.Limits),
		slots: make(chan struct{}, o.Limits.AtOnce), waiting: make(chan struct{}, waiters*o.Limits.AtOnce),
		cancels: map[*call]context.CancelCauseFunc{},
	}
	b.options.Models = maps.Clone(o.Models)
	if b.transport == nil {
		b.transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: o.Limits.AtOnce,
			ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 256 << 10,
		}
	}
	return b, nil
}

func usable(c connector.Connector, l Limits) error {
	switch {
	case dialect.For(c.Protocol) == nil:
		return sandbox.Errorf(sandbox.Invalid, "connector %s: expected the protocol openai, responses or anthropic, got %q", c.ID, c.Protocol)
	case c.BaseURL == "" || c.Model == "":
		return sandbox.Errorf(sandbox.Invalid, "connector %s: it has no address or no model", c.ID)
	case c.Price == nil && l.CostUSD > 0:
		return sandbox.Errorf(sandbox.Invalid, "connector %s: the cost of a run is limited, and it has no price", c.ID).
			WithHint("give the connector a price, or limit tokens")
	}
	return nil
}

// Usage is what was used so far by the requests that ended and by those that go on, by model; one that two connectors
// reach is there twice.
func (b *Broker) Usage() []event.ModelUsage { return b.ledger.usage() }

// CostUSD is what that costs, in US dollars, of the connectors that have a price.
func (b *Broker) CostUSD() float64 { return b.ledger.cost() }

// errClosed is why requests end when the broker is closed.
var errClosed = errors.New("the run is over")

// Close ends what runs and waits until it has been booked. Later requests are refused.
func (b *Broker) Close() error {
	b.mu.Lock()
	b.closed = true
	for _, cancel := range b.cancels {
		cancel(errClosed)
	}
	b.mu.Unlock()
	b.calls.Wait()
	if t, ok := b.transport.(*http.Transport); ok && b.options.Transport == nil {
		t.CloseIdleConnections()
	}
	return nil
}

// enter registers a call; ok is false when the broker is closed.
func (b *Broker) enter(ctx context.Context, c *call) (_ context.Context, leave func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ctx, nil, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	b.cancels[c] = cancel
	b.calls.Add(1)
	c.cancel = cancel
	return ctx, func() {
		cancel(nil)
		b.mu.Lock()
		delete(b.cancels, c)
		b.mu.Unlock()
		b.calls.Done()
	}, true
}
