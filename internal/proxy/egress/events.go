package egress

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// Kind is the kind of a refusal.
type Kind string

// The kinds of refusals.
const (
	KindHost      Kind = "host"      // no rule allows the host and port, or one denies them
	KindAddress   Kind = "address"   // the host is, or resolved to, a forbidden address
	KindSNI       Kind = "sni"       // the data in a tunnel is TLS for another host, or not TLS
	KindMethod    Kind = "method"    // the host is allowed, this request is not
	KindSecret    Kind = "secret"    // the request contains a secret's placeholder and is for another host
	KindMalformed Kind = "malformed" // servers could interpret the request differently
)

// Event is one refusal. Its texts are safe to print: hostile bytes are quoted, and they
// never contain the value of a secret.
type Event struct {
	Time   time.Time `json:"time"`
	Kind   Kind      `json:"kind"`
	Host   string    `json:"host,omitempty"` // canonical, or quoted if it is not a host
	Port   uint16    `json:"port,omitempty"`
	Rule   string    `json:"rule,omitempty"`   // the rule that decided; empty when none matched
	Reason string    `json:"reason"`           // one clause
	Allow  string    `json:"allow,omitempty"`  // the flag that would allow it; empty if no flag can
	Missed int       `json:"missed,omitempty"` // number of earlier refusals that exceeded the rate limit and were not reported
}

// denial is a refusal for the client and for the receiver of events.
type denial struct {
	Event

	status int // of HTTP; 0: 403
}

func (d *denial) Error() string { return d.Reason }

func deny(kind Kind, host hosts.Host, port uint16, v hosts.Verdict) *denial {
	d := &denial{Event: Event{Kind: kind, Host: host.String(), Port: port, Rule: v.Rule, Reason: v.Reason}}
	if v.Allow != "" {
		d.Allow = "--allow " + shellQuote(v.Allow)
	}
	return d
}

func newMalformed(status int, format string, args ...any) *denial {
	return &denial{Event: Event{Kind: KindMalformed, Reason: fmt.Sprintf(format, args...)}, status: status}
}

// shellQuote quotes s, so that the user can copy the flag to a shell.
func shellQuote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "'\\''") + "'"
}

// text returns the answer to a refused client, in words with which a language model can
// choose its next step.
func (d *denial) text() string {
	var b strings.Builder
	b.WriteString("agent-sandbox refused this connection.\n")
	if d.Host != "" {
		fmt.Fprintf(&b, "host: %s\n", d.Host)
	}
	if d.Port != 0 {
		fmt.Fprintf(&b, "port: %d\n", d.Port)
	}
	fmt.Fprintf(&b, "reason: %s\n", d.Reason)
	if d.Rule != "" {
		fmt.Fprintf(&b, "rule: %s\n", hosts.Quote(d.Rule))
	}
	if d.Allow != "" {
		fmt.Fprintf(&b, "to allow it, the user who started the sandbox can add: %s\n", d.Allow)
	}
	b.WriteString("Trying again or another way will not help.\n")
	return b.String()
}

const (
	eventBurst = 100
	eventEvery = 50 * time.Millisecond
)

// reporter forwards events at a limited rate, so that a sandbox cannot flood a terminal.
type reporter struct {
	to func(Event)

	mu     sync.Mutex
	tokens float64
	last   time.Time
	missed int
}

func (r *reporter) report(d *denial) {
	if r.to == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.last.IsZero() {
		r.tokens = eventBurst
	} else {
		r.tokens = min(eventBurst, r.tokens+float64(now.Sub(r.last))/float64(eventEvery))
	}
	r.last = now
	if r.tokens < 1 {
		r.missed++
		return
	}
	r.tokens--
	e := d.Event
	e.Time, e.Missed = now, r.missed
	r.missed = 0
	r.to(e)
}
