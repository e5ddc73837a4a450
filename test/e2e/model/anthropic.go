package model

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// request is the part of a request of the Messages API that a script needs.
type request struct {
	Model    string
	Stream   bool
	Tools    []json.RawMessage
	Messages []struct{ Content json.RawMessage } // a string, or blocks
}

type block struct {
	Type      string
	Text      string
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage // of a tool result: a string, or blocks
}

func blocks(raw json.RawMessage) []block {
	var list []block
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	return nil
}

// plain returns the text of a string or of blocks.
func plain(raw json.RawMessage) string {
	var all strings.Builder
	for _, part := range blocks(raw) {
		all.WriteString(part.Text)
	}
	return all.String()
}

// messages answers a request of Anthropic's Messages API.
func (s *Server) messages(w http.ResponseWriter, body []byte) error {
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if !req.Stream {
		return errors.New("a request without a stream")
	}
	if len(req.Tools) == 0 {
		// A side question (a title, a summary) is not a turn of the script.
		streamMessage(w, req.Model, Turn{Text: "ok"})
		return nil
	}
	results := map[string]Result{}
	for _, msg := range req.Messages {
		for _, b := range blocks(msg.Content) {
			if b.Type == "tool_result" {
				results[b.ToolUseID] = Result{Text: plain(b.Content), IsError: b.IsError}
			}
		}
	}
	turn, err := s.next(results)
	if err == nil {
		streamMessage(w, req.Model, turn)
	}
	return err
}

// streamMessage answers with one turn as server-sent events, the way the API does.
func streamMessage(w http.ResponseWriter, name string, t Turn) {
	w.Header().Set("Content-Type", "text/event-stream")
	content, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": t.Text}, "end_turn"
	if t.Tool != "" {
		content = map[string]any{"type": "tool_use", "id": t.ID, "name": t.Tool, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": text(t.Input)}
		stop = "tool_use"
	}
	usage := map[string]any{"input_tokens": 100, "output_tokens": 1}
	event(w, "message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + t.ID, "type": "message", "role": "assistant", "model": name,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	at := 0
	block := func(content map[string]any, deltas ...map[string]any) {
		event(w, "content_block_start", map[string]any{"index": at, "content_block": content})
		for _, d := range deltas {
			event(w, "content_block_delta", map[string]any{"index": at, "delta": d})
		}
		event(w, "content_block_stop", map[string]any{"index": at})
		at++
	}
	if t.Thinking != "" {
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": t.Thinking}, map[string]any{"type": "signature_delta", "signature": "signed-" + t.ID})
	}
	block(content, delta)
	event(w, "message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": 20},
	})
	event(w, "message_stop", map[string]any{})
}
