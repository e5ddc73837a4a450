package dialect

import (
	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

// Dialect reads and writes one API.
type Dialect interface {
	// Read reads a request. An invalid request is a [Fault] with status 400; unknown fields are ignored.
	Read(body []byte) (Request, error)
	// Write writes a request for a stream.
	Write(r Request, t Target) []byte
	// Decoder returns a decoder for one stream.
	Decoder() Decoder
	// Encoder returns an encoder for one stream.
	Encoder(h Head) Encoder
	// Whole writes a complete answer that is not a stream.
	Whole(h Head, a Answer) []byte
	// Errors returns the API's error format.
	Errors() Errors
}

// Errors writes an API's errors and reads its usage.
type Errors interface {
	// Error returns the body of an error response.
	Error(f Fault) []byte
	// Event returns the event that reports an error and ends a stream.
	Event(f Fault) []byte
	// Usage reads the usage of a complete answer; ok is false when the answer has none.
	Usage(body []byte) (u event.Usage, ok bool)
}

// Decoder reads the events of one stream. It is not safe for concurrent use.
type Decoder interface {
	// Decode returns the deltas of an event. Its error is a [Fault]: the server reported one, or the event does not
	// belong to this API.
	Decode(e sse.Event) ([]Delta, error)
	// Complete reports whether the stream has declared the answer complete.
	Complete() bool
	// Done reports whether the answer is complete and no event follows.
	Done() bool
}

// Encoder writes the events of one stream; each method returns the bytes to send, or none. It is not safe for concurrent use.
type Encoder interface {
	// Begin returns the events before the first delta.
	Begin() []byte
	// Encode writes one delta.
	Encode(d Delta) []byte
	// End returns the events that complete an answer.
	End() []byte
}

// Head holds an answer's metadata.
type Head struct {
	ID      string // without a prefix
	Model   string // the name in the request
	Created int64  // seconds since 1970
	Tools   []Tool // the tools of the request
	Usage   bool   // of Chat: the stream ends with usage
}

// Target describes the server that a request is written for.
type Target struct {
	Model      string
	MaxTokens  int64 // the longest answer; 0: no limit
	Completion bool  // of Chat: the limit is called max_completion_tokens, as OpenAI's own server requires
}

// For returns the dialect of a protocol, or nil.
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
