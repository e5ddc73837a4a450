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
	KindAddress   Kind = "address"   // the host is, or resolved to, an address that may not be reached
	KindSNI       Kind = "sni"       // what was spoken in a tunnel is for another host, or not TLS
	KindMethod    Kind = "method"    // the host is allowed, this request is not
	KindSecret    Kind = "secret"    // a secret's placeholder was on its way to another host
	KindMalformed Kind = "malformed" // the request can be read in different ways
)

// Event is one refusal. Its text is safe to print: hostile bytes are quoted, and the
// value of a secret is never in it.
type Event struct {
	Time   time.Time `json:"time"`
	Kind   Kind      `json:"kind"`
	Host   string    `json:"host,omitempty"` // canonical, or quoted when it is not a host
	Port   uint16    `json:"port,omitempty"`
	Rule   string    `json:"rule,omitempty"`   // the rule that decided; empty when none matched
	Reason string    `json:"reason"`           // one clause
	Allow  string    `json:"allow,omitempty"`  // the flag that would allow it; empty when none can
	Missed int       `json:"missed,omitempty"` // refusals before this one that were too many to report
}

// denial is a refusal on its way to the client and to the event's receiver.
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

func malformed(status int, format string, args ...any) *denial {
	return &denial{Event: Event{Kind: KindMalformed, Reason: fmt.Sprintf(format, args...)}, status: status}
}

// shellQuote lets the flag be copied to a shell.
func shellQuote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "'\\''") + "'"
}

// text is the answer to a refused client; a model must be able to act on it.
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

// reporter passes events on at a limited rate, so that a sandbox cannot flood a terminal.
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
