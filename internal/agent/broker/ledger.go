package broker

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// ledger records what a run has used.
type ledger struct {
	limits Limits

	mu       sync.Mutex
	accounts map[string]*account // by connector and model
	open     map[*meter]bool
	changed  chan struct{} // closed when a request ends, and replaced
}

// account is a connector's usage in finished requests.
type account struct {
	model string
	price *connector.Price
	usage event.Usage
}

// need is the most that a request can use.
type need struct {
	prompt int64 // tokens, estimated
	answer int64 // the longest answer in tokens
	least  int64 // the shortest limit of an answer that the request permits
}

// meter is the usage of one running request.
type meter struct {
	ledger *ledger
	to     *account
	need   need // what is reserved; the answer may be shorter than it was asked for
	usage  event.Usage
}

func newLedger(l Limits) *ledger {
	return &ledger{limits: l, accounts: map[string]*account{}, open: map[*meter]bool{}, changed: make(chan struct{})}
}

// bounded reports whether there is a ceiling.
func (l *ledger) bounded() bool { return l.limits.Tokens > 0 || l.limits.CostUSD > 0 }

// begin reserves what a request may use and opens a meter. It waits for running requests when only they leave no room: most
// use less than they reserved. A request that runs alone gets a shorter answer if there is room for one. The fault is that
// of a ceiling; a nil meter without one means that ctx has ended.
func (l *ledger) begin(ctx context.Context, c connector.Connector, n need) (*meter, *dialect.Fault) {
	for {
		m, f, changed := l.reserve(c, n)
		if m != nil || f != nil {
			return m, f
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// reserve opens a meter, or returns a fault, or the channel that is closed when a running request ends.
func (l *ledger) reserve(c connector.Connector, n need) (*meter, *dialect.Fault, chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := c.ID + " " + c.Model
	a := l.accounts[id]
	if a == nil {
		a = &account{model: c.Model, price: c.Price}
	}
	m := &meter{ledger: l, to: a, need: n}
	if l.bounded() {
		used, held := l.totals(false), l.totals(true)
		if f := l.reached(used); f != nil {
			return nil, f, nil
		}
		room := l.room(held, a, n.prompt)
		switch {
		case room >= n.answer:
		case len(l.open) > 0:
			return nil, nil, l.changed
		case room < max(n.least, 1):
			return nil, l.short(used, n.prompt), nil
		default:
			m.need.answer = room
		}
	}
	l.accounts[id], l.open[m] = a, true
	return m, nil, nil
}

// sum is an amount of what ceilings are set for.
type sum struct {
	tokens int64
	cost   float64
}

func (s *sum) add(a *account, u event.Usage) {
	s.tokens += u.Prompt() + u.Output
	if a.price != nil {
		s.cost += a.price.Cost(u)
	}
}

// totals returns what is booked and, with running, what running requests have reserved or used, whichever is more.
func (l *ledger) totals(running bool) sum {
	var s sum
	for _, a := range l.accounts {
		s.add(a, a.usage)
	}
	if running {
		for m := range l.open {
			reserved, used := m.amounts()
			s.tokens += max(reserved.tokens, used.tokens)
			s.cost += max(reserved.cost, used.cost)
		}
	}
	return s
}

// amounts returns what a running request has reserved and what it has used.
func (m *meter) amounts() (reserved, used sum) {
	reserved.tokens = m.need.prompt + m.need.answer
	if p := m.to.price; p != nil {
		reserved.cost = (float64(m.need.prompt)*highestPrice(*p) + float64(m.need.answer)*p.Output) / 1e6
	}
	u := m.usage
	if u.Prompt() == 0 {
		u.Input = m.need.prompt // the server has not reported it yet
	}
	used.add(m.to, u)
	return reserved, used
}

// highestPrice returns the highest price of a prompt's token: what a cache will do is not known.
func highestPrice(p connector.Price) float64 {
	most := p.Input
	for _, other := range []*float64{p.CacheRead, p.CacheWrite} {
		if other != nil {
			most = max(most, *other)
		}
	}
	return most
}

// room returns how many tokens an answer may have after the prompt.
func (l *ledger) room(held sum, a *account, prompt int64) int64 {
	room := int64(math.MaxInt64)
	if limit := l.limits.Tokens; limit > 0 {
		room = limit - held.tokens - prompt
	}
	if limit := l.limits.CostUSD; limit > 0 && a.price != nil {
		left := limit - held.cost - float64(prompt)*highestPrice(*a.price)/1e6
		switch {
		case left < 0:
			room = min(room, 0)
		case a.price.Output > 0:
			room = min(room, int64(min(left/a.price.Output*1e6, 1<<53)))
		}
	}
	return room
}

// set records the request's usage so far; it returns a fault when the request passes what it reserved, and with that a ceiling.
func (m *meter) set(u event.Usage) *dialect.Fault {
	l := m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	m.usage = u
	if !l.bounded() {
		return nil
	}
	reserved, used := m.amounts()
	if used.tokens <= reserved.tokens && used.cost <= reserved.cost {
		return nil
	}
	all := l.totals(true)
	if limit := l.limits.Tokens; limit > 0 && all.tokens > limit && used.tokens > reserved.tokens ||
		l.limits.CostUSD > 0 && all.cost > l.limits.CostUSD && used.cost > reserved.cost {
		return l.reached(all)
	}
	return nil
}

// end books the request and returns its cost, or nil if the connector has no price. What was reserved beyond it is free again.
func (m *meter) end(u event.Usage) *float64 {
	l := m.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, m)
	m.to.usage = m.to.usage.Add(u)
	close(l.changed)
	l.changed = make(chan struct{})
	return m.to.cost(u)
}

func (a *account) cost(u event.Usage) *float64 {
	if a.price == nil {
		return nil
	}
	return new(a.price.Cost(u))
}

// reached returns the fault of a ceiling that an amount has reached, or nil.
func (l *ledger) reached(s sum) *dialect.Fault {
	if limit := l.limits.Tokens; limit > 0 && s.tokens >= limit {
		return ceilingFault("token_ceiling", fmt.Sprintf("%d tokens is reached (%d used)", limit, s.tokens))
	}
	if limit := l.limits.CostUSD; limit > 0 && s.cost >= limit {
		return ceilingFault("cost_ceiling", fmt.Sprintf("%g US dollars is reached (%.4f used)", limit, s.cost))
	}
	return nil
}

// short returns the fault of a ceiling that leaves too little for a prompt and an answer.
func (l *ledger) short(used sum, prompt int64) *dialect.Fault {
	if limit := l.limits.Tokens; limit > 0 && used.tokens+prompt >= limit || l.limits.CostUSD == 0 {
		return ceilingFault("token_ceiling", fmt.Sprintf("%d tokens leaves too few for this request (%d used, a prompt of about %d)", limit, used.tokens, prompt))
	}
	return ceilingFault("cost_ceiling", fmt.Sprintf("%g US dollars leaves too little for this request (%.4f used, a prompt of about %d tokens)", l.limits.CostUSD, used.cost, prompt))
}

// ceilingFault returns the fault of a ceiling. Status 400 is the only one that neither Claude Code nor Codex retries: one of them
// retries 402, 403 and 429 for seconds or minutes.
func ceilingFault(code, text string) *dialect.Fault {
	return &dialect.Fault{
		Status: http.StatusBadRequest, Type: "invalid_request_error", Code: code,
		Message: "this run's ceiling of " + text + ": no more is asked of a model",
	}
}

func (l *ledger) usage() []event.ModelUsage {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []event.ModelUsage
	all := make(map[*account]event.Usage, len(l.accounts))
	for _, a := range l.accounts {
		all[a] = a.usage
	}
	for m := range l.open {
		all[m.to] = all[m.to].Add(m.usage)
	}
	for a, u := range all {
		out = append(out, event.ModelUsage{Model: a.model, Usage: u, CostUSD: a.cost(u)})
	}
	slices.SortFunc(out, func(a, b event.ModelUsage) int { return strings.Compare(a.Model, b.Model) })
	return out
}

func (l *ledger) cost() float64 {
	var sum float64
	for _, u := range l.usage() {
		if u.CostUSD != nil {
			sum += *u.CostUSD
		}
	}
	return sum
}
