package event

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

// MaxLine is the default limit on the length of a line, in bytes. One line may contain whole files and pictures.
const MaxLine = 32 << 20

// Decoder converts the lines that an executor prints to events. It remembers earlier lines, so each stream needs its own Decoder.
// It is not safe for concurrent use.
type Decoder interface {
	// Decode returns the events of one line, in order, or none. It does not retain line. It never fails: a line that cannot be read
	// becomes a notice.
	Decode(line []byte) []Event
}

// Stream reads events from r until its end. It starts no goroutine: it reads when the caller asks for the next event. It replaces
// invalid UTF-8 by U+FFFD. A line of more than maxLine bytes, or of more than [MaxLine] if that is 0, becomes a notice. An error
// of r, or of ctx between two lines, is the last pair. To end a read that blocks, the owner of r closes it.
func Stream(ctx context.Context, r io.Reader, d Decoder, maxLine int) iter.Seq2[Event, error] {
	if maxLine <= 0 {
		maxLine = MaxLine
	}
	return func(yield func(Event, error) bool) {
		for line, err := range jsonl.Lines(ctx, r, maxLine) {
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, e := range eventsOf(d, line) {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func eventsOf(d Decoder, line jsonl.Line) []Event {
	if line.Cut {
		e := NewNotice(NoticeTooLong, "", fmt.Sprintf("a line of %d bytes was left out", line.Size))
		e.Notice.Size = line.Size
		return []Event{e}
	}
	text := line.Text
	if !utf8.Valid(text) { // the texts of events can contain parts of a line, and events are written as JSON
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return d.Decode(text)
}

// NewNotice returns the event of a notice; it cuts long texts.
func NewNotice(kind, name, text string) Event {
	return Event{Kind: NoticeGiven, Notice: &Notice{Kind: kind, Name: jsonl.Clip(name, 256), Text: jsonl.Clip(text, 4<<10)}}
}

// maxUses bounds the unfinished uses of tools that Uses remembers.
const maxUses = 10_000

// Uses remembers the unfinished uses of tools, because executors report only the ID at the end. The zero value is ready.
type Uses struct{ open map[string]Tool }

// Start remembers a use and returns its event. files are the files that the use will write.
func (u *Uses) Start(parent, message string, t Tool) Event {
	if u.open == nil {
		u.open = map[string]Tool{}
	}
	size := len(t.ID) + len(t.Name)
	for _, name := range t.Files {
		size += len(name)
	}
	if len(u.open) < maxUses && size <= jsonl.Small {
		u.open[t.ID] = Tool{ID: t.ID, Name: t.Name, Files: t.Files}
	}
	t.Files = nil
	return Event{Kind: ToolStarted, Parent: parent, Message: message, Tool: &t}
}

// Finish returns the event of the end of a use, with the name and the files of its start. A failed use has written no file.
func (u *Uses) Finish(parent string, t Tool) Event {
	if began, ok := u.open[t.ID]; ok {
		t.Name = began.Name
		if t.Files == nil {
			t.Files = began.Files
		}
		delete(u.open, t.ID)
	}
	if t.Failed {
		t.Files = nil
	}
	return Event{Kind: ToolFinished, Parent: parent, Tool: &t}
}

// Started reports whether a use has started and not finished.
func (u *Uses) Started(id string) bool {
	_, ok := u.open[id]
	return ok
}

// Recorded decodes events that were written as JSON lines. It leaves out the response at their end: a [Fold] of the events builds
// it again.
type Recorded struct{}

// Decode implements [Decoder].
func (Recorded) Decode(line []byte) []Event {
	var e Event
	malformed, err := jsonl.Decode(line, &e)
	switch {
	case err != nil || malformed:
		return []Event{NewNotice(NoticeGarbage, "", string(line))}
	case e.Kind == ResponseFolded:
		return nil
	case !isComplete(e):
		return []Event{NewNotice(NoticeUnknown, string(e.Kind), "")}
	}
	return []Event{e}
}

// IsRecorded reports whether a line is an event as this package writes it.
func IsRecorded(line []byte) bool {
	var keys map[string]json.RawMessage
	var e Event
	if len(line) > MaxLine || json.Unmarshal(line, &e) != nil || !isComplete(e) || json.Unmarshal(line, &keys) != nil {
		return false
	}
	for key := range keys {
		if !slices.Contains(fields, key) {
			return false
		}
	}
	return true
}

var fields = []string{
	"type", "parent", "message", "text", "streamed", "session", "tool", "denial", "retry", "usage", "hook", "control", "notice", "exit", "result", "message_shown", "response",
}

// isComplete reports whether e has a known kind and the field of that kind.
func isComplete(e Event) bool {
	switch e.Kind {
	case Text, TextDelta, Thinking, ThinkingDelta:
		return true
	case SessionStarted:
		return e.Session != nil
	case ToolStarted, ToolFinished:
		return e.Tool != nil
	case PermissionDenied:
		return e.Denial != nil
	case RetryScheduled:
		return e.Retry != nil
	case UsageReported:
		return e.Usage != nil
	case HookRan:
		return e.Hook != nil
	case ControlSent:
		return e.Control != nil
	case NoticeGiven:
		return e.Notice != nil
	case ProcessExited:
		return e.Exit != nil
	case ResultGiven:
		return e.Result != nil
	case MessageShown:
		return e.Shown != nil
	case ResponseFolded:
		return e.Response != nil
	}
	return false
}
