package model

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// kind is the kind of a block.
type kind int

const (
	speech   kind = iota // text
	thought              // thinking, which Anthropic signs
	redacted             // encrypted thinking, which goes back unchanged
	call                 // a use of a tool
)

// block is a piece of an answer. Blocks are in the order in which they began.
type block struct {
	kind  kind
	text  strings.Builder // of a call its arguments
	sign  string          // of a thought the signature, of what is redacted the data
	field string          // of a thought the member that it came in, for servers that want it back there
	id    string          // of a call
	name  string          // of a call, as the server has it
}

// ending is why an answer ended.
type ending int

const (
	cut       ending = iota // the server did not report an end
	stopped                 // the model finished
	wantsUse                // tools are to run
	tooLong                 // at the limit of tokens
	refused                 // by the model, or by a content filter
	paused                  // the server waits for a request to continue
	otherwise               // for an unknown reason
)

// endings are the reasons of all the APIs and of servers that are compatible with them.
var endings = map[string]ending{
	"stop": stopped, "end_turn": stopped, "stop_sequence": stopped, "completed": stopped, "eos": stopped, "eos_token": stopped,
	"tool_calls": wantsUse, "tool_use": wantsUse, "function_call": wantsUse,
	"length": tooLong, "max_tokens": tooLong, "max_output_tokens": tooLong, "model_context_window_exceeded": tooLong,
	"content_filter": refused, "refusal": refused, "sensitive": refused,
	"pause_turn": paused,
}

// answer is the part of an answer that one stream has delivered.
type answer struct {
	id      string
	blocks  []*block
	open    *block // the text or thought that goes on
	calls   map[string]*block
	reason  string // in the server's words
	end     ending
	refusal string // the text of a refusal
	said    int64  // bytes of the blocks
	sealed  int64  // bytes of encrypted blocks
	prompt  int64  // bytes of text in the request
	begun   bool   // a part of the answer arrived, so it is billed
	named   bool   // id is unique in the run
	usage   event.Usage
	toldIn  bool // the server reported the tokens of the prompt
	toldOut bool // the server reported the tokens of the whole output
	events  []event.Event
	unknown map[string]bool
}

// identify sets the server's ID of the answer, until the first event went out.
func (a *answer) identify(id string) {
	if !a.named && id != "" {
		a.id = id
	}
}

// add appends to the open block, or opens one of kind k.
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

// close ends the open block.
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

// use returns the tool call with a server's key, and begins it the first time.
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

// appendArguments appends to the arguments of a tool call.
func (a *answer) appendArguments(b *block, s string) {
	b.text.WriteString(strings.ToValidUTF8(s, "\uFFFD"))
	a.said += int64(len(s))
}

// stop records why the answer ended.
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

// skip reports an unknown type of event, once.
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

// checkSize returns the fault of an answer that exceeds a bound, also of an incomplete one.
func (a *answer) checkSize() *fault {
	switch {
	case a.said+a.sealed > maxSaid:
		return apiFault("its answer has over %d MiB", maxSaid>>20)
	case len(a.calls) > maxCalls:
		return apiFault("its answer asks for over %d tools at once", maxCalls)
	}
	return nil
}

// uses returns the tool calls of the answer. A call with no ID, or with the ID of another, gets one.
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

// hasText reports whether the answer has text, thinking apart.
func (a *answer) hasText() bool {
	for _, b := range a.blocks {
		if b.kind == speech && strings.TrimSpace(b.text.String()) != "" {
			return true
		}
	}
	return false
}

// estimateTokens returns a low estimate of the tokens in so many bytes of text: prose has four to five bytes per token.
func estimateTokens(bytes int64) int64 { return (bytes + 4) / 5 }

// booked returns the usage of the answer until now, and whether a part of it is estimated.
func (a *answer) booked() (u event.Usage, estimated bool) {
	u = a.usage
	if !a.toldIn {
		u.Input = max(u.Input, estimateTokens(a.prompt))
	}
	if !a.toldOut {
		u.Output = max(u.Output, estimateTokens(a.said))
	}
	return u, !a.toldIn || !a.toldOut
}

// clampCount bounds a number of tokens that a server reported.
func clampCount(n int64) int64 { return min(max(n, 0), 1<<53) }

// tokens returns the usage of counts whose prompt includes its cached part.
func tokens(prompt, read, write, output, reasoning int64) event.Usage {
	read, write = clampCount(read), clampCount(write)
	return event.Usage{
		Input: max(0, clampCount(prompt)-read-write), CacheRead: read, CacheWrite: write, Output: clampCount(output), Reasoning: clampCount(reasoning),
	}
}

// failure returns the fault of an answer whose end means that it failed; nil: it may be a success.
func (a *answer) failure(limit int64) *fault {
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
		f.text = fmt.Sprintf("the answer ended for the unknown reason %q", clip(a.reason, 64))
	case cut:
		f.outcome, f.text = event.APIError, "the answer was cut off in the middle"
		if !a.begun {
			f.text = "the server ended the stream without an answer"
		}
	case stopped, wantsUse, paused:
		return nil
	}
	return f
}
