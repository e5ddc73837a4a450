// Package dialect translates between the APIs of models. It reads requests, answers, streams and errors of each API into one
// neutral form, and writes them from it.
//
// All input comes from a sandbox or a remote server and is hostile: no function here panics on it, and
// memory is bounded by a small multiple of the input.
package dialect

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// Request is a request to a model.
type Request struct {
	Model       string
	System      []string // one after the other
	Messages    []Message
	Tools       []Tool
	Choice      Choice
	Parallel    *bool    // may the model call several tools at once; nil: not set
	MaxTokens   int64    // of the answer; 0: not set
	Temperature *float64 // nil: not set
	TopP        *float64 // nil: not set
	Stop        []string
	Effort      string  // of reasoning: "low", "medium", "high" or any other word; "": not set
	Format      *Format // nil: text
	Stream      bool
	StreamUsage bool // a stream of Chat ends with usage
}

// Role is the author of a message.
type Role string

// The roles. A system message within a chat has the role System.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message.
type Message struct {
	Role  Role
	Parts []Part
}

// Kind is the type of a part; it determines which fields are set.
type Kind int

// The kinds of parts.
const (
	Text     Kind = iota // Text
	Thinking             // Text, and optionally Seal
	Image                // URL, or MediaType and Data
	File                 // Name, MediaType and Data
	Call                 // ID, Name, Text is the arguments
	Result               // ID, Parts, Failed
)

// Part is a piece of a message.
type Part struct {
	Kind      Kind
	Text      string
	ID        string // of the call
	Name      string // of the tool, or of the file
	URL       string // of an image that is elsewhere
	MediaType string
	Data      string // base64
	Parts     []Part // of a result: text, images and files
	Failed    bool
	Seal      Seal
}

// Seal is the opaque data that a server adds to its thinking and expects back. Only that server can read it.
type Seal struct {
	Origin connector.Protocol // "": no seal
	ID     string             // of Responses
	Value  string
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string // for the model; unlike any other
	Description string
	Schema      json.RawMessage // nil: none given
	Free        bool            // of Responses: a free-form tool, whose argument is any text; in other APIs it is the string "input"
	Namespace   string          // of Responses: the tool's namespace; "": none
	Inner       string          // with Namespace: the tool's name in it
}

// Choice says which tool the model must call.
type Choice struct {
	Mode string // "": not set; "auto", "any", "none", or "tool" with Name
	Name string
}

// Format requires the answer to be JSON.
type Format struct {
	Name   string
	Schema json.RawMessage // nil: any object
	Strict *bool
}

// Stop is the reason why an answer ended.
type Stop string

// The reasons.
const (
	StopEnd      Stop = "end"
	StopCalls    Stop = "calls" // the model waits for results
	StopLength   Stop = "length"
	StopSequence Stop = "sequence"
	StopRefusal  Stop = "refusal"
)

// Change is the type of a delta; it determines which fields are set.
type Change int

// The changes. Blocks are numbered as they begin; a block begins with its first delta.
const (
	AddText     Change = iota // Block, Text
	AddThinking               // Block, Text
	AddSeal                   // Block, Seal: the thinking of that block is complete
	BeginCall                 // Block, ID, Name
	AddCall                   // Block, Text: more of the arguments
	SetUsage                  // Usage so far; later ones replace it
	SetStop                   // Stop
)

// Delta is a piece of an answer.
type Delta struct {
	Change   Change
	Block    int
	Text     string
	ID, Name string
	Seal     Seal
	Usage    event.Usage
	Stop     Stop
}

// Characters returns the length of a request's text, for an estimate of its tokens.
func (r Request) Characters() int64 {
	n := 0
	for _, s := range r.System {
		n += len(s)
	}
	for _, m := range r.Messages {
		n += characters(m.Parts)
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return int64(n)
}

func characters(parts []Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text) + len(p.Name) + characters(p.Parts)
		if p.Kind == Image {
			n += 4000 // an image has about a thousand tokens
		}
		if p.Kind == File {
			n += min(len(p.Data), perToken*maxFile)
		}
	}
	return n
}

// maxFile is the number of tokens that the pages of one file have at most, about.
const maxFile = 200_000

// add appends parts to the chat. It merges successive parts of the assistant into one message, and successive results likewise.
func (r *Request) add(role Role, parts ...Part) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
		last := &r.Messages[n-1]
		if role == Assistant || role == User && areResults(last.Parts) && areResults(parts) {
			last.Parts = append(last.Parts, parts...)
			return
		}
	}
	r.Messages = append(r.Messages, Message{role, parts})
}

func areResults(parts []Part) bool {
	return len(parts) > 0 && parts[0].Kind == Result
}

// instruct adds a system message. Before the first message of the chat it belongs to the system prompt.
func (r *Request) instruct(parts []Part) {
	if len(r.Messages) > 0 {
		r.Messages = append(r.Messages, Message{System, parts})
		return
	}
	for _, p := range parts {
		r.System = append(r.System, p.Text)
	}
}

// perToken is the approximate number of bytes of text for one token.
const perToken = 4

// Tokens estimates the number of tokens in a text of n bytes.
func Tokens(n int64) int64 { return (n + perToken - 1) / perToken }
