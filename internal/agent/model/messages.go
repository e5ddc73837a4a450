package model

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/message"
)

// messages is Anthropic's Messages. What comes again with each turn is marked for the server's cache: the tools, the
// system prompt, and the chat up to its newest message, so that a turn pays in full only for what is new.
type messages struct {
	c      *Client
	conn   connector.Connector
	params anthropic.MessageNewParams
}

func newMessages(c *Client, req Request, system []string, said []saying, tools []function, limit int64) *messages {
	d := &messages{c: c, conn: req.Connector}
	d.params.Model, d.params.MaxTokens = req.Connector.Model, limit
	d.params.SetExtraFields(map[string]any{"stream": true})
	if req.Temperature != nil {
		d.params.Temperature = anthropic.Float(*req.Temperature)
	}
	if req.TopP != nil {
		d.params.TopP = anthropic.Float(*req.TopP)
	}
	d.params.Thinking = thinkingParam(req.Reasoning.Thinking)
	for _, text := range system {
		d.params.System = append(d.params.System, anthropic.TextBlockParam{Text: text})
	}
	if n := len(system); n > 0 {
		d.params.System[n-1].CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	for i, f := range tools {
		schema := anthropic.ToolInputSchemaParam{Properties: f.schema["properties"], ExtraFields: map[string]any{}}
		for name, value := range f.schema {
			if name != "properties" && name != "type" {
				schema.ExtraFields[name] = value
			}
		}
		t := anthropic.ToolParam{Name: f.name, Description: anthropic.String(f.description), InputSchema: schema}
		if i == len(tools)-1 {
			t.CacheControl = anthropic.NewCacheControlEphemeralParam()
		}
		d.params.Tools = append(d.params.Tools, anthropic.ToolUnionParam{OfTool: &t})
	}
	for _, s := range said {
		d.params.Messages = append(d.params.Messages, anthropicMessage(s))
	}
	d.mark(true)
	return d
}

// thinkingParam asks for thinking, in words that can be read where models would leave those out by themselves.
func thinkingParam(t *connector.Thinking) anthropic.ThinkingConfigParamUnion {
	switch {
	case t == nil:
		return anthropic.ThinkingConfigParamUnion{}
	case t.Type == "enabled":
		return anthropic.ThinkingConfigParamOfEnabled(t.BudgetTokens)
	case t.Type == "adaptive":
		return anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized}}
	}
	off := anthropic.NewThinkingConfigDisabledParam()
	return anthropic.ThinkingConfigParamUnion{OfDisabled: &off}
}

// maxTokensOf is how many tokens an answer of a model may have when nobody says it: the API demands a number, and
// refuses one that is above the model's own.
func maxTokensOf(model string) int64 {
	for _, of := range []struct {
		part string
		most int64
	}{
		{"claude-3-7", 64000},
		{"claude-3-5", 8192},
		{"claude-3", 4096},
		{"claude-2", 4096},
		{"claude-opus-4-0", 32000},
		{"claude-opus-4-1", 32000},
		{"claude-opus-4-2025", 32000},
		{"claude-", 64000},
	} {
		if strings.Contains(model, of.part) {
			return of.most
		}
	}
	return 8192
}

func anthropicMessage(s saying) anthropic.MessageParam {
	var blocks []anthropic.ContentBlockParamUnion
	for _, p := range s.pieces {
		switch p.media {
		case "":
			blocks = append(blocks, anthropic.NewTextBlock(p.text))
		case pdf:
			b := anthropic.NewDocumentBlock(anthropic.Base64PDFSourceParam{Data: p.data})
			b.OfDocument.Title = anthropic.String(p.name)
			blocks = append(blocks, b)
		default:
			blocks = append(blocks, anthropic.NewImageBlockBase64(p.media, p.data))
		}
	}
	if s.role == message.Assistant {
		return anthropic.NewAssistantMessage(blocks...)
	}
	return anthropic.NewUserMessage(blocks...)
}

// mark marks the newest message for the cache, or takes the mark away: a request may have few of them.
func (d *messages) mark(on bool) {
	if len(d.params.Messages) == 0 {
		return
	}
	blocks := d.params.Messages[len(d.params.Messages)-1].Content
	if len(blocks) == 0 {
		return
	}
	if at := blocks[len(blocks)-1].GetCacheControl(); at != nil {
		*at = anthropic.CacheControlEphemeralParam{}
		if on {
			*at = anthropic.NewCacheControlEphemeralParam()
		}
	}
}

func (d *messages) body() ([]byte, error) { return json.Marshal(d.params) }

func (d *messages) send(ctx context.Context, body []byte, key string) (*http.Response, error) {
	opts := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(d.conn.BaseURL, "/v1")), // the SDK has the version in its path
		option.WithHTTPClient(door{d.c, d.conn}), option.WithMaxRetries(0), option.WithHeader("Accept", "text/event-stream"),
	}
	if key != "" {
		opts = append(opts, option.WithHeader("X-Api-Key", key))
	}
	for name, value := range d.conn.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	var res *http.Response
	err := d.c.anthropic.Post(ctx, "v1/messages", body, &res, opts...)
	return res, err
}

// read implements dialect.
func (d *messages) read(f frame, a *answer) *fault {
	var e anthropic.MessageStreamEventUnion
	if err := json.Unmarshal(f.data, &e); err != nil {
		return garbage(f.data)
	}
	switch e.Type {
	case "error":
		return streamFault(f.data, a)
	case "ping":
	case "message_start":
		a.begun = true
		a.identify(e.Message.ID)
		u := e.Message.Usage
		a.usage = a.usage.Most(tokens(
			u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens,
			u.OutputTokens, u.OutputTokensDetails.ThinkingTokens))
		a.toldIn = a.usage.Prompt() > 0
	case "content_block_start":
		a.begun = true
		d.start(e, a)
	case "content_block_delta":
		a.begun = true
		d.delta(e, a)
	case "content_block_stop":
		a.close()
	case "message_delta":
		a.begun = true
		d.end(e, a)
	case "message_stop":
	default:
		a.skip(e.Type)
	}
	return nil
}

func (d *messages) start(e anthropic.MessageStreamEventUnion, a *answer) {
	a.close()
	b := e.ContentBlock
	switch b.Type {
	case "text":
		a.add(speech, b.Text)
	case "thinking":
		a.open = a.begin(thought) // also one without text: its signature goes back
		a.open.sign = b.Signature
		a.add(thought, b.Thinking)
	case "redacted_thinking":
		a.begin(redacted).sign = b.Data
		a.sealed += int64(len(b.Data))
	case "tool_use":
		u := a.use(strconv.FormatInt(e.Index, 10))
		u.id, u.name = clip(b.ID, 256), clip(b.Name, 256)
		// Some servers have all of the arguments at the start.
		if raw := b.JSON.Input.Raw(); raw != "" && raw != "null" && raw != "{}" {
			a.argue(u, raw)
		}
	default:
		a.skip(b.Type)
	}
}

func (d *messages) delta(e anthropic.MessageStreamEventUnion, a *answer) {
	switch e.Delta.Type {
	case "text_delta":
		a.add(speech, e.Delta.Text)
	case "thinking_delta":
		a.add(thought, e.Delta.Thinking)
	case "signature_delta":
		if a.open != nil && a.open.kind == thought {
			a.open.sign += e.Delta.Signature
			a.sealed += int64(len(e.Delta.Signature))
		}
	case "input_json_delta":
		if u := a.calls[strconv.FormatInt(e.Index, 10)]; u != nil {
			a.argue(u, e.Delta.PartialJSON)
		}
	default:
		a.skip(e.Delta.Type)
	}
}

// end takes the message's end. Its counts are those of the whole message.
func (d *messages) end(e anthropic.MessageStreamEventUnion, a *answer) {
	if e.JSON.Usage.Valid() {
		u := e.Usage
		a.usage = a.usage.Most(tokens(
			u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens,
			u.OutputTokens, u.OutputTokensDetails.ThinkingTokens))
		a.toldIn, a.toldOut = a.usage.Prompt() > 0, a.usage.Output > 0
	}
	a.stop(string(e.Delta.StopReason))
	if text := e.Delta.StopDetails.Explanation; text != "" {
		a.refusal = clip(text, maxFault)
	}
}

// extend implements dialect.
func (d *messages) extend(a *answer, results []result) {
	d.mark(false)
	var blocks, back []anthropic.ContentBlockParamUnion
	for _, b := range a.blocks {
		switch b.kind {
		case speech:
			if strings.TrimSpace(b.text.String()) != "" {
				blocks = append(blocks, anthropic.NewTextBlock(b.text.String()))
			}
		case thought:
			if b.sign != "" {
				blocks = append(blocks, anthropic.NewThinkingBlock(b.sign, b.text.String()))
			}
		case redacted:
			blocks = append(blocks, anthropic.NewRedactedThinkingBlock(b.sign))
		case call:
			arguments, _ := argumentsOf(b)
			blocks = append(blocks, anthropic.NewToolUseBlock(b.id, arguments, b.name))
		}
	}
	for _, r := range results {
		back = append(back, anthropic.NewToolResultBlock(r.id, r.text, r.failed))
	}
	if len(blocks) > 0 {
		d.params.Messages = append(d.params.Messages, anthropic.NewAssistantMessage(blocks...))
	}
	if len(back) > 0 {
		d.params.Messages = append(d.params.Messages, anthropic.NewUserMessage(back...))
	}
	d.mark(true)
}

// relent leaves out how thinking is shown where a server does not know that.
func (d *messages) relent(status int64, text string) bool {
	adaptive := d.params.Thinking.OfAdaptive
	if status != http.StatusBadRequest || !strings.Contains(text, "display") || adaptive == nil || adaptive.Display == "" {
		return false
	}
	adaptive.Display = ""
	return true
}
