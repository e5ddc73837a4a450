package dialect

import (
	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

// Dialect is how one API says things.
type Dialect interface {
	// Read reads a request. What it cannot be is a [Fault] with the status 400; fields that are not known are ignored.
	Read(body []byte) (Request, error)
	// Write writes a request that asks for a stream.
	Write(r Request, t Target) []byte
	// Decoder reads a stream.
	Decoder() Decoder
	// Encoder writes a stream.
	Encoder(h Head) Encoder
	// Whole writes an answer that is complete.
	Whole(h Head, a Answer) []byte
	// Errors is how it tells errors.
	Errors() Errors
}

// Errors is how an API tells errors and what was used.
type Errors interface {
	// Error is the body of a response.
	Error(f Fault) []byte
	// Event is an event of a stream, which ends with it.
	Event(f Fault) []byte
	// Usage reads what a whole answer used; ok is false when it does not tell.
	Usage(body []byte) (u event.Usage, ok bool)
}

// Decoder reads the events of one stream. It is not safe for concurrent use.
type Decoder interface {
	// Decode returns what an event tells. An error is a [Fault]: that the server told one, or that the event is none of
	// this API's.
	Decode(e sse.Event) ([]Delta, error)
	// Complete reports whether the stream has said that the answer is complete.
	Complete() bool
	// Done reports whether it is, and nothing more comes.
	Done() bool
}

// Encoder writes the events of one stream; each method returns the bytes to send, or none. It is not safe for concurrent use.
type Encoder interface {
	// Begin is what comes before all else.
	Begin() []byte
	// Encode writes one delta.
	Encode(d Delta) []byte
	// End writes what completes an answer.
	End() []byte
}

// Head is what an answer says of itself.
type Head struct {
	ID      string // without a prefix
	Model   string // as it was asked for
	Created int64  // seconds since 1970
	Tools   []Tool // as they were asked for
	Usage   bool   // of Chat: the stream ends with usage
}

// Target is what a server wants of requests.
type Target struct {
	Model      string
	MaxTokens  int64 // the most that an answer may have; 0: not limited
	Completion bool  // of Chat: the limit is called max_completion_tokens, as OpenAI's own server wants it
}

// For is the dialect of a protocol, or nil.
func For(p connector.Protocol) Dialect {
	switch p {
	case connector.Anthropic:
		return messages{}
	case connector.Responses:
		return responses{}
	case connector.OpenAI:
		return chat{}
	}
	return nil
}
