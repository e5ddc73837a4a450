package session

import (
	"context"
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Setup is what a guest does before the first command.
type Setup struct {
	// Relays are listened on when Setup returns.
	Relays []Relay `json:"relays,omitempty"`
	// Expect is what has to stand at mounted paths inside, seen from the host before: whoever mounts by path may have been
	// led elsewhere meanwhile. Setup is Denied where something else does.
	Expect []Identity `json:"expect,omitempty"`
	// Guard has every command's calls answered by these rules, inside; nil: none are. When it cannot be installed
	// Setup fails, and when it ends the sandbox does.
	Guard *guard.Rules `json:"guard,omitempty"`
	// Deny opens what a policy asks for in the program that denies what no command needs. It takes effect with Guard.
	Deny seccomp.DenyOptions `json:"deny"`

	// Refused is told what the guard refused, if it is not nil, one after the other: the guest's word, so the texts are
	// anything of at most some thousand bytes, and of a kind and an operation that exist. Some hundred a minute are told.
	Refused func(guard.Refusal) `json:"-"`
}

// Identity is what stat(2) says of a file that is mounted at Path inside. Without numbers it is any that is mounted.
type Identity struct {
	Path guard.Path `json:"path"`
	Dev  uint64     `json:"dev,omitempty"`
	Ino  uint64     `json:"ino,omitempty"`
}

// Setup tells the guest what it is to do before the first command, once; a second one, and one after a command
// was started, is Invalid. On an error the sandbox is of no use.
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
		return sandbox.Errorf(sandbox.Invalid, "what the guest is to set up takes %d bytes, %d at most", len(data), maxSetup)
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
	_ = a.begun() // the host is gone otherwise, and everything ends
	if tell != nil {
		tell(ctx, a)
	}
}
