package model

import "encoding/json"

// The types of Chat Completions, with the members that this package uses:
// https://platform.openai.com/docs/api-reference/chat/create

type chatRequest struct {
	Messages            []chatMessage      `json:"messages,omitempty"`
	Model               string             `json:"model"`
	MaxCompletionTokens int64              `json:"max_completion_tokens,omitempty"`
	MaxTokens           int64              `json:"max_tokens,omitempty"`
	Temperature         *float64           `json:"temperature,omitempty"`
	TopP                *float64           `json:"top_p,omitempty"`
	ReasoningEffort     string             `json:"reasoning_effort,omitempty"`
	StreamOptions       *chatStreamOptions `json:"stream_options,omitempty"`
	Tools               []chatTool         `json:"tools,omitempty"`
	Stream              bool               `json:"stream"`
	Thinking            *chatThinking      `json:"thinking,omitempty"`
}

type chatStreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chatThinking is how DeepSeek, GLM and others name what OpenAI calls the effort.
type chatThinking struct {
	Type string `json:"type"`
}

type chatTool struct {
	Function chatFunction `json:"function"`
	Type     string       `json:"type"` // "function"
}

type chatFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"`
}

type chatMessage struct {
	Content          any        `json:"content,omitempty"` // a string, or []chatPart; nil: left out
	ToolCalls        []chatCall `json:"tool_calls,omitempty"`
	ToolCallID       string     `json:"tool_call_id,omitempty"`
	Role             string     `json:"role"`
	ReasoningContent string     `json:"reasoning_content,omitempty"` // some servers name it so
	Reasoning        string     `json:"reasoning,omitempty"`         // and some so
}

type chatPart struct {
	Text     string         `json:"text,omitempty"`
	ImageURL *chatImageURL  `json:"image_url,omitempty"`
	File     *chatFileInput `json:"file,omitempty"`
	Type     string         `json:"type"`
}

type chatImageURL struct {
	URL string `json:"url"`
}

type chatFileInput struct {
	Data string `json:"file_data"`
	Name string `json:"filename"`
}

type chatCall struct {
	ID       string           `json:"id"`
	Function chatCallFunction `json:"function"`
	Type     string           `json:"type"` // "function"
}

type chatCallFunction struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

// chatChunk is an event of the stream.
type chatChunk struct {
	ID      looseString     `json:"id"`
	Choices []chatChoice    `json:"choices"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type chatChoice struct {
	Index        looseInt    `json:"index"`
	Delta        chatDelta   `json:"delta"`
	FinishReason looseString `json:"finish_reason"`
}

type chatDelta struct {
	Content          looseString     `json:"content"`
	Refusal          looseString     `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        []chatCallDelta `json:"tool_calls"`
}

type chatCallDelta struct {
	Index    looseInt    `json:"index"`
	ID       looseString `json:"id"`
	Function struct {
		Name      looseString `json:"name"`
		Arguments looseString `json:"arguments"`
	} `json:"function"`
}

type chatUsage struct {
	PromptTokens        looseInt `json:"prompt_tokens"`
	CompletionTokens    looseInt `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens looseInt `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens looseInt `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	PromptCacheHitTokens looseInt `json:"prompt_cache_hit_tokens"` // DeepSeek's name for cached_tokens
}
