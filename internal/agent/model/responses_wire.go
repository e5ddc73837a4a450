package model

import "encoding/json"

// The types of Responses, with the members that this package uses:
// https://platform.openai.com/docs/api-reference/responses/create

type responseRequest struct {
	Instructions    string             `json:"instructions,omitempty"`
	MaxOutputTokens int64              `json:"max_output_tokens,omitempty"`
	Store           bool               `json:"store"`
	Temperature     *float64           `json:"temperature,omitempty"`
	TopP            *float64           `json:"top_p,omitempty"`
	Include         []string           `json:"include,omitempty"`
	Input           []any              `json:"input,omitempty"` // responseMessage, responseCall, responseOutput, or what the server sent as json.RawMessage
	Model           string             `json:"model"`
	Reasoning       *responseReasoning `json:"reasoning,omitempty"`
	Tools           []responseTool     `json:"tools,omitempty"`
	Stream          bool               `json:"stream"`
}

type responseReasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary,omitempty"`
}

type responseTool struct {
	Strict      bool           `json:"strict"`
	Parameters  map[string]any `json:"parameters"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Type        string         `json:"type"` // "function"
}

type responseMessage struct {
	Content any    `json:"content"` // a string, or []responsePart
	Role    string `json:"role"`
}

type responsePart struct {
	Text     string `json:"text,omitempty"`
	Detail   string `json:"detail,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	FileData string `json:"file_data,omitempty"`
	Filename string `json:"filename,omitempty"`
	Type     string `json:"type"`
}

type responseCall struct {
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Type      string `json:"type"` // "function_call"
}

type responseOutput struct {
	Output string `json:"output"`
	CallID string `json:"call_id"`
	Type   string `json:"type"` // "function_call_output"
}

// responseEvent is an event of the stream.
type responseEvent struct {
	Type     looseString     `json:"type"`
	Delta    looseString     `json:"delta"`
	ItemID   looseString     `json:"item_id"`
	Item     json.RawMessage `json:"item"`     // of responseItem
	Response json.RawMessage `json:"response"` // of responseState
}

// state is the response that an event has; the zero value when it has none.
func (e responseEvent) state() (s responseState) {
	decode(e.Response, &s)
	return s
}

type responseItem struct {
	Type             looseString     `json:"type"`
	ID               looseString     `json:"id"`
	CallID           looseString     `json:"call_id"`
	Name             looseString     `json:"name"`
	Arguments        json.RawMessage `json:"arguments"`
	EncryptedContent looseString     `json:"encrypted_content"`
}

type responseState struct {
	ID                looseString    `json:"id"`
	Usage             *responseUsage `json:"usage"`
	IncompleteDetails struct {
		Reason looseString `json:"reason"`
	} `json:"incomplete_details"`
}

type responseUsage struct {
	InputTokens        looseInt `json:"input_tokens"`
	InputTokensDetails struct {
		CachedTokens     looseInt `json:"cached_tokens"`
		CacheWriteTokens looseInt `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens        looseInt `json:"output_tokens"`
	OutputTokensDetails struct {
		ReasoningTokens looseInt `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}
