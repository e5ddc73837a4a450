package claude

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

// usage is a usage in the form of the Messages API.
type usage struct {
	Input      float64 `json:"input_tokens"`
	Output     float64 `json:"output_tokens"`
	CacheRead  float64 `json:"cache_read_input_tokens"`
	CacheWrite float64 `json:"cache_creation_input_tokens"`
}

func (u usage) event() event.Usage {
	return event.Usage{
		Input: jsonl.Count(u.Input), Output: jsonl.Count(u.Output),
		CacheRead: jsonl.Count(u.CacheRead), CacheWrite: jsonl.Count(u.CacheWrite),
	}
}

func usageOf(parent, id string, raw json.RawMessage) event.Event {
	var u usage
	_, _ = jsonl.Decode(raw, &u) // an invalid value counts as zero
	counts := u.event()
	return event.Event{Kind: event.UsageReported, Parent: parent, Message: id, Usage: &counts}
}

// partial reads an event of the Messages API. The complete block arrives in a line of its own,
// before the end of the block in these events.
func (d *Decoder) partial(l *line) []event.Event {
	var p struct {
		Type    string  `json:"type"`
		Message message `json:"message"`
		Delta   struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Thinking string `json:"thinking"`
		} `json:"delta"`
		Usage json.RawMessage `json:"usage"`
	}
	if _, err := jsonl.Decode(l.Event, &p); err != nil {
		return []event.Event{event.NewNotice(event.NoticeMalformed, l.Type, "")}
	}
	t := d.of(l.Parent)
	switch p.Type {
	case "message_start":
		*t = thread{message: jsonl.Clip(p.Message.ID, jsonl.Small)}
		return []event.Event{usageOf(l.Parent, t.message, p.Message.Usage)}
	case "message_delta":
		return []event.Event{usageOf(l.Parent, t.message, p.Usage)}
	case "content_block_delta":
		e := event.Event{Parent: l.Parent, Message: t.message}
		switch p.Delta.Type {
		case "text_delta":
			e.Kind, e.Text, t.text = event.TextDelta, p.Delta.Text, true
			return []event.Event{e}
		case "thinking_delta":
			e.Kind, e.Text, t.thinking = event.ThinkingDelta, p.Delta.Thinking, true
			return []event.Event{e}
		}
	}
	return nil
}
