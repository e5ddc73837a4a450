package model

import (
	"encoding/json"
	"errors"
	"net/http"
)

// responses answers a request of OpenAI's Responses API.
func (s *Server) responses(w http.ResponseWriter, body []byte) error {
	var req struct {
		Stream bool
		Input  []struct {
			Type   string
			CallID string          `json:"call_id"`
			Output json.RawMessage // a string, or parts with a text
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if !req.Stream {
		return errors.New("a request without a stream")
	}
	results := map[string]Result{}
	for _, item := range req.Input {
		if item.Type == "function_call_output" {
			results[item.CallID] = Result{Text: plain(item.Output)}
		}
	}
	turn, err := s.next(results)
	if err == nil {
		streamResponse(w, turn)
	}
	return err
}

// streamResponse answers with one turn as server-sent events, the way the API does.
func streamResponse(w http.ResponseWriter, t Turn) {
	w.Header().Set("Content-Type", "text/event-stream")
	id := "resp_" + t.ID
	item := map[string]any{
		"type": "message", "id": "msg_" + t.ID, "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": t.Text, "annotations": []any{}}},
	}
	if t.Tool != "" {
		item = map[string]any{
			"type": "function_call", "id": "fc_" + t.ID, "call_id": t.ID, "name": t.Tool, "arguments": text(t.Input), "status": "completed",
		}
		if t.Space != "" {
			item["namespace"] = t.Space
		}
	}
	event(w, "response.created", map[string]any{"response": map[string]any{"id": id}})
	event(w, "response.output_item.done", map[string]any{"output_index": 0, "item": item})
	event(w, "response.completed", map[string]any{"response": map[string]any{"id": id, "usage": map[string]any{
		"input_tokens": 100, "input_tokens_details": map[string]any{"cached_tokens": 0},
		"output_tokens": 20, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 120,
	}}})
}
