package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
)

// talk answers the requests of Claude Code to its host.
type talk struct {
	servers map[string]executor.Server
	allow   bool   // the host grants its permission requests
	mode    string // its permission mode

	mu    sync.Mutex
	calls map[string]context.CancelFunc // of its servers, by request
}

// control implements the Control of [executor.Program].
func (t *talk) control(ctx context.Context, s *executor.Session, c *event.Control) {
	switch c.Subtype {
	case "can_use_tool":
		answer(s, c.ID, t.permit(c.Body))
	case "mcp_message":
		t.serve(ctx, s, c)
	case "cancel":
		t.mu.Lock()
		cancel := t.calls[c.ID]
		t.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	default:
		refuse(s, c.ID, fmt.Sprintf("the host knows no %.64q", c.Subtype))
	}
}

// permit decides on the use of a tool. The protocol requires the input in an approval; it stays
// unchanged.
func (t *talk) permit(body json.RawMessage) any {
	type decision struct {
		Behavior string          `json:"behavior"`
		Message  string          `json:"message,omitempty"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
	}
	var r struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return decision{Behavior: "deny", Message: "the request is malformed"}
	}
	switch {
	case r.Tool == "AskUserQuestion":
		return decision{Behavior: "deny", Message: "No user can answer. Decide yourself, and say what you assumed."}
	case r.Tool == "ExitPlanMode":
		return decision{Behavior: "deny", Message: "The plan is all that was asked for. Answer with it, and stop."}
	case !t.allow:
		return decision{Behavior: "deny", Message: "Not permitted: the permission mode is " + t.mode + " and no user can be asked."}
	}
	return decision{Behavior: "allow", Input: r.Input}
}

// serve passes a message to one of the servers, and returns its answer.
func (t *talk) serve(ctx context.Context, s *executor.Session, c *event.Control) {
	var r struct {
		Server  string          `json:"server_name"`
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(c.Body, &r); err != nil {
		refuse(s, c.ID, "the request is malformed")
		return
	}
	server, ok := t.servers[r.Server]
	if !ok {
		refuse(s, c.ID, fmt.Sprintf("unknown server %.64q", r.Server))
		return
	}
	call, cancel := context.WithCancel(ctx)
	t.mu.Lock()
	if t.calls == nil {
		t.calls = map[string]context.CancelFunc{}
	}
	t.calls[c.ID] = cancel
	t.mu.Unlock()
	end := func() {
		t.mu.Lock()
		delete(t.calls, c.ID)
		t.mu.Unlock()
		cancel()
	}
	if !s.Go(ctx, func() {
		defer end()
		reply, err := server.Handle(call, r.Message)
		if err != nil {
			refuse(s, c.ID, err.Error())
			return
		}
		if reply == nil { // a notification; the CLI requires an answer to it too
			reply = json.RawMessage(`{"jsonrpc":"2.0","id":0,"result":{}}`)
		}
		answer(s, c.ID, map[string]json.RawMessage{"mcp_response": reply})
	}) {
		end()
	}
}

// response is the line of an answer.
type response struct {
	Type     string `json:"type"`
	Response struct {
		Subtype  string `json:"subtype"`
		ID       string `json:"request_id"`
		Response any    `json:"response,omitempty"`
		Error    string `json:"error,omitempty"`
	} `json:"response"`
}

func answer(s *executor.Session, id string, body any) {
	var r response
	r.Type, r.Response.Subtype, r.Response.ID, r.Response.Response = "control_response", "success", id, body
	line, err := json.Marshal(r)
	if err != nil { // the server's answer is not JSON
		refuse(s, id, "the answer is malformed")
		return
	}
	s.Send(line)
}

func refuse(s *executor.Session, id, why string) {
	var r response
	r.Type, r.Response.Subtype, r.Response.ID, r.Response.Error = "control_response", "error", id, why
	line, _ := json.Marshal(r) // strings always marshal
	s.Send(line)
}
