package broker

import (
	"fmt"
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
}

// account is a connector's usage in finished requests.
type account struct {
	model string
	price *connector.Price
	usage event.Usage
}

// meter is the usage of one running request.
type meter struct {
	ledger *ledger
	to     *account
	usage  event.Usage
}

func newLedger(l Limits) *ledger {
	return &ledger{limits: l, accounts: map[string]*account{}, open: map[*meter]bool{}}
}

// begin opens a meter, or returns a fault when a ceiling has been reached.
func (l *ledger) begin(c connector.Connector) (*meter, *dialect.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.ceiling(true); f != nil {
		return nil, f
	}
	id := c.ID + " " + c.Model
	a := l.accounts[id]
	if a == nil {
		a = &account{model: c.Model, price: c.Price}
		l.accounts[id] = a
	}
	m := &meter{ledger: l, to: a}
	l.open[m] = true
	return m, nil
}

// set records the request's usage so far; it returns a fault when that passes a ceiling.
func (m *meter) set(u event.Usage) *dialect.Fault {
	m.ledger.mu.Lock()
	defer m.ledger.mu.Unlock()
	m.usage = u
	return m.ledger.ceiling(false)
}

// end books the request and returns its cost, or nil if the connector has no price.
func (m *meter) end(u event.Usage) *float64 {
	m.ledger.mu.Lock()
	defer m.ledger.mu.Unlock()
	delete(m.ledger.open, m)
	m.to.usage = m.to.usage.Add(u)
	return m.to.cost(u)
}

func (a *account) cost(u event.Usage) *float64 {
	if a.price == nil {
		return nil
	}
	return new(a.price.Cost(u))
}

// totals returns the usage of every account, including running requests.
func (l *ledger) totals() map[*account]event.Usage {
	all := make(map[*account]event.Usage, len(l.accounts))
	for _, a := range l.accounts {
		all[a] = a.usage
	}
	for m := range l.open {
		all[m.to] = all[m.to].Add(m.usage)
	}
	return all
}

// ceiling returns the fault of a ceiling that is exceeded or, with reached, that is reached.
func (l *ledger) ceiling(reached bool) *dialect.Fault {
	if l.limits.Tokens == 0 && l.limits.CostUSD == 0 {
		return nil
	}
	var tokens int64
	var cost float64
	add := func(a *account, u event.Usage) {
		tokens += u.Prompt() + u.Output
		if a.price != nil {
			cost += a.price.Cost(u)
		}
	}
	for _, a := range l.accounts {
		add(a, a.usage)
	}
	for m := range l.open {
		add(m.to, m.usage)
	}
	if limit := l.limits.Tokens; limit > 0 && (tokens > limit || reached && tokens == limit) {
		return over("token_ceiling", fmt.Sprintf("%d tokens", limit), fmt.Sprintf("%d", tokens))
	}
	if limit := l.limits.CostUSD; limit > 0 && (cost > limit || reached && cost == limit) {
		return over("cost_ceiling", fmt.Sprintf("%g US dollars", limit), fmt.Sprintf("%.4f", cost))
	}
	return nil
}

// over returns the fault of a ceiling. Status 400 is the only one that neither Claude Code nor Codex retries: one of them
// retries 402, 403 and 429 for seconds or minutes.
func over(code, limit, used string) *dialect.Fault {
	return &dialect.Fault{
		Status: http.StatusBadRequest, Type: "invalid_request_error", Code: code,
		Message: fmt.Sprintf("this run's ceiling of %s is reached (%s used): no more is asked of a model", limit, used),
	}
}

func (l *ledger) usage() []event.ModelUsage {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []event.ModelUsage
	for a, u := range l.totals() {
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
