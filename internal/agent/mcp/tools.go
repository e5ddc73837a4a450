package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Bounds of a server's tools.
const (
	maxTools       = 1000
	maxPages       = 100
	maxListed      = 16 << 20 // bytes of all of them
	maxToolName    = 128      // as the protocol says
	maxDescription = 64 << 10
	maxSchema      = 1 << 20
)

// learn lists the tools to offer. If strict, as at the start of a server, all configured tools must exist; when the server
// later changes its list, they need not.
func (l *live) learn(ctx context.Context, s tool.Server, strict bool) error {
	all, err := l.listed(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	offered := all
	if s.Tools != nil {
		offered = nil
		for _, want := range s.Tools {
			i := slices.Index(names, want)
			if i < 0 && !strict {
				continue
			}
			if i < 0 {
				return sandbox.Errorf(sandbox.Invalid, "it has no tool %.128q; it has %s", want, oneLine(strings.Join(names, ", "), 1000)).
					WithHint("correct the list of tools")
			}
			offered = append(offered, all[i])
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tools = offered
	return nil
}

// listed returns all tools of a server.
func (l *live) listed(ctx context.Context) (all []tool.Tool, err error) {
	var cursor string
	size := 0
	for range maxPages {
		page, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && wire.Code == jsonrpc.CodeMethodNotFound {
			return all, nil // a server without tools
		}
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			one, err := checkTool(t)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(all, func(t tool.Tool) bool { return t.Name == one.Name }) {
				return nil, sandbox.Errorf(sandbox.Unavailable, "it has two tools called %s", one.Name)
			}
			all = append(all, one)
			size += len(one.Name) + len(one.Description) + len(one.Schema)
		}
		if len(all) > maxTools || size > maxListed {
			return nil, sandbox.Errorf(sandbox.Exhausted, "it lists more than %d tools, or 16 MiB of them", maxTools)
		}
		if page.NextCursor == "" {
			return all, nil
		}
		cursor = page.NextCursor
	}
	return nil, sandbox.Errorf(sandbox.Exhausted, "it lists its tools on more than %d pages", maxPages)
}

// checkTool validates a tool.
func checkTool(t *sdk.Tool) (tool.Tool, error) {
	if t == nil || t.Name == "" || len(t.Name) > maxToolName || strings.ContainsFunc(t.Name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./", r)
	}) {
		name := ""
		if t != nil {
			name = t.Name
		}
		return tool.Tool{}, sandbox.Errorf(sandbox.Unavailable, "%.200q cannot be the name of a tool", name)
	}
	schema, err := marshal(t.InputSchema)
	if err != nil || len(schema) > maxSchema || schema[0] != '{' {
		return tool.Tool{}, sandbox.Errorf(sandbox.Unavailable, "the schema of %s is not an object of at most 1 MiB", t.Name)
	}
	d := t.Description
	if len(d) > maxDescription {
		d = strings.ToValidUTF8(d[:maxDescription], "")
	}
	return tool.Tool{Name: t.Name, Description: d, Schema: schema}, nil
}

// convertResult converts an answer to a tool's result.
func convertResult(r *sdk.CallToolResult) (tool.Result, error) {
	content := r.Content
	if len(content) == 0 && r.StructuredContent != nil { // the server left out the text form of the structured content
		text, err := marshal(r.StructuredContent)
		if err != nil {
			return tool.Result{}, err
		}
		content = []sdk.Content{&sdk.TextContent{Text: string(text)}}
	}
	if content == nil {
		content = []sdk.Content{}
	}
	raw, err := marshal(content)
	return tool.Result{Content: raw, Failed: r.IsError}, err
}

// failed returns a result that reports an error.
func failed(text string) tool.Result {
	raw, err := marshal([]map[string]string{{"type": "text", "text": text}})
	if err != nil {
		raw = json.RawMessage("[]") // strings always marshal
	}
	return tool.Result{Content: raw, Failed: true}
}

// marshal is json.Marshal without escapes for <, > and &.
func marshal(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}
