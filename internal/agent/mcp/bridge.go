package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// protocols lists the supported versions, newest first. They do not differ in tools.
var protocols = []string{protocol, "2025-06-18", "2025-03-26", "2024-11-05"}

// Bounds of one client.
const (
	maxAtOnce = 256 // requests that are being answered
	maxBatch  = 100 // messages in an array (protocol 2025-03-26)
)

// Bridge serves a set of tools as one MCP server to one client, message by message. It is safe for concurrent use, and a
// client need not wait for an answer before the next message. It needs no Close.
type Bridge struct {
	set  tool.Set
	name string // of the server, as clients see it

	mu      sync.Mutex
	running map[any]context.CancelFunc // by the ID of a request
}

// NewBridge returns a server for a set; clients see it under name.
func NewBridge(name string, set tool.Set) *Bridge {
	return &Bridge{set: set, name: name, running: map[any]context.CancelFunc{}}
}

// Handle answers one message, or an array of them. The reply is nil for a notification, for a reply, and
// for a request that the client canceled with a later message. Messages are untrusted; the reply reports what is wrong with
// them. An error means that ctx has ended, which also ends the tool call.
func (b *Bridge) Handle(ctx context.Context, message json.RawMessage) (reply json.RawMessage, err error) {
	answer := b.take(ctx, message)
	if answer != nil {
		reply = answer()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return reply, nil
}

// answering completes the reply to a message; nil: no reply.
type answering func() json.RawMessage

// take performs the part of a message that must happen in order, and returns the rest for the caller to run, or nil.
func (b *Bridge) take(ctx context.Context, message json.RawMessage) answering {
	message = bytes.TrimSpace(message)
	if len(message) > maxMessage {
		return rejectMessage(jsonrpc.CodeParseError, errTooLong.Error())
	}
	if !json.Valid(message) {
		return rejectMessage(jsonrpc.CodeParseError, "this is not JSON")
	}
	if message[0] != '[' {
		return b.takeOne(ctx, message)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(message, &list); err != nil || len(list) == 0 || len(list) > maxBatch {
		return rejectMessage(jsonrpc.CodeInvalidRequest, "an array holds 1 to 100 messages")
	}
	var answers []answering
	for _, m := range list {
		if answer := b.takeOne(ctx, m); answer != nil {
			answers = append(answers, answer)
		}
	}
	if len(answers) == 0 {
		return nil
	}
	return func() json.RawMessage { return answerAll(answers) }
}

// answerAll computes an array of replies concurrently.
func answerAll(answers []answering) json.RawMessage {
	replies := make([]json.RawMessage, len(answers))
	var all sync.WaitGroup
	for i, answer := range answers {
		all.Go(func() { replies[i] = answer() })
	}
	all.Wait()
	replies = slices.DeleteFunc(replies, func(r json.RawMessage) bool { return r == nil })
	if len(replies) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(unnamed(replies), []byte(",")), []byte("]"))
}

func unnamed(list []json.RawMessage) (out [][]byte) {
	for _, m := range list {
		out = append(out, m)
	}
	return out
}

// takeOne is take for a message that is not an array.
func (b *Bridge) takeOne(ctx context.Context, message json.RawMessage) answering {
	decoded, err := jsonrpc.DecodeMessage(message)
	if err != nil {
		return rejectMessage(jsonrpc.CodeInvalidRequest, "this is not a JSON-RPC 2.0 message")
	}
	r, ok := decoded.(*jsonrpc.Request)
	if !ok { // a reply to a request that the bridge never sent
		return nil
	}
	if !r.IsCall() {
		if r.Method == "notifications/cancelled" {
			b.cancel(r.Params)
		}
		return nil
	}
	ctx, end, err := b.begin(ctx, r.ID)
	if err != nil {
		return func() json.RawMessage { return encodeReply(r.ID, nil, err) }
	}
	return func() json.RawMessage {
		defer end()
		result, err := b.answer(ctx, r.Method, r.Params)
		if ctx.Err() != nil {
			return nil
		}
		return encodeReply(r.ID, result, err)
	}
}

// begin registers a running request.
func (b *Bridge) begin(ctx context.Context, id jsonrpc.ID) (context.Context, func(), error) {
	key := id.Raw()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running[key] != nil {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is being answered"}
	}
	if len(b.running) >= maxAtOnce {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "more than 256 requests at once"}
	}
	ctx, cancel := context.WithCancel(ctx)
	b.running[key] = cancel
	return ctx, func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, key)
	}, nil
}

// cancel cancels a running request.
func (b *Bridge) cancel(params json.RawMessage) {
	var p struct {
		RequestID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if cancel := b.running[id.Raw()]; cancel != nil {
		cancel()
	}
}

// answer executes a request.
func (b *Bridge) answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "initialize":
		return b.initialize(params)
	case methodPing:
		return struct{}{}, nil
	case "tools/list":
		tools, err := b.set.List(ctx)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: formatError(err)}
		}
		if tools == nil {
			tools = []tool.Tool{}
		}
		return map[string]any{"tools": tools}, nil
	case "tools/call":
		return b.call(ctx, params)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown method " + oneLine(method, 100)}
}

// initialize accepts repeated calls: coding agents initialize more than once over the same connection.
func (b *Bridge) initialize(params json.RawMessage) (any, error) {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(params, &p) != nil || p.ProtocolVersion == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "expected params.protocolVersion, a text"}
	}
	if !slices.Contains(protocols, p.ProtocolVersion) {
		p.ProtocolVersion = protocol // the client decides whether it supports it
	}
	return map[string]any{
		"protocolVersion": p.ProtocolVersion,
		"capabilities":    map[string]any{"tools": struct{}{}},
		"serverInfo":      map[string]string{"name": b.name, "version": "1"},
	}, nil
}

// call runs a tool. An unknown tool is a protocol error; every other error is a result for the model.
func (b *Bridge) call(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(params, &p) != nil || p.Name == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "expected params.name, a text, and params.arguments, an object"}
	}
	if len(p.Arguments) == 0 || string(p.Arguments) == "null" {
		p.Arguments = json.RawMessage("{}")
	}
	if p.Arguments[0] != '{' {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params.arguments: expected an object"}
	}
	r, err := b.set.Call(ctx, p.Name, p.Arguments)
	switch {
	case errors.Is(err, errNoTool):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: formatError(err)}
	case err != nil:
		return failed(formatError(err)), nil
	case !isList(r.Content):
		return failed("the tool answered with something else than a list of blocks"), nil
	}
	return r, nil
}

func isList(content json.RawMessage) bool {
	content = bytes.TrimSpace(content)
	return len(content) > 0 && content[0] == '[' && json.Valid(content)
}

// formatError formats an error with its hint as one line.
func formatError(err error) string {
	text := oneLine(err.Error(), 4<<10)
	if hint := sandbox.HintOf(err); hint != "" {
		text += "; hint: " + oneLine(hint, 1<<10)
	}
	return text
}

// encodeReply returns the reply to a request.
func encodeReply(id jsonrpc.ID, result any, err error) json.RawMessage {
	var raw json.RawMessage
	if err == nil {
		raw, err = marshal(result)
	}
	if err == nil {
		return encode(id, raw, nil)
	}
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the answer cannot be written"}
	}
	return encode(id, nil, wire)
}

// rejectMessage returns the reply to data that is not a request, and whose ID is unknown.
func rejectMessage(code int64, text string) answering {
	return func() json.RawMessage { return encode(jsonrpc.ID{}, nil, &jsonrpc.Error{Code: code, Message: text}) }
}

// encode encodes a reply, with "id": null if the ID is unknown.
func encode(id jsonrpc.ID, result json.RawMessage, fault *jsonrpc.Error) json.RawMessage {
	out, err := marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      any             `json:"id"`
		Result  json.RawMessage `json:"result,omitempty"`
		Error   *jsonrpc.Error  `json:"error,omitempty"`
	}{"2.0", id.Raw(), result, fault})
	if err != nil {
		return json.RawMessage(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be written"}}`)
	}
	return out
}
