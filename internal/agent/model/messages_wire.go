package model

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// The types of Messages, with the members that this package uses: https://docs.claude.com/en/api/messages

type messagesRequest struct {
	MaxTokens   int64             `json:"max_tokens"`
	Messages    []messagesMessage `json:"messages,omitempty"`
	Model       string            `json:"model"`
	Temperature *float64          `json:"temperature,omitempty"`
	TopP        *float64          `json:"top_p,omitempty"`
	System      []messagesBlock   `json:"system,omitempty"`
	Thinking    *messagesThinking `json:"thinking,omitempty"`
	Tools       []messagesTool    `json:"tools,omitempty"`
	Stream      bool              `json:"stream"`
}

type messagesThinking struct {
	BudgetTokens int64  `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
	Type         string `json:"type"`
}

type messagesTool struct {
	InputSchema  map[string]any `json:"input_schema"`
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	CacheControl *cacheControl  `json:"cache_control,omitempty"`
}

type messagesMessage struct {
	Content []messagesBlock `json:"content"`
	Role    string          `json:"role"`
}

// messagesBlock is a block of any type. nil members are left out.
type messagesBlock struct {
	Text         *string         `json:"text,omitempty"`
	Signature    *string         `json:"signature,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Data         *string         `json:"data,omitempty"`
	Source       *messagesSource `json:"source,omitempty"`
	Title        string          `json:"title,omitempty"`
	ID           string          `json:"id,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Name         *string         `json:"name,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	IsError      *bool           `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
	Content      []messagesBlock `json:"content,omitempty"`
	Type         string          `json:"type"`
}

type messagesSource struct {
	Data      string `json:"data"`
	MediaType string `json:"media_type"`
	Type      string `json:"type"` // "base64"
}

type cacheControl struct {
	Type string `json:"type"`
}

// ephemeral marks what the server shall cache.
var ephemeral = cacheControl{Type: "ephemeral"}

func textBlock(text string) messagesBlock {
	return messagesBlock{Text: &text, Type: "text"}
}

func thinkingBlock(signature, thinking string) messagesBlock {
	return messagesBlock{Signature: &signature, Thinking: &thinking, Type: "thinking"}
}

func redactedBlock(data string) messagesBlock {
	return messagesBlock{Data: &data, Type: "redacted_thinking"}
}

func toolUseBlock(id, name string, input json.RawMessage) messagesBlock {
	return messagesBlock{ID: id, Input: input, Name: &name, Type: "tool_use"}
}

func toolResultBlock(r result) messagesBlock {
	return messagesBlock{ToolUseID: r.id, IsError: &r.failed, Content: []messagesBlock{textBlock(r.text)}, Type: "tool_result"}
}

// messagesEvent is an event of the stream.
type messagesEvent struct {
	Type    looseString `json:"type"`
	Index   looseInt    `json:"index"`
	Message struct {
		ID    looseString   `json:"id"`
		Usage messagesUsage `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type      looseString     `json:"type"`
		Text      looseString     `json:"text"`
		Thinking  looseString     `json:"thinking"`
		Signature looseString     `json:"signature"`
		Data      looseString     `json:"data"`
		ID        looseString     `json:"id"`
		Name      looseString     `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        looseString `json:"type"`
		Text        looseString `json:"text"`
		Thinking    looseString `json:"thinking"`
		Signature   looseString `json:"signature"`
		PartialJSON looseString `json:"partial_json"`
		StopReason  looseString `json:"stop_reason"`
		StopDetails struct {
			Explanation looseString `json:"explanation"`
		} `json:"stop_details"`
	} `json:"delta"`
	Usage *messagesUsage `json:"usage"`
}

type messagesUsage struct {
	InputTokens              looseInt `json:"input_tokens"`
	CacheReadInputTokens     looseInt `json:"cache_read_input_tokens"`
	CacheCreationInputTokens looseInt `json:"cache_creation_input_tokens"`
	OutputTokens             looseInt `json:"output_tokens"`
	OutputTokensDetails      struct {
		ThinkingTokens looseInt `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// tokens are the counts of a usage; the API's input_tokens has neither of the cached parts in it.
func (u messagesUsage) tokens() event.Usage {
	read, write := int64(u.CacheReadInputTokens), int64(u.CacheCreationInputTokens)
	return tokens(int64(u.InputTokens)+read+write, read, write, int64(u.OutputTokens), int64(u.OutputTokensDetails.ThinkingTokens))
}
