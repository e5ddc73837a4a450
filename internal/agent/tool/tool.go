// Package tool is what a model can use: tools, who has them, and the servers that they come from.
package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Tool is one tool as a model is told of it.
type Tool struct {
	Name        string          `json:"name"` // in a Set unlike any other: that of a server has the server's before it, "SERVER__NAME"
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"inputSchema"` // a JSON schema of type object
}

// Result is what a use of a tool came to. It comes from a program that nobody need trust.
type Result struct {
	Content json.RawMessage `json:"content"` // a list of content blocks as MCP has them
	Failed  bool            `json:"isError,omitempty"`
}

// Text is the text of a result's blocks, a line break between them; blocks of other types are told by their type.
func (r Result) Text() string {
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(r.Content, &blocks) != nil {
		return string(r.Content)
	}
	var out []byte
	for i, b := range blocks {
		if i > 0 {
			out = append(out, '\n')
		}
		if b.Type == "text" {
			out = append(out, b.Text...)
		} else {
			out = append(out, "["+b.Type+"]"...)
		}
	}
	return string(out)
}

// Set has tools and runs them. Implementations are safe for concurrent use.
type Set interface {
	// List returns the tools, the same as long as nobody changes the set.
	List(ctx context.Context) ([]Tool, error)
	// Call uses one. What the tool itself complains about is a Result that Failed; an error is that there is no such
	// tool, or that nobody answers any more. The context ends the call.
	Call(ctx context.Context, name string, arguments json.RawMessage) (Result, error)
}

// Server says how an MCP server is reached: by Command or by URL. It runs on this host, outside of every sandbox.
type Server struct {
	ID      string            // unlike any other of an assistant; letters, digits, '-' and '_'
	Label   string            // for people; "": the ID
	Command []string          // the program and its arguments, which speaks over its stdin and stdout; run without a shell
	Env     map[string]string // more environment for Command; a value "$ENV.NAME" is that variable of this process
	Dir     string            // where Command runs; "": in a directory of its own
	URL     string            // of streamable HTTP
	Headers map[string]string // sent to URL, with values as those of Env
	Timeout time.Duration     // of a call; 0: a minute
	Tools   []string          // those that may be used; nil: all
}
