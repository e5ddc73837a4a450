// Package connector describes how to reach a model: its files name the API, the server, the model, the key and the
// prices.
package connector

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// Protocol is the API that a connector's server speaks.
type Protocol string

// The protocols.
const (
	OpenAI    Protocol = "openai"    // Chat Completions, which nearly every server supports
	Responses Protocol = "responses" // OpenAI's Responses
	Anthropic Protocol = "anthropic" // Messages
)

// Connector describes one model of a server. It does not contain the key: Key says where the key is.
type Connector struct {
	ID        string            // such as "deepseek.v3": the path of its file under connectors/
	Label     string            // for people; "": the ID
	Protocol  Protocol          //
	BaseURL   string            // without a slash at the end; with the version, except for Anthropic, whose clients add it: "https://api.deepseek.com/v1", "https://api.anthropic.com"
	Model     string            // the server's name of the model
	Headers   map[string]string // sent with each request, besides the key's header
	MaxTokens int64             // that an answer may have; 0: the server's default, or ours if the API requires a number
	Reasoning Reasoning         // of direct calls; a coding agent chooses itself
	Price     *Price            // nil: unknown, so no cost is booked
	Allow     Allow             // the parts of the API that coding agents may use besides those of the broker's lists
	Secret    Secret            // where the key is
}

// Price has the prices in US dollars for a million tokens. A nil pointer means the price of Input.
type Price struct {
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// Cost returns the price of a usage in US dollars.
func (p Price) Cost(u event.Usage) float64 {
	read, write := p.Input, p.Input
	if p.CacheRead != nil {
		read = *p.CacheRead
	}
	if p.CacheWrite != nil {
		write = *p.CacheWrite
	}
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*read + float64(u.CacheWrite)*write) / 1e6
}

// Secret describes the place of a key. The zero value means that the server needs no key. Formatting a Secret
// prints the place of the key, never the key.
type Secret struct {
	Env     string   // the variable of this process
	File    string   // the content of the file, without the final line break
	Command []string // the output of the command, without the final line break; it runs without a shell
	Value   string   // the key itself, for tests; never written and never printed
}

// Source fetches keys. Implementations are safe for concurrent use.
type Source interface {
	// Key returns the key of a secret; "" for the zero Secret. Its errors name the place and never contain the key.
	Key(ctx context.Context, s Secret) (string, error)
}
