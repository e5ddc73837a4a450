package model

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// kind is what a block of an answer is.
type kind int

const (
	speech   kind = iota // text
	thought              // thinking, which Anthropic signs
	redacted             // thinking that nobody can read, and that goes back as it is
	call                 // a use of a tool
)

// block is a piece of an answer, in the order of its beginning.
type block struct {
	kind  kind
	text  strings.Builder // of a call its arguments
	sign  string          // of a thought the signature, of what is redacted the data
	field string          // of a thought the member that it came in, for servers that want it back there
	id    string          // of a call
	name  string          // of a call, as the server has it
}

// ending is what an answer ended with.
type ending int

const (
	cut       ending = iota // nothing said that it is over
	stopped                 // the model was ready
	wantsUse                // tools are to run
	tooLong                 // at the limit of tokens
	refused                 // by the model, or by who watches it
	paused                  // the server wants to be asked to go on
	otherwise               // for a reason that nobody knows
)

// endings are the reasons of all the APIs and of servers that are compatible with them.
var endings = map[string]ending{
	"stop": stopped, "end_turn": stopped, "stop_sequence": stopped, "completed": stopped, "eos": stopped, "eos_token": stopped,
	"tool_calls": wantsUse, "tool_use": wantsUse, "function_call": wantsUse,
	"length": tooLong, "max_tokens": tooLong, "max_output_tokens": tooLong, "model_context_window_exceeded": tooLong,
	"content_filter": refused, "refusal": refused, "sensitive": refused,
	"pause_turn": paused,
}

// answer is what a server says in one stream.
type answer struct {
	id      string
	blocks  []*block
	open    *block // the text or thought that goes on
	calls   map[string]*block
	reason  string // in the server's words
	end     ending
	refusal string // what was said instead of an answer
	said    int64  // bytes of the blocks
	sealed  int64  // bytes that only the server can read
	prompt  int64  // bytes of text in the request
	begun   bool   // something of the answer came, so it costs
	named   bool   // id is one that no other answer has
	usage   event.Usage
	toldIn  bool // the server told its prompt's tokens
	toldOut bool // the server told all of its output's
	events  []event.Event
	unknown map[string]bool
}

// identify takes the server's ID of the answer, as long as no event was given away without it.
func (a *answer) identify(id string) {
	if !a.named && id != "" {
		a.id = id
	}
}

// add adds to the text or the thought that goes on, or begins one.
func (a *answer) add(k kind, s string) *block {
	if s == "" {
		return a.open
	}
	if a.open == nil || a.open.kind != k {
		a.close()
		a.open = a.begin(k)
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	a.open.text.WriteString(s)
	a.said += int64(len(s))
	e := event.Event{Kind: event.TextDelta, Message: a.id, Text: s}
	if k == thought {
		e.Kind = event.ThinkingDelta
	}
	a.events = append(a.events, e)
	return a.open
}

func (a *answer) begin(k kind) *block {
	b := &block{kind: k}
	a.blocks = append(a.blocks, b)
	return b
}

// close ends the text or the thought that goes on.
func (a *answer) close() {
	b := a.open
	if b == nil {
		return
	}
	a.open = nil
	if b.text.Len() == 0 {
		return
	}
	e := event.Event{Kind: event.Text, Message: a.id, Text: b.text.String(), Streamed: true}
	if b.kind == thought {
		e.Kind = event.Thinking
	}
	a.events = append(a.events, e)
}

// use returns the use of a tool that a server knows by key, and begins it the first time.
func (a *answer) use(key string) *block {
	if b := a.calls[key]; b != nil {
		return b
	}
	a.close()
	if a.calls == nil {
		a.calls = map[string]*block{}
	}
	b := a.begin(call)
	a.calls[key] = b
	return b
}

// argue adds to the arguments of a use.
func (a *answer) argue(b *block, s string) {
	b.text.WriteString(strings.ToValidUTF8(s, "\uFFFD"))
	a.said += int64(len(s))
}

// stop notes why the answer ended.
func (a *answer) stop(reason string) {
	if reason == "" {
		return
	}
	end, known := endings[reason]
	if !known {
		end = otherwise
	}
	a.reason, a.end = reason, end
}

// skip notes an event of a type that is not known, once.
func (a *answer) skip(name string) {
	name = clip(name, 100)
	if a.unknown == nil {
		a.unknown = map[string]bool{}
	}
	if !a.unknown[name] && len(a.unknown) < 100 {
		a.unknown[name] = true
		a.events = append(a.events, event.NewNotice(event.NoticeUnknown, name, ""))
	}
}

// over is the fault of an answer that is too much for us, whatever is missing of it.
func (a *answer) over() *fault {
	switch {
	case a.said+a.sealed > maxSaid:
		return apiFault("its answer has over %d MiB", maxSaid>>20)
	case len(a.calls) > maxCalls:
		return apiFault("its answer asks for over %d tools at once", maxCalls)
	}
	return nil
}

// uses are the uses of tools that the answer asks for; one without an ID, or with that of another, has its own then.
func (a *answer) uses() []*block {
	var out []*block
	taken := map[string]bool{}
	for _, b := range a.blocks {
		if b.kind != call {
			continue
		}
		for n := 1; b.id == "" || taken[b.id]; n++ {
			b.id = fmt.Sprintf("call_%d_%d", len(out)+1, n)
		}
		taken[b.id] = true
		out = append(out, b)
	}
	return out
}

// text reports whether something was said, beside thinking.
func (a *answer) text() bool {
	for _, b := range a.blocks {
		if b.kind == speech && strings.TrimSpace(b.text.String()) != "" {
			return true
		}
	}
	return false
}

// guess is how many tokens so many bytes of text have at least, mostly: prose has four to five bytes each.
func guess(bytes int64) int64 { return (bytes + 4) / 5 }

// booked is what the answer cost in tokens until now, and whether a part of it is guessed.
func (a *answer) booked() (u event.Usage, guessed bool) {
	u = a.usage
	if !a.toldIn {
		u.Input = max(u.Input, guess(a.prompt))
	}
	if !a.toldOut {
		u.Output = max(u.Output, guess(a.said))
	}
	return u, !a.toldIn || !a.toldOut
}

// count is a count of tokens from outside, within bounds.
func count(n int64) int64 { return min(max(n, 0), 1<<53) }

// tokens makes a usage of counts whose prompt has its cached part in it.
func tokens(prompt, read, write, output, reasoning int64) event.Usage {
	read, write = count(read), count(write)
	return event.Usage{
		Input: max(0, count(prompt)-read-write), CacheRead: read, CacheWrite: write, Output: count(output), Reasoning: count(reasoning),
	}
}

// why says in words why an answer that ended like this is no success; nil is one that may be.
func (a *answer) why(limit int64) *fault {
	f := &fault{outcome: event.Failed}
	switch a.end {
	case tooLong:
		f.text = fmt.Sprintf("the answer was cut at its limit of tokens (%s)", clip(a.reason, 64))
		if limit > 0 && limit < math.MaxInt64 {
			f.text = fmt.Sprintf("the answer was cut at its limit of %d tokens (%s); max_tokens of the connector raises it", limit, clip(a.reason, 64))
		}
	case refused:
		f.text = fmt.Sprintf("the answer was refused (%s)", clip(a.reason, 64))
		if a.refusal != "" {
			f.text += ": " + clip(a.refusal, maxFault)
		}
	case otherwise:
		f.text = fmt.Sprintf("the answer ended for the reason %q, which is not known", clip(a.reason, 64))
	case cut:
		f.outcome, f.text = event.APIError, "the answer was cut off in the middle"
		if !a.begun {
			f.text = "the server ended the stream and said nothing"
		}
	case stopped, wantsUse, paused:
		return nil
	}
	return f
}
