package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ToolServer is the name of the MCP server whose tools are [Options.Tools]. A Create hook selects it by this name, and no server
// of an assistant can have this name.
const ToolServer = "host"

// toolPrefix begins the names of these tools in a list with the tools of all servers.
const toolPrefix = ToolServer + "__"

// Tool is a function of the calling program. It runs outside every sandbox.
type Tool struct {
	Name        string          // 1 to 64 letters, digits, '-' and '_'; unique
	Description string          // for the model
	Schema      json.RawMessage // a JSON schema of type object for the arguments; nil: any object
	// Call runs the tool and returns its answer for the model. An error becomes the answer of a failed tool. The arguments come
	// from a model and may not match the schema. Call must be safe for concurrent use; ctx ends with the request.
	Call func(ctx context.Context, c ToolCall) (string, error)
}

// ToolCall is one use of a [Tool].
type ToolCall struct {
	User      string
	Chat      string
	Assistant string
	Arguments json.RawMessage // valid JSON, usually an object; a model may send another value
}

// checkTools returns an Invalid error for an invalid tool.
func checkTools(tools []Tool) error {
	seen := map[string]bool{}
	for _, t := range tools {
		odd := strings.ContainsFunc(t.Name, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
		})
		var schema struct{ Type string }
		switch {
		case t.Name == "" || len(t.Name) > 64 || odd:
			return sandbox.Errorf(sandbox.Invalid, "invalid name of a tool %.100q; expected 1 to 64 letters, digits, '-' and '_'", t.Name)
		case seen[t.Name]:
			return sandbox.Errorf(sandbox.Invalid, "two tools with the name %s", t.Name)
		case t.Call == nil:
			return sandbox.Errorf(sandbox.Invalid, "tool %s: Call is not set", t.Name)
		case t.Schema != nil && (json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object"):
			return sandbox.Errorf(sandbox.Invalid, "tool %s: invalid schema; expected a JSON schema of type object", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// functions has the tools of the calling program for one request.
type functions struct {
	tools []Tool
	call  ToolCall // without arguments
}

// List implements [tool.Set].
func (f functions) List(context.Context) ([]tool.Tool, error) {
	out := make([]tool.Tool, len(f.tools))
	for i, t := range f.tools {
		if t.Schema == nil {
			t.Schema = json.RawMessage(`{"type":"object"}`)
		}
		out[i] = tool.Tool{Name: toolPrefix + t.Name, Description: t.Description, Schema: t.Schema}
	}
	return out, nil
}

// Call implements [tool.Set].
func (f functions) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	own, _ := strings.CutPrefix(name, toolPrefix)
	i := slices.IndexFunc(f.tools, func(t Tool) bool { return t.Name == own })
	if i < 0 {
		return tool.Result{}, sandbox.Errorf(sandbox.NotFound, "unknown tool %.200q", name)
	}
	call := f.call
	if call.Arguments = arguments; len(arguments) == 0 {
		call.Arguments = json.RawMessage("{}")
	}
	if !json.Valid(call.Arguments) {
		return tool.Result{}, sandbox.Errorf(sandbox.Invalid, "invalid arguments of %.200q; expected JSON", name)
	}
	text, err := f.tools[i].Call(ctx, call)
	if err != nil {
		text = err.Error()
		if hint := sandbox.HintOf(err); hint != "" {
			text += "; " + hint
		}
	}
	return textResult(strings.ToValidUTF8(text, "\uFFFD"), err != nil), nil
}

// withFunctions has the tools of servers and those of the calling program.
type withFunctions struct {
	servers   tool.Set
	functions functions
}

// List implements [tool.Set].
func (w withFunctions) List(ctx context.Context) ([]tool.Tool, error) {
	all, err := w.servers.List(ctx)
	if err != nil {
		return nil, err
	}
	own, err := w.functions.List(ctx)
	return append(slices.Clip(all), own...), err
}

// Call implements [tool.Set].
func (w withFunctions) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	if strings.HasPrefix(name, toolPrefix) {
		return w.functions.Call(ctx, name, arguments)
	}
	return w.servers.Call(ctx, name, arguments)
}
