// Package dialect is what the APIs of models have in common, and how each of them says it: requests, answers, streams and
// errors are read into one neutral form and written from it.
//
// Whatever is read was written by a sandbox or by a server somewhere and is hostile: no function here panics for it, and
// memory is bounded by a small multiple of what is read.
package dialect

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
)

// Request is what is asked of a model.
type Request struct {
	Model       string
	System      []string // one after the other
	Messages    []Message
	Tools       []Tool
	Choice      Choice
	Parallel    *bool    // more than one call at once; nil: not told
	MaxTokens   int64    // of the answer; 0: not told
	Temperature *float64 // nil: not told
	TopP        *float64 // nil: not told
	Stop        []string
	Effort      string  // of reasoning: "low", "medium", "high" or whatever comes; "": not told
	Format      *Format // nil: text
	Stream      bool
	StreamUsage bool // a stream of Chat ends with usage
}

// Role is who says something.
type Role string

// The roles. What a system says in the middle of a chat has the role System.
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

// Kind says what a part is, and with it which fields are set.
type Kind int

// The kinds of parts.
const (
	Text     Kind = iota // Text
	Thinking             // Text, and Seal where there is one
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
	URL       string // of an image that is somewhere else
	MediaType string
	Data      string // base64
	Parts     []Part // of a result: text, images and files
	Failed    bool
	Seal      Seal
}

// Seal is what a server adds to its thinking, and wants to have back. Nobody else can read it.
type Seal struct {
	Origin connector.Protocol // "": there is none
	ID     string             // of Responses
	Value  string
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string // for the model; unlike any other
	Description string
	Schema      json.RawMessage // nil: none was told
	Free        bool            // of Responses: its argument is any text, which is the string "input" for everybody else
	Namespace   string          // of Responses: the namespace that the tool is in there; "": none
	Inner       string          // with Namespace: the name there
}

// Choice is which tool must be called.
type Choice struct {
	Mode string // "": not told; "auto", "any", "none", or "tool" with Name
	Name string
}

// Format is that the answer is JSON.
type Format struct {
	Name   string
	Schema json.RawMessage // nil: any object
	Strict *bool
}

// Stop is why an answer ended.
type Stop string

// The reasons.
const (
	StopEnd      Stop = "end"
	StopCalls    Stop = "calls" // the model waits for results
	StopLength   Stop = "length"
	StopSequence Stop = "sequence"
	StopRefusal  Stop = "refusal"
)

// Change says what a delta tells, and with it which of its fields are set.
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

// Characters is the length of all that the model reads of a request as text, for an estimate of its tokens.
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
			n += 4000 // about a thousand tokens
		}
	}
	return n
}

// add adds what somebody says; an assistant's parts in a row are one message, and results in a row likewise.
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

// instruct adds what a system says: before all else it is a part of the system's prompt.
func (r *Request) instruct(parts []Part) {
	if len(r.Messages) > 0 {
		r.Messages = append(r.Messages, Message{System, parts})
		return
	}
	for _, p := range parts {
		r.System = append(r.System, p.Text)
	}
}

// perToken is how many bytes of text a token has, about.
const perToken = 4

// Tokens is an estimate of how many tokens a text of n bytes has.
func Tokens(n int64) int64 { return (n + perToken - 1) / perToken }
