package model

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/message"
)

// messages is Anthropic's Messages. It marks the parts that each turn repeats for the server's cache: the tools, the system
// prompt, and the chat up to its newest message. A turn pays in full only for new messages.
type messages struct {
	c      *Client
	conn   connector.Connector
	params messagesRequest
}

func newMessages(c *Client, req Request, system []string, said []saying, tools []function, limit int64) *messages {
	d := &messages{c: c, conn: req.Connector, params: messagesRequest{
		Model: req.Connector.Model, MaxTokens: limit, Temperature: req.Temperature, TopP: req.TopP,
		Thinking: thinkingParam(req.Reasoning.Thinking), Stream: true,
	}}
	for _, text := range system {
		d.params.System = append(d.params.System, textBlock(text))
	}
	if n := len(system); n > 0 {
		d.params.System[n-1].CacheControl = &ephemeral
	}
	for _, f := range tools {
		d.params.Tools = append(d.params.Tools, messagesTool{Name: f.name, Description: f.description, InputSchema: f.schema})
	}
	if n := len(tools); n > 0 {
		d.params.Tools[n-1].CacheControl = &ephemeral
	}
	for _, s := range said {
		d.params.Messages = append(d.params.Messages, messagesMessageOf(s))
	}
	d.mark(true)
	return d
}

// thinkingParam returns the thinking option. Adaptive thinking asks for a summary, which models leave out otherwise.
func thinkingParam(t *connector.Thinking) *messagesThinking {
	switch {
	case t == nil:
		return nil
	case t.Type == "enabled":
		return &messagesThinking{Type: "enabled", BudgetTokens: t.BudgetTokens}
	case t.Type == "adaptive":
		return &messagesThinking{Type: "adaptive", Display: "summarized"}
	}
	return &messagesThinking{Type: "disabled"}
}

// maxTokensOf returns the default limit on the tokens of an answer: the API requires one, and refuses one above the
// model's own.
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

func messagesMessageOf(s saying) messagesMessage {
	m := messagesMessage{Role: "user"}
	if s.role == message.Assistant {
		m.Role = "assistant"
	}
	for _, p := range s.pieces {
		source := &messagesSource{Type: "base64", MediaType: p.media, Data: p.data}
		switch p.media {
		case "":
			m.Content = append(m.Content, textBlock(p.text))
		case pdf:
			m.Content = append(m.Content, messagesBlock{Type: "document", Title: p.name, Source: source})
		default:
			m.Content = append(m.Content, messagesBlock{Type: "image", Source: source})
		}
	}
	return m
}

// mark marks the newest message for the cache, or takes the mark away: a request may have few of them. The API takes
// no mark on thinking.
func (d *messages) mark(on bool) {
	if len(d.params.Messages) == 0 {
		return
	}
	blocks := d.params.Messages[len(d.params.Messages)-1].Content
	if len(blocks) == 0 {
		return
	}
	last := &blocks[len(blocks)-1]
	last.CacheControl = nil
	if on && last.Type != "thinking" && last.Type != "redacted_thinking" {
		last.CacheControl = &ephemeral
	}
}

func (d *messages) body() ([]byte, error) { return json.Marshal(d.params) }

func (d *messages) send(ctx context.Context, body []byte, key string) (*http.Response, error) {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if key != "" {
		header.Set("X-Api-Key", key)
	}
	path := "v1/messages"
	if strings.HasSuffix(d.conn.BaseURL, "/v1") { // some write it with the version, and some without
		path = "messages"
	}
	return d.c.post(ctx, d.conn, path, body, header)
}

// read implements dialect.
func (d *messages) read(f frame, a *answer) *fault {
	var e messagesEvent
	if !decode(f.data, &e) {
		return garbage(f.data)
	}
	switch e.Type {
	case "error":
		return streamFault(f.data, a)
	case "ping":
	case "message_start":
		a.begun = true
		a.identify(string(e.Message.ID))
		a.usage = a.usage.Most(e.Message.Usage.tokens())
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
		a.skip(string(e.Type))
	}
	return nil
}

func (d *messages) start(e messagesEvent, a *answer) {
	a.close()
	b := e.ContentBlock
	switch b.Type {
	case "text":
		a.add(speech, string(b.Text))
	case "thinking":
		a.open = a.begin(thought) // also without text: its signature goes back
		a.open.sign = string(b.Signature)
		a.add(thought, string(b.Thinking))
	case "redacted_thinking":
		a.begin(redacted).sign = string(b.Data)
		a.sealed += int64(len(b.Data))
	case "tool_use":
		u := a.use(strconv.FormatInt(int64(e.Index), 10))
		u.id, u.name = clip(string(b.ID), 256), clip(string(b.Name), 256)
		// Some servers send all arguments at the start.
		if raw := string(b.Input); raw != "" && raw != "null" && raw != "{}" {
			a.appendArguments(u, raw)
		}
	default:
		a.skip(string(b.Type))
	}
}

func (d *messages) delta(e messagesEvent, a *answer) {
	switch e.Delta.Type {
	case "text_delta":
		a.add(speech, string(e.Delta.Text))
	case "thinking_delta":
		a.add(thought, string(e.Delta.Thinking))
	case "signature_delta":
		if a.open != nil && a.open.kind == thought {
			a.open.sign += string(e.Delta.Signature)
			a.sealed += int64(len(e.Delta.Signature))
		}
	case "input_json_delta":
		if u := a.calls[strconv.FormatInt(int64(e.Index), 10)]; u != nil {
			a.appendArguments(u, string(e.Delta.PartialJSON))
		}
	default:
		a.skip(string(e.Delta.Type))
	}
}

// end reads the end of the message. Its counts are those of the whole message.
func (d *messages) end(e messagesEvent, a *answer) {
	if e.Usage != nil {
		a.usage = a.usage.Most(e.Usage.tokens())
		a.toldIn, a.toldOut = a.usage.Prompt() > 0, a.usage.Output > 0
	}
	a.stop(string(e.Delta.StopReason))
	if text := e.Delta.StopDetails.Explanation; text != "" {
		a.refusal = clip(string(text), maxFault)
	}
}

// extend implements dialect.
func (d *messages) extend(a *answer, results []result) {
	d.mark(false)
	var blocks, back []messagesBlock
	for _, b := range a.blocks {
		switch b.kind {
		case speech:
			if strings.TrimSpace(b.text.String()) != "" {
				blocks = append(blocks, textBlock(b.text.String()))
			}
		case thought:
			if b.sign != "" {
				blocks = append(blocks, thinkingBlock(b.sign, b.text.String()))
			}
		case redacted:
			blocks = append(blocks, redactedBlock(b.sign))
		case call:
			arguments, _ := argumentsOf(b)
			blocks = append(blocks, toolUseBlock(b.id, b.name, arguments))
		}
	}
	for _, r := range results {
		back = append(back, toolResultBlock(r))
	}
	if len(blocks) > 0 {
		d.params.Messages = append(d.params.Messages, messagesMessage{Role: "assistant", Content: blocks})
	}
	if len(back) > 0 {
		d.params.Messages = append(d.params.Messages, messagesMessage{Role: "user", Content: back})
	}
	d.mark(true)
}

// adapt leaves out display for a server that refuses it.
func (d *messages) adapt(status int64, text string) bool {
	thinking := d.params.Thinking
	if status != http.StatusBadRequest || !strings.Contains(text, "display") || thinking == nil || thinking.Display == "" {
		return false
	}
	thinking.Display = ""
	return true
}
