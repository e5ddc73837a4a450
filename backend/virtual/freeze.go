package virtual

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Freeze stops the processes of all commands and sessions where they are.
func (i *instance) Freeze(ctx context.Context) error {
	i.quiet.Lock()
	defer i.quiet.Unlock()
	running, err := i.setFrozen(true)
	for n, p := range running {
		if err = p.shell.Freeze(ctx); err != nil {
			for _, p := range running[:n] {
				p.shell.Thaw()
			}
			_, _ = i.setFrozen(false) // nothing is left to do if it was closed meanwhile
			return err
		}
	}
	return err
}

// Thaw continues what Freeze has stopped.
func (i *instance) Thaw(context.Context) error {
	i.quiet.Lock()
	defer i.quiet.Unlock()
	running, err := i.setFrozen(false)
	for _, p := range running {
		p.shell.Thaw()
	}
	return err
}

// setFrozen returns the processes to stop or continue, none if they are as they should be.
func (i *instance) setFrozen(on bool) (running []*process, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	if i.frozen == on {
		return nil, nil
	}
	i.frozen = on
	for p := range i.running {
		running = append(running, p)
	}
	return running, nil
}
