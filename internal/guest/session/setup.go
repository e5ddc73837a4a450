package session

import (
	"context"
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Setup configures a guest before the first command.
type Setup struct {
	// Relays listen when Setup returns.
	Relays []Relay `json:"relays,omitempty"`
	// Expect are the files at mounted paths, as the host found them before the mount: a link could have redirected a
	// mount by path. Denied: another file is mounted there.
	Expect []Identity `json:"expect,omitempty"`
	// Redirect is the name of a relay on an IPv4 address of loopback. TCP connections of commands to addresses other than loopback are
	// redirected to it, if [Connection.Permit] permits them; others fail with ENETUNREACH. It needs Guard. Empty: none is redirected.
	Redirect string `json:"redirect,omitempty"`
	// Guard are the rules by which the guard answers the system calls of commands; nil: no guard. Setup fails when the
	// guard cannot be installed, and the sandbox ends with the guard.
	Guard *guard.Rules `json:"guard,omitempty"`
	// Deny are the options of the seccomp program that denies unneeded system calls, by the policy. It takes effect
	// with Guard.
	Deny seccomp.DenyOptions `json:"deny"`

	// Refused, if not nil, is called with the guard's refusals, one after the other. The guest is not trusted: kind and
	// operation are valid, but the texts can contain any bytes, up to some thousand. It is called at most some hundred
	// times a minute.
	Refused func(guard.Refusal) `json:"-"`
}

// Identity is the identity, from stat(2), of the file that is mounted at Path. If the numbers are zero, any mounted
// file matches.
type Identity struct {
	Path guard.Path `json:"path"`
	Dev  uint64     `json:"dev,omitempty"`
	Ino  uint64     `json:"ino,omitempty"`
}

// Setup configures the guest once, before the first command. Invalid: it was called before, or a command was started. After an
// error the sandbox cannot be used.
func (c *Client) Setup(ctx context.Context, s Setup) error {
	for _, r := range s.Relays {
		if err := r.check(); err != nil {
			return err
		}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if len(data) > maxSetup {
		return sandbox.Errorf(sandbox.Invalid, "setup of the guest has %d bytes; the limit is %d", len(data), maxSetup)
	}
	stream, err := c.ask(ctx, frameSetup, data)
	if err != nil {
		return err
	}
	if s.Guard == nil {
		return stream.Close()
	}
	go c.fall.follow(stream, c.fall.begin(), s.Refused)
	return nil
}

// setUp answers a frameSetup.
func (a *asked) setUp(ctx context.Context, data []byte, s server) {
	var want Setup
	if err := json.Unmarshal(data, &want); err != nil {
		a.refuse(sandbox.Errorf(sandbox.Invalid, "%w", err))
		return
	}
	tell, err := s.setUp(want)
	if err != nil {
		a.refuse(err)
		return
	}
	_ = a.begun() // an error means that the host has gone, and the session ends
	if tell != nil {
		tell(ctx, a)
	}
}
