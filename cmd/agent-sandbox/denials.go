package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	maxDenials  = 100 // kept: what is inside decides how many there are
	fewDenials  = 8   // listed after a run
	shortDenial = 200 // bytes of one that is listed
)

// denials collects what was refused, once each. It is safe for concurrent use.
type denials struct {
	record bool // also refusals to read are wanted

	mu   sync.Mutex
	list []sandbox.Denial
	more int // that were too many to keep
}

func (d *denials) add(one sandbox.Denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	same := func(o sandbox.Denial) bool {
		return o.Kind == one.Kind && o.Op == one.Op && o.Target == one.Target && o.Reason == one.Reason
	}
	switch {
	case slices.ContainsFunc(d.list, same):
	case len(d.list) >= maxDenials:
		d.more++
	default:
		d.list = append(d.list, one)
	}
}

func (d *denials) all() []sandbox.Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// refused lists what was refused to a command, for people and models.
func (p *printer) refused(list []sandbox.Denial) {
	if len(list) == 0 {
		return
	}
	p.say("refused:")
	for _, d := range list[:min(len(list), fewDenials)] {
		p.line("  " + denialLine(d))
	}
	if rest := len(list) - fewDenials; rest > 0 {
		p.line(fmt.Sprintf("  and %d more; --json lists all, --record FILE collects them", rest))
	}
}

// denialLine is "write /etc/hosts: as on the host, read-only (/, built in); to allow it: --rw /etc/hosts".
func denialLine(d sandbox.Denial) string {
	text := d.Op + " " + d.Target
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	var why []string
	for _, s := range []string{d.Rule, d.Source} {
		if s != "" {
			why = append(why, s)
		}
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	if len(text) > shortDenial {
		text = strings.ToValidUTF8(text[:shortDenial], "") + "..."
	}
	if d.Fix != "" {
		text += "; to allow it: " + d.Fix
	}
	return printable(text)
}
