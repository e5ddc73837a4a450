// Package broker forwards a coding agent's requests from a sandbox to the models. The agent sends a placeholder token; the
// broker replaces it with the real key outside the sandbox. Towards the agent it speaks Anthropic's Messages API and OpenAI's
// Responses and Chat Completions APIs, towards the connector whichever of them the connector speaks. It limits what a run may use.
//
// The agent's requests are hostile, and so are the servers' answers; both are bounded.
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
	Other     *connector.Connector           // for every other name; nil: the broker refuses other names
	Keys      connector.Source               //
	Token     string                         // the placeholder that each request must carry; at least 16 bytes
	Limits    Limits                         //
	Log       func(Entry)                    // called after each request, by several goroutines at once; nil: requests are not logged
	Transport http.RoundTripper              // to the connectors; nil: a transport of the broker's own without a proxy
}

// Limits hold for all requests together unless a field says otherwise. The zero value has no ceilings and the defaults of the other fields.
type Limits struct {
	Tokens  int64         // prompts and answers; 0: no ceiling
	CostUSD float64       // US dollars; 0: no ceiling. With a ceiling, every connector must have a price
	AtOnce  int           // requests that are answered at the same time; others wait. 0: 16
	Body    int64         // bytes of one request; 0: 32 MiB
	Idle    time.Duration // how long a connector's server may send nothing; 0: ten minutes
}

// Entry is the log record of one request. It has no content of the request or the answer.
type Entry struct {
	Time      time.Time          // when the request began
	API       connector.Protocol // which the agent spoke; "": the broker did not recognise one
	Path      string             // if it is a known path; otherwise ""
	Asked     string             // the model name in the request; at most 200 bytes
	Connector string             // its ID; "": no connector was chosen
	Stream    bool               //
	Status    int                // the HTTP status
	Duration  time.Duration      //
	Usage     event.Usage        // as booked
	Estimated bool               // the server reported no usage, or an incomplete one: the broker estimated it from the text
	CostUSD   *float64           // nil: the connector has no price
	Code      string             // why the request failed, such as "token_ceiling" and "canceled"; "": it succeeded
	Err       error              // the broker's or the connector's fault, for the operator; nil: none
}

// Broker is an [http.Handler]. It is safe for concurrent use. The caller must call Close.
type Broker struct {
	options   Options
	token     [sha256.Size]byte
	transport http.RoundTripper
	ledger    *ledger
	slots     chan struct{}
	waiting   chan struct{} // requests that wait for a slot or have one

	mu      sync.Mutex
	closed  bool
	cancels map[*call]context.CancelCauseFunc
	calls   sync.WaitGroup
}

// waiters is the number of requests that may wait for each request that is being answered.
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
		if err := checkConnector(c, o.Limits); err != nil {
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

func checkConnector(c connector.Connector, l Limits) error {
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

// Usage returns the usage per model of all requests, finished and running. A model that two connectors
// reach appears twice.
func (b *Broker) Usage() []event.ModelUsage { return b.ledger.usage() }

// CostUSD returns the cost of that usage in US dollars, for the connectors that have a price.
func (b *Broker) CostUSD() float64 { return b.ledger.cost() }

// errClosed is the cause with which requests are canceled when the broker is closed.
var errClosed = errors.New("the run is over")

// Close cancels the running requests and waits until their usage is booked. Later requests are refused.
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
