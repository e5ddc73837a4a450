// Package tool defines tools, the sets that run them, and the MCP servers that provide them.
package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Tool is one tool as a model sees it.
type Tool struct {
	Name        string          `json:"name"` // unique in a Set; a server's tool has the server's ID in front, "SERVER__NAME"
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"inputSchema"` // a JSON schema of type object
}

// Result is the outcome of a tool call. It is untrusted.
type Result struct {
	Content json.RawMessage `json:"content"` // a list of content blocks as MCP has them
	Failed  bool            `json:"isError,omitempty"`
}

// Text returns the text of the blocks, joined by line breaks. A block of another type is its type in brackets.
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
	// List returns the tools, the same until the set changes.
	List(ctx context.Context) ([]Tool, error)
	// Call runs a tool. A failure of the tool is a Result with Failed. An error means that there is no such tool, or that
	// its server does not answer any more. The context ends the call.
	Call(ctx context.Context, name string, arguments json.RawMessage) (Result, error)
}

// Server says how to reach an MCP server: by Command or by URL. It runs on this host, outside of every sandbox.
type Server struct {
	ID      string            // unique in an assistant; letters, digits, '-' and '_'
	Label   string            // for people; "": the ID
	Command []string          // the program and its arguments, which speaks over its stdin and stdout; run without a shell
	Env     map[string]string // more environment for Command; a value "$ENV.NAME" is that variable of this process
	Dir     string            // where Command runs; "": in a directory of its own
	URL     string            // of streamable HTTP
	Headers map[string]string // sent to URL, with values as those of Env
	Timeout time.Duration     // of a call; 0: a minute
	Tools   []string          // those that may be used; nil: all
}
