package model

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// response is OpenAI's Responses. The server stores nothing: each request has the whole chat.
type response struct {
	c      *Client
	conn   connector.Connector
	params responseRequest
	sealed []json.RawMessage // the reasoning of the answer that is read, which goes back as it is
}

func newResponse(c *Client, req Request, system []string, said []saying, tools []function, limit int64) *response {
	d := &response{c: c, conn: req.Connector, params: responseRequest{
		Model: req.Connector.Model, Temperature: req.Temperature, TopP: req.TopP, MaxOutputTokens: max(limit, 0),
		Instructions: strings.Join(system, "\n\n"), Stream: true,
	}}
	effort := req.Reasoning.Effort
	if effort != "" {
		d.params.Reasoning = &responseReasoning{Effort: effort}
		if effort != "none" {
			d.params.Reasoning.Summary = "auto"
		}
	}
	if isReasoner(req.Connector.Model) || effort != "" && effort != "none" { // other models refuse it
		d.params.Include = []string{"reasoning.encrypted_content"}
	}
	for _, s := range said {
		d.params.Input = append(d.params.Input, responseMessageOf(s))
	}
	for _, f := range tools {
		d.params.Tools = append(d.params.Tools, responseTool{Type: "function", Name: f.name, Description: f.description, Parameters: f.schema})
	}
	return d
}

func responseMessageOf(s saying) responseMessage {
	role, content := contentOf(s, func(p piece) responsePart {
		switch p.media {
		case "":
			return responsePart{Type: "input_text", Text: p.text}
		case pdf:
			return responsePart{Type: "input_file", Filename: p.name, FileData: p.dataURL()}
		}
		return responsePart{Type: "input_image", Detail: "auto", ImageURL: p.dataURL()}
	})
	return responseMessage{Role: role, Content: content}
}

func (d *response) body() ([]byte, error) { return json.Marshal(d.params) }

func (d *response) send(ctx context.Context, body []byte, key string) (*http.Response, error) {
	d.sealed = nil
	return d.c.post(ctx, d.conn, "responses", body, openAIHeaders(key))
}

// read implements dialect.
func (d *response) read(f frame, a *answer) *fault {
	var e responseEvent
	if !decode(f.data, &e) {
		return garbage(f.data)
	}
	switch e.Type {
	case "error", "":
		return streamFault(f.data, a)
	case "response.created":
		a.begun = true
		a.identify(string(e.state().ID))
	case "response.output_text.delta":
		a.begun = true
		a.add(speech, string(e.Delta))
	case "response.refusal.delta":
		a.begun = true
		a.refusal = clip(a.refusal+string(e.Delta), maxFault)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.begun = true
		a.add(thought, string(e.Delta))
	case "response.output_text.done", "response.reasoning_summary_text.done", "response.reasoning_text.done":
		a.close()
	case "response.output_item.added", "response.output_item.done":
		a.begun = true
		d.item(e, a)
	case "response.function_call_arguments.delta":
		a.appendArguments(a.use(clip(string(e.ItemID), 256)), string(e.Delta))
	case "response.completed", "response.incomplete", "response.failed":
		a.begun = true
		return d.end(e, a)
	case "response.queued", "response.in_progress", "response.content_part.added", "response.content_part.done", "response.refusal.done",
		"response.reasoning_summary_part.added", "response.reasoning_summary_part.done", "response.function_call_arguments.done",
		"response.output_text.annotation.added":
	default:
		a.skip(string(e.Type))
	}
	return nil
}

func (d *response) item(e responseEvent, a *answer) {
	var item responseItem
	decode(e.Item, &item) // without one, its type is not known
	done := e.Type == "response.output_item.done"
	switch item.Type {
	case "function_call":
		u := a.use(clip(string(item.ID), 256))
		u.id, u.name = clip(string(item.CallID), 256), clip(string(item.Name), 256)
		var whole string
		if done && u.text.Len() == 0 && json.Unmarshal(item.Arguments, &whole) == nil {
			a.appendArguments(u, whole) // from a server that sends no deltas
		}
	case "reasoning":
		if a.close(); done && item.EncryptedContent != "" {
			d.sealed = append(d.sealed, e.Item)
			a.begin(redacted)
			a.sealed += int64(len(e.Item))
		}
	case "message":
		a.close()
	default:
		a.skip(string(item.Type))
	}
}

// end takes the end of a response, which has its usage.
func (d *response) end(e responseEvent, a *answer) *fault {
	state := e.state()
	if u := state.Usage; u != nil && u.InputTokens+u.OutputTokens > 0 {
		in := u.InputTokensDetails
		a.usage = tokens(
			int64(u.InputTokens), int64(in.CachedTokens), int64(in.CacheWriteTokens), int64(u.OutputTokens), int64(u.OutputTokensDetails.ReasoningTokens))
		a.toldIn, a.toldOut = true, true
	}
	switch e.Type {
	case "response.failed":
		return streamFault(e.Response, a)
	case "response.incomplete":
		if reason := state.IncompleteDetails.Reason; reason != "" {
			a.stop(string(reason))
		} else {
			a.stop("incomplete")
		}
	default:
		a.stop("completed")
		if a.refusal != "" {
			a.end, a.reason = refused, "refusal"
		}
	}
	return nil
}

// extend implements dialect.
func (d *response) extend(a *answer, results []result) {
	for _, b := range a.blocks {
		switch b.kind {
		case speech:
			d.params.Input = append(d.params.Input, responseMessage{Role: "assistant", Content: b.text.String()})
		case redacted:
			d.params.Input = append(d.params.Input, d.sealed[0])
			d.sealed = d.sealed[1:]
		case call:
			arguments, _ := argumentsOf(b)
			d.params.Input = append(d.params.Input, responseCall{Type: "function_call", CallID: b.id, Name: b.name, Arguments: string(arguments)})
		case thought: // it is a summary of what is sealed
		}
	}
	for _, r := range results {
		d.params.Input = append(d.params.Input, responseOutput{Type: "function_call_output", CallID: r.id, Output: r.output()})
	}
}

// adapt leaves out the summary of the reasoning, which OpenAI gives only to verified organizations.
func (d *response) adapt(status int64, text string) bool {
	if status != http.StatusBadRequest || !strings.Contains(text, "summar") || d.params.Reasoning == nil || d.params.Reasoning.Summary == "" {
		return false
	}
	d.params.Reasoning.Summary = ""
	return true
}
