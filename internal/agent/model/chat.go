package model

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/message"
)

// chat is Chat Completions, of OpenAI and of all who are compatible with it.
type chat struct {
	c      *Client
	conn   connector.Connector
	params openai.ChatCompletionNewParams
}

func newChat(c *Client, req Request, system []string, said []saying, tools []function, limit int64) *chat {
	d := &chat{c: c, conn: req.Connector}
	d.params.Model = req.Connector.Model
	d.params.StreamOptions.IncludeUsage = openai.Bool(true)
	extra := map[string]any{"stream": true}
	if t := req.Reasoning.Thinking; t != nil { // DeepSeek's, GLM's and others' name for it
		extra["thinking"] = map[string]string{"type": t.Type}
	}
	d.params.SetExtraFields(extra)
	d.params.ReasoningEffort = shared.ReasoningEffort(req.Reasoning.Effort)
	if req.TopP != nil {
		d.params.TopP = openai.Float(*req.TopP)
	}
	if req.Temperature != nil {
		d.params.Temperature = openai.Float(*req.Temperature)
	}
	switch {
	case limit <= 0:
	case takesCompletionTokens(req.Connector):
		d.params.MaxCompletionTokens = openai.Int(limit)
	default:
		d.params.MaxTokens = openai.Int(limit)
	}
	if len(system) > 0 { // one, because templates of some models take no more
		d.params.Messages = append(d.params.Messages, openai.SystemMessage(strings.Join(system, "\n\n")))
	}
	for _, s := range said {
		d.params.Messages = append(d.params.Messages, chatMessage(s))
	}
	for _, f := range tools {
		d.params.Tools = append(d.params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: f.name, Description: param.NewOpt(f.description), Parameters: f.schema,
		}))
	}
	return d
}

// takesCompletionTokens reports whether max_tokens has its newer name: OpenAI's own models refuse the old one, and few
// others know the new one.
func takesCompletionTokens(c connector.Connector) bool {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return false
	}
	host := u.Hostname()
	return host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") || reasons(c.Model)
}

var reasoners = regexp.MustCompile(`^(openai/)?(o[1-9]\b|gpt-([5-9]|[1-9]\d)|codex)`)

// reasons reports whether a model is one of OpenAI's that think before they answer.
func reasons(model string) bool { return reasoners.MatchString(model) }

func chatMessage(s saying) openai.ChatCompletionMessageParamUnion {
	text, plain := s.plain()
	if s.role == message.Assistant {
		return openai.AssistantMessage(text)
	}
	if plain {
		return openai.UserMessage(text)
	}
	var parts []openai.ChatCompletionContentPartUnionParam
	for _, p := range s.pieces {
		switch p.media {
		case "":
			parts = append(parts, openai.TextContentPart(p.text))
		case pdf:
			parts = append(parts, openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{
				Filename: openai.String(p.name), FileData: openai.String(p.dataURL()),
			}))
		default:
			parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: p.dataURL()}))
		}
	}
	return openai.UserMessage(parts)
}

func (d *chat) body() ([]byte, error) { return json.Marshal(d.params) }

func (d *chat) send(ctx context.Context, body []byte, key string) (*http.Response, error) {
	return d.c.openAI(ctx, d.conn, "chat/completions", body, key)
}

// openAI posts to one of OpenAI's APIs.
func (c *Client) openAI(ctx context.Context, conn connector.Connector, path string, body []byte, key string) (*http.Response, error) {
	opts := []option.RequestOption{
		option.WithBaseURL(conn.BaseURL), option.WithHTTPClient(door{c, conn}), option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
	}
	if key != "" {
		opts = append(opts, option.WithHeader("Authorization", "Bearer "+key))
	}
	for name, value := range conn.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	var res *http.Response
	err := c.openai.Post(ctx, path, body, &res, opts...)
	return res, err
}

// read implements dialect.
func (d *chat) read(f frame, a *answer) *fault {
	if f.name == "error" {
		return streamFault(f.data, a)
	}
	var c openai.ChatCompletionChunk
	if err := json.Unmarshal(f.data, &c); err != nil {
		return garbage(f.data)
	}
	if raw := c.JSON.ExtraFields["error"].Raw(); raw != "" && raw != "null" {
		return streamFault(f.data, a)
	}
	a.begun = true
	a.identify(c.ID)
	for _, choice := range c.Choices {
		if choice.Index == 0 {
			d.delta(choice, a)
		}
	}
	if c.JSON.Usage.Valid() && c.Usage.PromptTokens+c.Usage.CompletionTokens > 0 {
		u := c.Usage
		cached := u.PromptTokensDetails.CachedTokens
		if hit, err := strconv.ParseInt(u.JSON.ExtraFields["prompt_cache_hit_tokens"].Raw(), 10, 64); err == nil {
			cached = max(cached, hit) // DeepSeek's name for it
		}
		a.usage = tokens(u.PromptTokens, cached, 0, u.CompletionTokens, u.CompletionTokensDetails.ReasoningTokens)
		a.toldIn, a.toldOut = true, true
	}
	return nil
}

func (d *chat) delta(choice openai.ChatCompletionChunkChoice, a *answer) {
	delta := choice.Delta
	for _, field := range []string{"reasoning_content", "reasoning"} {
		var s string
		if raw := delta.JSON.ExtraFields[field].Raw(); raw != "" && json.Unmarshal([]byte(raw), &s) == nil && s != "" {
			a.add(thought, s).field = field
			break // some send both, which say the same
		}
	}
	a.add(speech, delta.Content)
	if delta.Refusal != "" {
		a.refusal = clip(a.refusal+delta.Refusal, maxFault)
	}
	for _, t := range delta.ToolCalls {
		// Gemini gives each of parallel calls the index 0.
		key := strconv.FormatInt(t.Index, 10)
		if last := a.calls[key]; last != nil && t.ID != "" && last.id != "" && last.id != t.ID {
			delete(a.calls, key)
			a.calls[key+" "+last.id] = last
		}
		u := a.use(key)
		if t.ID != "" {
			u.id = clip(t.ID, 256)
		}
		if u.name == "" {
			u.name = clip(t.Function.Name, 256)
		}
		a.argue(u, t.Function.Arguments)
	}
	a.stop(choice.FinishReason)
	if a.refusal != "" && a.end == stopped {
		a.end, a.reason = refused, "refusal"
	}
}

// extend implements dialect.
func (d *chat) extend(a *answer, results []result) {
	var m openai.ChatCompletionAssistantMessageParam
	var text strings.Builder
	extra := map[string]any{}
	for _, b := range a.blocks {
		switch b.kind {
		case speech:
			text.WriteString(b.text.String())
		case thought: // servers of models that think between uses want it back
			before, _ := extra[b.field].(string)
			extra[b.field] = before + b.text.String()
		case call:
			arguments, _ := argumentsOf(b)
			m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: b.id, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: b.name, Arguments: string(arguments)},
			}})
		case redacted:
		}
	}
	if text.Len() > 0 {
		m.Content.OfString = openai.String(text.String())
	}
	if len(extra) > 0 {
		m.SetExtraFields(extra)
	}
	d.params.Messages = append(d.params.Messages, openai.ChatCompletionMessageParamUnion{OfAssistant: &m})
	for _, r := range results {
		d.params.Messages = append(d.params.Messages, openai.ToolMessage(r.output(), r.id))
	}
}

// relent asks without usage where a server does not know how to be asked for it.
func (d *chat) relent(status int64, text string) bool {
	refused := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	if !refused || !strings.Contains(text, "stream_options") || param.IsOmitted(d.params.StreamOptions) {
		return false
	}
	d.params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	return true
}
