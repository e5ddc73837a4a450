package dialect

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// Answer collects an answer from its deltas. The zero value is ready to use.
type Answer struct {
	Usage  event.Usage
	stop   Stop
	blocks []*block
	index  map[int]*block
}

type block struct {
	part Part
	text strings.Builder
}

// Add applies the next delta.
func (a *Answer) Add(d Delta) {
	switch d.Change {
	case SetUsage:
		a.Usage = d.Usage
	case SetStop:
		a.stop = d.Stop
	case AddText:
		a.block(d.Block, Text).text.WriteString(d.Text)
	case AddThinking:
		a.block(d.Block, Thinking).text.WriteString(d.Text)
	case AddSeal:
		a.block(d.Block, Thinking).part.Seal = d.Seal
	case BeginCall:
		b := a.block(d.Block, Call)
		b.part.ID, b.part.Name = d.ID, d.Name
	case AddCall:
		a.block(d.Block, Call).text.WriteString(d.Text)
	}
}

func (a *Answer) block(i int, kind Kind) *block {
	if b, ok := a.index[i]; ok {
		return b
	}
	if a.index == nil {
		a.index = map[int]*block{}
	}
	b := &block{part: Part{Kind: kind}}
	a.index[i] = b
	a.blocks = append(a.blocks, b)
	return b
}

// Parts returns the parts of the answer in order.
func (a *Answer) Parts() []Part {
	parts := make([]Part, len(a.blocks))
	for i, b := range a.blocks {
		parts[i] = b.part
		parts[i].Text = b.text.String()
	}
	return parts
}

// Stop returns why the answer ended. With calls it is StopCalls, even if the server reported a normal end.
func (a *Answer) Stop() Stop {
	if a.stop == "" || a.stop == StopEnd {
		for _, b := range a.blocks {
			if b.part.Kind == Call {
				return StopCalls
			}
		}
		return StopEnd
	}
	return a.stop
}
