package model

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// chat is Chat Completions, of OpenAI and compatible servers.
type chat struct {
	c      *Client
	conn   connector.Connector
	params chatRequest
}

func newChat(c *Client, req Request, system []string, said []saying, tools []function, limit int64) *chat {
	d := &chat{c: c, conn: req.Connector, params: chatRequest{
		Model: req.Connector.Model, Temperature: req.Temperature, TopP: req.TopP, ReasoningEffort: req.Reasoning.Effort,
		Stream: true, StreamOptions: &chatStreamOptions{IncludeUsage: true},
	}}
	if t := req.Reasoning.Thinking; t != nil {
		d.params.Thinking = &chatThinking{Type: t.Type}
	}
	switch {
	case limit <= 0:
	case hasCompletionTokens(req.Connector):
		d.params.MaxCompletionTokens = limit
	default:
		d.params.MaxTokens = limit
	}
	if len(system) > 0 { // in one message, because the templates of some models take only one
		d.params.Messages = append(d.params.Messages, chatMessage{Role: "system", Content: strings.Join(system, "\n\n")})
	}
	for _, s := range said {
		d.params.Messages = append(d.params.Messages, chatMessageOf(s))
	}
	for _, f := range tools {
		d.params.Tools = append(d.params.Tools, chatTool{
			Type: "function", Function: chatFunction{Name: f.name, Description: f.description, Parameters: f.schema},
		})
	}
	return d
}

// hasCompletionTokens reports whether max_tokens has its newer name: OpenAI's own models refuse the old name, and few
// other servers know the new one.
func hasCompletionTokens(c connector.Connector) bool {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") || isReasoner(c.Model)
}

var reasoners = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(openai/)?(o[1-9]\b|gpt-([5-9]|[1-9]\d)|codex)`)
})

// isReasoner reports whether a model is one of OpenAI's that think before they answer.
func isReasoner(model string) bool { return reasoners().MatchString(model) }

func chatMessageOf(s saying) chatMessage {
	role, content := contentOf(s, func(p piece) chatPart {
		switch p.media {
		case "":
			return chatPart{Type: "text", Text: p.text}
		case pdf:
			return chatPart{Type: "file", File: &chatFileInput{Name: p.name, Data: p.dataURL()}}
		}
		return chatPart{Type: "image_url", ImageURL: &chatImageURL{URL: p.dataURL()}}
	})
	return chatMessage{Role: role, Content: content}
}

func (d *chat) body() ([]byte, error) { return json.Marshal(d.params) }

func (d *chat) send(ctx context.Context, body []byte, key string) (*http.Response, error) {
	return d.c.post(ctx, d.conn, "chat/completions", body, openAIHeaders(key))
}

// read implements dialect.
func (d *chat) read(f frame, a *answer) *fault {
	if f.name == "error" {
		return streamFault(f.data, a)
	}
	var c chatChunk
	if !decode(f.data, &c) {
		return garbage(f.data)
	}
	if raw := string(c.Error); raw != "" && raw != "null" {
		return streamFault(f.data, a)
	}
	a.begun = true
	a.identify(string(c.ID))
	for _, choice := range c.Choices {
		if choice.Index == 0 {
			d.delta(choice, a)
		}
	}
	if u := c.Usage; u != nil && u.PromptTokens+u.CompletionTokens > 0 {
		cached := max(u.PromptTokensDetails.CachedTokens, u.PromptCacheHitTokens)
		a.usage = tokens(int64(u.PromptTokens), int64(cached), 0, int64(u.CompletionTokens), int64(u.CompletionTokensDetails.ReasoningTokens))
		a.toldIn, a.toldOut = true, true
	}
	return nil
}

func (d *chat) delta(choice chatChoice, a *answer) {
	delta := choice.Delta
	for _, thinking := range []struct {
		field string
		raw   json.RawMessage
	}{{"reasoning_content", delta.ReasoningContent}, {"reasoning", delta.Reasoning}} {
		var s string
		if json.Unmarshal(thinking.raw, &s) == nil && s != "" {
			a.add(thought, s).field = thinking.field
			break // some servers send both, with the same text
		}
	}
	a.add(speech, string(delta.Content))
	if delta.Refusal != "" {
		a.refusal = clip(a.refusal+string(delta.Refusal), maxFault)
	}
	for _, t := range delta.ToolCalls {
		// Gemini gives each of parallel calls the index 0.
		key, id := strconv.FormatInt(int64(t.Index), 10), string(t.ID)
		if last := a.calls[key]; last != nil && id != "" && last.id != "" && last.id != id {
			delete(a.calls, key)
			a.calls[key+" "+last.id] = last
		}
		u := a.use(key)
		if id != "" {
			u.id = clip(id, 256)
		}
		if u.name == "" {
			u.name = clip(string(t.Function.Name), 256)
		}
		a.appendArguments(u, string(t.Function.Arguments))
	}
	a.stop(string(choice.FinishReason))
	if a.refusal != "" && a.end == stopped {
		a.end, a.reason = refused, "refusal"
	}
}

// extend implements dialect.
func (d *chat) extend(a *answer, results []result) {
	m := chatMessage{Role: "assistant"}
	var text strings.Builder
	for _, b := range a.blocks {
		switch b.kind {
		case speech:
			text.WriteString(b.text.String())
		case thought: // models that think between tool calls need it back
			if b.field == "reasoning" {
				m.Reasoning += b.text.String()
			} else {
				m.ReasoningContent += b.text.String()
			}
		case call:
			arguments, _ := argumentsOf(b)
			m.ToolCalls = append(m.ToolCalls, chatCall{
				ID: b.id, Type: "function", Function: chatCallFunction{Name: b.name, Arguments: string(arguments)},
			})
		case redacted:
		}
	}
	if text.Len() > 0 {
		m.Content = text.String()
	}
	d.params.Messages = append(d.params.Messages, m)
	for _, r := range results {
		d.params.Messages = append(d.params.Messages, chatMessage{Role: "tool", Content: r.output(), ToolCallID: r.id})
	}
}

// adapt leaves out stream_options for a server that refuses it.
func (d *chat) adapt(status int64, text string) bool {
	refused := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	if !refused || !strings.Contains(text, "stream_options") || d.params.StreamOptions == nil {
		return false
	}
	d.params.StreamOptions = nil
	return true
}
