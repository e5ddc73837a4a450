package broker

import (
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// gauge counts an answer's usage as its deltas arrive. The usage that the server reports at the end is final; until
// then the gauge takes the higher of the reported usage and an estimate from the text.
type gauge struct {
	prompt func() int64 // estimates the prompt's tokens, which takes time
	told   event.Usage
	seen   int64 // bytes of the answer
	exact  bool  // the server reported the usage at the end
	ended  bool  // the server reported why the answer ended
}

func (g *gauge) add(deltas []dialect.Delta) {
	told := false
	for _, d := range deltas {
		g.seen += int64(len(d.Text) + len(d.Name))
		switch d.Change {
		case dialect.SetUsage:
			g.told, told = d.Usage, true
		case dialect.SetStop:
			g.ended = true
		case dialect.AddText, dialect.AddThinking, dialect.AddSeal, dialect.BeginCall, dialect.AddCall:
		}
	}
	g.exact = g.ended && (g.exact || told)
}

// running returns the usage so far, without the prompt unless the server has reported it.
func (g *gauge) running() event.Usage {
	u := g.told
	if !g.exact {
		u.Output = max(u.Output, dialect.Tokens(g.seen))
	}
	return u
}

// final returns the usage at the end of the answer. complete says whether the answer is complete; estimated reports that
// the server did not report all of the usage.
func (g *gauge) final(complete bool) (u event.Usage, estimated bool) {
	if complete && g.exact {
		return g.told, false
	}
	u = g.running()
	if u.Prompt() == 0 {
		u.Input = g.prompt()
	}
	return u, true
}
