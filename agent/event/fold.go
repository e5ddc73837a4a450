package event

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

// The bounds of a fold. The agent is hostile, and may write without end.
const (
	maxContent  = 16 << 20 // bytes
	maxDenials  = 1000
	maxFiles    = 10_000
	maxMessages = 10_000
	maxInput    = 64 << 10 // bytes, of a tool that was denied
)

// Fold builds a [Response] from events. The zero value is ready. It stores what the response needs,
// not the events.
type Fold struct {
	r         Response
	model     string           // that the session named
	done      bool             // the last event that counts was a result
	told      Usage            // by results
	results   int              //
	text      strings.Builder  // of the last message
	message   string           // its ID
	partial   strings.Builder  // deltas since the last block
	fault     string           // the last error that did not end the run
	messages  map[string]Usage // of each message
	files     map[string]bool  //
	finalText *string          //
	errors    []string         // of the last result
	denied    map[string]bool  // tool uses, by ID
	stderr    string           // the end of its stderr, when its process has ended
	earlier   Usage            // of messages that no longer fit in messages
}

// Add processes the next event. The caller adds events in the order of the stream.
func (f *Fold) Add(e Event) {
	switch e.Kind {
	case SessionStarted:
		f.session(e.Session)
	case Text, TextDelta:
		f.addText(e)
	case Thinking, ThinkingDelta:
		f.reopen(e)
	case ToolStarted:
		f.reopen(e)
		f.r.Tools++
	case ToolFinished:
		f.wrote(e.Tool)
	case PermissionDenied:
		f.deny(e.Denial)
	case RetryScheduled:
		f.r.Retries++
		f.retry(e.Retry)
	case UsageReported:
		f.usage(e)
	case NoticeGiven:
		f.notice(e.Notice)
	case ProcessExited:
		if e.Exit != nil {
			f.r.ExitCode = &e.Exit.Code
			f.stderr = lastLine(e.Exit.Stderr)
		}
	case ResultGiven:
		f.result(e.Result)
	case HookRan, ControlSent, MessageShown, ResponseFolded:
	}
}

// reopen begins a turn: the result of the previous turn no longer counts.
func (f *Fold) reopen(e Event) {
	if e.Parent == "" && f.done {
		f.done, f.finalText, f.errors = false, nil, nil
		f.text.Reset()
		f.partial.Reset()
		f.fault = ""
	}
}

func (f *Fold) session(s *Session) {
	if s == nil {
		return
	}
	f.reopen(Event{})
	if s.ID != "" {
		f.r.Session = s.ID
	}
	if s.Executor != "" {
		f.r.Executor = s.Executor
	}
	if s.Model != "" {
		f.model = s.Model
	}
}

// addText records the last message of the agent itself.
func (f *Fold) addText(e Event) {
	f.reopen(e)
	if e.Parent != "" {
		return
	}
	if e.Kind == TextDelta {
		f.write(&f.partial, e.Text)
		return
	}
	f.partial.Reset()
	if e.Message == "" || e.Message != f.message {
		f.text.Reset()
	}
	f.message = e.Message
	if f.text.Len() > 0 {
		f.write(&f.text, "\n")
	}
	f.write(&f.text, e.Text)
}

func (f *Fold) write(b *strings.Builder, s string) {
	if room := maxContent - b.Len(); len(s) > room {
		s = strings.ToValidUTF8(s[:room], "")
		f.r.Truncated = true
	}
	b.WriteString(s)
}

func (f *Fold) wrote(t *Tool) {
	if t == nil || t.Failed {
		return
	}
	for _, name := range t.Files {
		switch {
		case f.files[name]:
		case len(f.files) >= maxFiles, len(name) > jsonl.Small:
			f.r.Truncated = true
		default:
			if f.files == nil {
				f.files = map[string]bool{}
			}
			f.files[name] = true
			f.r.Files = append(f.r.Files, name)
		}
	}
}

// deny counts a denied use of a tool once, although executors report it twice: when it happens, and at
// the end.
func (f *Fold) deny(d *Denial) {
	if d == nil {
		return
	}
	if f.denied[d.ToolID] && d.ToolID != "" {
		return
	}
	if len(f.r.Denials) >= maxDenials || len(d.ToolID)+len(d.Tool) > jsonl.Small {
		f.r.Truncated = true
		return
	}
	denial := *d
	denial.Reason = jsonl.Clip(d.Reason, jsonl.Small)
	if len(d.Input) > maxInput {
		denial.Input, f.r.Truncated = nil, true
	}
	if f.denied == nil {
		f.denied = map[string]bool{}
	}
	f.denied[d.ToolID] = true
	f.r.Denials = append(f.r.Denials, denial)
}

func (f *Fold) retry(r *Retry) {
	if r != nil && r.Error != "" {
		f.fault = "the last request was tried again after " + r.Error
	}
}

func (f *Fold) usage(e Event) {
	if e.Usage == nil {
		return
	}
	if f.messages == nil {
		f.messages = map[string]Usage{}
	}
	if len(f.messages) >= maxMessages {
		for _, u := range f.messages {
			f.earlier = f.earlier.Add(u)
		}
		clear(f.messages)
	}
	id := jsonl.Clip(e.Message, jsonl.Small)
	f.messages[id] = f.messages[id].Most(*e.Usage)
}

func (f *Fold) notice(n *Notice) {
	if n == nil {
		return
	}
	switch n.Kind {
	case NoticeError:
		f.fault = n.Text
	case NoticeGarbage, NoticeTooLong:
		f.r.Garbage++
	case NoticeUnknown:
		f.r.Unknown++
	}
}

// result ends a turn. Usage, turns and duration are those of the turn; cost and models are those of
// all turns so far.
func (f *Fold) result(r *Result) {
	if r == nil {
		return
	}
	f.done = true
	f.results++
	f.r.Outcome, f.finalText, f.errors = r.Outcome, r.Text, r.Errors
	f.told = f.told.Add(r.Usage)
	f.r.Estimated = f.r.Estimated || r.Estimated
	f.r.Turns = addCounts(f.r.Turns, r.Turns)
	f.r.DurationMS = addCounts(f.r.DurationMS, r.DurationMS)
	if r.CostUSD != nil {
		f.r.CostUSD = r.CostUSD
	}
	if len(r.Models) > 0 {
		f.r.Models = r.Models
	}
}

// lastLine returns the last line that is not empty, clipped. It usually says why a program ended.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return jsonl.Clip(strings.TrimSpace(lines[len(lines)-1]), 512)
}

// Response returns the response for the events so far: that of the run when the stream has ended. The
// caller may add further events.
func (f *Fold) Response() Response {
	r := f.r
	r.Models, r.Denials, r.Files = slices.Clone(r.Models), slices.Clone(r.Denials), slices.Clone(r.Files)
	r.Usage = f.total(&r)
	if len(r.Models) == 0 && f.model != "" {
		r.Models = []ModelUsage{{Model: f.model}}
	}
	r.Content = f.text.String()
	if f.partial.Len() > 0 {
		r.Content = f.partial.String()
	}
	if !f.done {
		r.Outcome, r.Error = NoResult, "the stream ended without a result"
		if f.fault != "" {
			r.Error += "; " + f.fault
		}
		if f.stderr != "" {
			r.Error += "; its last words: " + f.stderr
		}
		return r
	}
	if f.finalText != nil {
		r.Content = *f.finalText
	}
	if r.Outcome != Success {
		r.Error = strings.Join(f.errors, "; ")
		if r.Error == "" {
			r.Error = f.fault
		}
	}
	return r
}

// total returns the usage: the sum of all models if a result reports it, since it agrees with the
// cost; otherwise the sum of the turns; otherwise the sum of the messages.
func (f *Fold) total(r *Response) Usage {
	if len(r.Models) > 0 {
		var sum Usage
		for _, m := range r.Models {
			sum = sum.Add(m.Usage)
		}
		return sum.Most(f.told)
	}
	if f.results > 0 {
		return f.told
	}
	r.Estimated = true
	sum := f.earlier
	for _, u := range f.messages {
		sum = sum.Add(u)
	}
	return sum
}
