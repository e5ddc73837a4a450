package session

import (
	"context"
	"io"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Operations of every guest.
const (
	opFreeze = "freeze" // stops all commands, and refuses others until opThaw
	opThaw   = "thaw"   // continues the commands
	opPause  = "pause"  // stops all commands, answers with a line, and continues them when the client has left
)

// thawTime bounds the end of a freeze that was canceled.
const thawTime = 10 * time.Second

// Freeze stops all processes of commands of all sessions of the guest, and makes it refuse others; see [sandbox.Freezer].
func (c *Connection) Freeze(ctx context.Context) error {
	c.freezing.Lock()
	defer c.freezing.Unlock()
	if err := c.Operate(ctx, opFreeze, nil, nil); err != nil {
		if ctx.Err() != nil && !c.frozen.Load() { // the guest may have been faster
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), thawTime)
			defer cancel()
			_ = c.Operate(ctx, opThaw, nil, nil) // an error means that the session has ended
		}
		return err
	}
	c.frozen.Store(true)
	return nil
}

// Thaw continues the processes that Freeze of any session has stopped.
func (c *Connection) Thaw(ctx context.Context) error {
	c.freezing.Lock()
	defer c.freezing.Unlock()
	err := c.Operate(ctx, opThaw, nil, nil)
	if err == nil {
		c.frozen.Store(false)
	}
	return err
}

// IsFrozen reports whether this session has frozen the sandbox.
func (c *Connection) IsFrozen() bool { return c.frozen.Load() }

// Pause stops all processes of commands until resume is called or the session ends. Commands that are started meanwhile run.
func (c *Connection) Pause(ctx context.Context) (resume func(), err error) {
	return Hold(ctx, func(ctx context.Context, answer io.Writer) error { return c.Operate(ctx, opPause, nil, answer) })
}

// frozenFailure is the failure of a command that is started in a frozen sandbox.
func frozenFailure() *failure {
	e := sandbox.Frozen()
	return &failure{Code: e.Code, Text: e.Error(), Hint: e.Hint}
}
