package model

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/message"
)

// response is OpenAI's Responses. Nothing is stored at the server: each request has the whole chat.
type response struct {
	c      *Client
	conn   connector.Connector
	params responses.ResponseNewParams
	kept   []json.RawMessage // of the answer that is read: its reasoning, which goes back as it is
}

func newResponse(c *Client, req Request, system []string, said []saying, tools []function, limit int64) *response {
	d := &response{c: c, conn: req.Connector}
	d.params.Model, d.params.Store = req.Connector.Model, openai.Bool(false)
	d.params.SetExtraFields(map[string]any{"stream": true})
	if req.Temperature != nil {
		d.params.Temperature = openai.Float(*req.Temperature)
	}
	if req.TopP != nil {
		d.params.TopP = openai.Float(*req.TopP)
	}
	if limit > 0 {
		d.params.MaxOutputTokens = openai.Int(limit)
	}
	if len(system) > 0 {
		d.params.Instructions = openai.String(strings.Join(system, "\n\n"))
	}
	effort := req.Reasoning.Effort
	if effort != "" {
		d.params.Reasoning.Effort = shared.ReasoningEffort(effort)
		if effort != "none" {
			d.params.Reasoning.Summary = shared.ReasoningSummaryAuto
		}
	}
	if reasons(req.Connector.Model) || effort != "" && effort != "none" { // others refuse it
		d.params.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	for _, s := range said {
		d.say(responseMessage(s))
	}
	for _, f := range tools {
		t := responses.ToolParamOfFunction(f.name, f.schema, false)
		t.OfFunction.Description = openai.String(f.description)
		d.params.Tools = append(d.params.Tools, t)
	}
	return d
}

func (d *response) say(item responses.ResponseInputItemUnionParam) {
	d.params.Input.OfInputItemList = append(d.params.Input.OfInputItemList, item)
}

func responseMessage(s saying) responses.ResponseInputItemUnionParam {
	text, plain := s.plain()
	if s.role == message.Assistant {
		return responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleAssistant)
	}
	if plain {
		return responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser)
	}
	var parts responses.ResponseInputMessageContentListParam
	for _, p := range s.pieces {
		switch p.media {
		case "":
			parts = append(parts, responses.ResponseInputContentParamOfInputText(p.text))
		case pdf:
			parts = append(parts, responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{
				Filename: openai.String(p.name), FileData: openai.String(p.dataURL()),
			}})
		default:
			image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
			image.OfInputImage.ImageURL = openai.String(p.dataURL())
			parts = append(parts, image)
		}
	}
	return responses.ResponseInputItemParamOfMessage(parts, responses.EasyInputMessageRoleUser)
}

func (d *response) body() ([]byte, error) { return json.Marshal(d.params) }

func (d *response) send(ctx context.Context, body []byte, key string) (*http.Response, error) {
	d.kept = nil
	return d.c.openAI(ctx, d.conn, "responses", body, key)
}

// read implements dialect.
func (d *response) read(f frame, a *answer) *fault {
	var e responses.ResponseStreamEventUnion
	if err := json.Unmarshal(f.data, &e); err != nil {
		return garbage(f.data)
	}
	switch e.Type {
	case "error", "":
		return streamFault(f.data, a)
	case "response.created":
		a.begun = true
		a.identify(e.Response.ID)
	case "response.output_text.delta":
		a.begun = true
		a.add(speech, e.Delta)
	case "response.refusal.delta":
		a.begun = true
		a.refusal = clip(a.refusal+e.Delta, maxFault)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.begun = true
		a.add(thought, e.Delta)
	case "response.output_text.done", "response.reasoning_summary_text.done", "response.reasoning_text.done":
		a.close()
	case "response.output_item.added", "response.output_item.done":
		a.begun = true
		d.item(e, a)
	case "response.function_call_arguments.delta":
		a.argue(a.use(clip(e.ItemID, 256)), e.Delta)
	case "response.completed", "response.incomplete", "response.failed":
		a.begun = true
		return d.end(e, a)
	case "response.queued", "response.in_progress", "response.content_part.added", "response.content_part.done", "response.refusal.done",
		"response.reasoning_summary_part.added", "response.reasoning_summary_part.done", "response.function_call_arguments.done",
		"response.output_text.annotation.added":
	default:
		a.skip(e.Type)
	}
	return nil
}

func (d *response) item(e responses.ResponseStreamEventUnion, a *answer) {
	done := e.Type == "response.output_item.done"
	switch e.Item.Type {
	case "function_call":
		u := a.use(clip(e.Item.ID, 256))
		u.id, u.name = clip(e.Item.CallID, 256), clip(e.Item.Name, 256)
		if whole := e.Item.Arguments.OfString; done && whole != "" && u.text.Len() == 0 {
			a.argue(u, whole) // of servers that send no deltas
		}
	case "reasoning":
		if a.close(); done && e.Item.EncryptedContent != "" {
			d.kept = append(d.kept, json.RawMessage(e.Item.RawJSON()))
			a.begin(redacted)
			a.sealed += int64(len(e.Item.RawJSON()))
		}
	case "message":
		a.close()
	default:
		a.skip(e.Item.Type)
	}
}

// end takes the end of a response, which has its usage.
func (d *response) end(e responses.ResponseStreamEventUnion, a *answer) *fault {
	if r := e.Response; r.JSON.Usage.Valid() && r.Usage.InputTokens+r.Usage.OutputTokens > 0 {
		in := r.Usage.InputTokensDetails
		a.usage = tokens(r.Usage.InputTokens, in.CachedTokens, in.CacheWriteTokens, r.Usage.OutputTokens, r.Usage.OutputTokensDetails.ReasoningTokens)
		a.toldIn, a.toldOut = true, true
	}
	switch e.Type {
	case "response.failed":
		return streamFault([]byte(e.Response.RawJSON()), a)
	case "response.incomplete":
		if reason := e.Response.IncompleteDetails.Reason; reason != "" {
			a.stop(reason)
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
			d.say(responses.ResponseInputItemParamOfMessage(b.text.String(), responses.EasyInputMessageRoleAssistant))
		case redacted:
			d.say(param.Override[responses.ResponseInputItemUnionParam](d.kept[0]))
			d.kept = d.kept[1:]
		case call:
			arguments, _ := argumentsOf(b)
			d.say(responses.ResponseInputItemParamOfFunctionCall(string(arguments), b.id, b.name))
		case thought: // it is a summary of what is kept
		}
	}
	for _, r := range results {
		item := responses.ResponseInputItemParamOfFunctionCallOutput(r.output())
		item.OfFunctionCallOutput.CallID = openai.String(r.id)
		d.say(item)
	}
}

// relent does without a summary of the reasoning, which OpenAI gives to organizations only that it has verified.
func (d *response) relent(status int64, text string) bool {
	if status != http.StatusBadRequest || !strings.Contains(text, "summar") || d.params.Reasoning.Summary == "" {
		return false
	}
	d.params.Reasoning.Summary = ""
	return true
}
