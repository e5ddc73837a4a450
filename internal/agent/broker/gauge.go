package broker

import (
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// gauge counts what an answer uses as its deltas come. What the server tells is believed at the end of the answer; until
// then it is what was told, and at least what was seen.
type gauge struct {
	prompt func() int64 // an estimate of the prompt's tokens, which takes a while
	told   event.Usage
	seen   int64 // bytes of the answer
	exact  bool  // the usage was told at the end
	ended  bool  // the reason of the end was told
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

// running is what was used so far, not counting a prompt that nobody told.
func (g *gauge) running() event.Usage {
	u := g.told
	if !g.exact {
		u.Output = max(u.Output, dialect.Tokens(g.seen))
	}
	return u
}

// final is what was used, now that nothing more comes. With complete the answer is; estimated is that it was not all told.
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
