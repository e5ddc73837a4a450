package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	maxDenials  = 100 // the command determines how many occur
	fewDenials  = 8   // listed after a run
	shortDenial = 200 // bytes of one listed denial
)

// Denials collects distinct denials. It is safe for concurrent use.
type Denials struct {
	record bool     // denied reads are wanted, too
	events *os.File // receives each as a line of JSON; nil: none

	mu   sync.Mutex
	list []sandbox.Denial
	more int   // number of denials beyond maxDenials
	err  error // of writing to events
}

// NewDenials opens the file for events, if any, before anything starts. Commands can create files where w is true.
func NewDenials(record bool, events string, w hostfile.Writable) (*Denials, error) {
	d := &Denials{record: record}
	if events == "" {
		return d, nil
	}
	var err error
	d.events, err = hostfile.Open(events, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600, w)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "--events: %w", err)
	}
	return d, nil
}

// Close returns an error if not all events were written.
func (d *Denials) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.events == nil {
		return nil
	}
	if err := errors.Join(d.err, d.events.Close()); err != nil {
		return sandbox.Errorf(sandbox.Internal, "--events: %w", err)
	}
	return nil
}

// Add collects a denial, unless an equal one was collected before.
func (d *Denials) Add(one sandbox.Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one.Missed > 0 {
		d.more += one.Missed
		return
	}
	same := func(o sandbox.Denial) bool {
		return o.Kind == one.Kind && o.Op == one.Op && o.Target == one.Target && o.Reason == one.Reason
	}
	switch {
	case slices.ContainsFunc(d.list, same):
		return
	case len(d.list) >= maxDenials:
		d.more++
		return
	}
	d.list = append(d.list, one)
	if d.events == nil || d.err != nil {
		return
	}
	line, err := json.Marshal(one)
	if err == nil {
		_, err = d.events.Write(append(console.EscapeJSON(line), '\n'))
	}
	d.err = err
}

// All returns the collected denials, at most 100.
func (d *Denials) All() []sandbox.Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// Take returns the lines of the first collected denials, and forgets all. It leaves out those that are harmless whatever the status
// of the command.
func (d *Denials) Take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var lines []string
	list := slices.DeleteFunc(d.list, func(one sandbox.Denial) bool { return IsHarmless(one, 1) })
	for _, one := range list[:min(len(list), fewDenials)] {
		lines = append(lines, DenialLine(one))
	}
	if rest := len(list) - len(lines) + d.more; rest > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", rest))
	}
	d.list, d.more = nil, 0
	return lines
}

// Dropped returns the number of denials beyond those of All. Equal ones may count several times.
func (d *Denials) Dropped() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.more
}
