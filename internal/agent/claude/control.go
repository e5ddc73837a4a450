package claude

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/jsonl"
)

// control reads a control message of either direction.
func (d *Decoder) control(l *line, fromHost bool) []event.Event {
	c := &event.Control{FromHost: fromHost, ID: l.RequestID, Subtype: "cancel", Body: l.Request}
	events := []event.Event{{Kind: event.ControlSent, Control: c}}
	switch l.Type {
	case "control_request":
		var r struct {
			Subtype string          `json:"subtype"`
			Tool    string          `json:"tool_name"`
			ID      string          `json:"tool_use_id"`
			Input   json.RawMessage `json:"input"`
		}
		_, _ = jsonl.Decode(l.Request, &r) // Body has the other fields
		c.Subtype = r.Subtype
		if r.Subtype == "can_use_tool" && !fromHost {
			d.ask(l.RequestID, event.Denial{Tool: r.Tool, ToolID: r.ID, Input: r.Input})
		}
	case "control_response":
		var r struct {
			Subtype  string          `json:"subtype"`
			ID       string          `json:"request_id"`
			Response json.RawMessage `json:"response"`
		}
		_, _ = jsonl.Decode(l.Response, &r) // as above
		c.Response, c.ID, c.Subtype, c.Body = true, r.ID, r.Subtype, r.Response
		if fromHost {
			events = append(events, d.answer(r.ID, r.Response)...)
		}
	}
	return events
}

// ask remembers a request to the host until the host answers.
func (d *Decoder) ask(id string, n event.Denial) {
	if len(id)+len(n.Tool)+len(n.ToolID) > jsonl.Small {
		return // no real request has such an ID
	}
	if len(n.Input) > maxInput {
		n.Input = nil
	}
	if d.asked == nil || len(d.asked) >= maxThreads {
		d.asked = map[string]event.Denial{}
	}
	d.asked[id] = n
}

// answer returns the denial of a use that the host denied.
func (d *Decoder) answer(id string, response json.RawMessage) []event.Event {
	n, ok := d.asked[id]
	delete(d.asked, id)
	var r struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message"`
	}
	if _, err := jsonl.Decode(response, &r); err != nil || !ok || r.Behavior != "deny" {
		return nil
	}
	n.Reason = r.Message
	return []event.Event{{Kind: event.PermissionDenied, Denial: &n}}
}

// fromHost reads a message of the host, in a recording of both directions.
func (d *Decoder) fromHost(data []byte) []event.Event {
	var l line
	if _, err := jsonl.Decode(data, &l); err != nil {
		return []event.Event{event.NewNotice(event.NoticeGarbage, "", string(data))}
	}
	switch l.Type {
	case "control_request", "control_response", "control_cancel_request":
		return d.control(&l, true)
	case "user":
		return d.user(&l)
	}
	return []event.Event{event.NewNotice(event.NoticeUnknown, l.Type, "")}
}
