// Package connector is how a model is reached: the files that say which API, where, which model, which key, and what it
// costs.
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

// Connector is a way to one model. It holds no key: Key fetches it.
type Connector struct {
	ID        string            // such as "deepseek.v3": the path of its file under connectors/
	Label     string            // for people; "": the ID
	Protocol  Protocol          //
	BaseURL   string            // without a slash at the end, and with the version but for Anthropic, whose clients add it: "https://api.deepseek.com/v1", "https://api.anthropic.com"
	Model     string            // as the server calls it
	Headers   map[string]string // sent with each request, beside the key's
	MaxTokens int64             // that an answer may have; 0: the server's default, or ours where the API demands a number
	Reasoning Reasoning         // of direct calls; a coding agent chooses itself
	Price     *Price            // nil: not known, so no cost is booked
	Allow     Allow             // what coding agents may use of the server beyond the broker's lists
	Secret    Secret            // where the key is
}

// Price is in US dollars for a million tokens. A pointer that is nil is the price of Input.
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

// Secret says where a key is. The zero value means that the server needs no key. Printing a Secret prints the
// place of the key, never the key.
type Secret struct {
	Env     string   // the variable of this process
	File    string   // its content, without the line break at the end
	Command []string // what it prints, likewise; run without a shell
	Value   string   // the key itself, as a test has it; never written and never printed
}

// Source fetches keys. Implementations are safe for concurrent use.
type Source interface {
	// Key is the key of a secret; "" is that of the zero Secret. An error names the place and never the content.
	Key(ctx context.Context, s Secret) (string, error)
}
