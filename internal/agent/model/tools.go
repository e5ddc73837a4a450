package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxOutput bounds the part of a tool's output that the model gets, in bytes.
const maxOutput = 256 << 10

// maxTools bounds the tools of a request; OpenAI takes 128.
const maxTools = 512

// function is a tool in the form of the APIs.
type function struct {
	name        string // valid in all APIs
	real        string
	description string
	schema      map[string]any // of type object, with properties
}

// toolbox has the tools of a run. nil: none.
type toolbox struct {
	set  tool.Set
	list []function
}

// result is the outcome of a tool call, for the model.
type result struct {
	id     string
	text   string
	failed bool
}

func newToolbox(ctx context.Context, set tool.Set) (*toolbox, error) {
	if set == nil {
		return nil, nil
	}
	tools, err := set.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(tools) > maxTools {
		return nil, invalid("tools: %d tools; at most %d are supported", len(tools), maxTools)
	}
	box, taken := &toolbox{set: set}, map[string]bool{}
	for _, t := range tools {
		name := fitName(t.Name)
		if taken[name] {
			return nil, invalid("tools: %q has the same name as another tool", clip(t.Name, 100))
		}
		taken[name] = true
		schema := map[string]any{}
		if len(t.Schema) > 0 && (json.Unmarshal(t.Schema, &schema) != nil || schema == nil) {
			return nil, sandbox.Errorf(sandbox.Invalid, "tools: the schema of %q is not a JSON object", clip(t.Name, 100))
		}
		schema["type"] = "object"
		if _, ok := schema["properties"].(map[string]any); !ok {
			schema["properties"] = map[string]any{} // OpenAI demands them
		}
		box.list = append(box.list, function{name, t.Name, strings.ToValidUTF8(t.Description, "\uFFFD"), schema})
	}
	return box, nil
}

// fitName returns a name that all APIs accept: at most 64 letters, digits, '-' and '_'. A changed name ends with a hash, so
// that two names stay different.
func fitName(name string) string {
	fit := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if fit == name && len(fit) > 0 && len(fit) <= 64 {
		return fit
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("%s_%08x", fit[:min(len(fit), 55)], h.Sum32())
}

// functions returns the tools in their order.
func (b *toolbox) functions() []function {
	if b == nil {
		return nil
	}
	return b.list
}

// names returns the tools' own names.
func (b *toolbox) names() []string {
	var out []string
	for _, f := range b.functions() {
		out = append(out, f.real)
	}
	return out
}

// find returns the tool with a name of the API.
func (b *toolbox) find(name string) (function, bool) {
	for _, f := range b.functions() {
		if f.name == name {
			return f, true
		}
	}
	return function{real: name}, false
}

// use runs the tool calls of an answer, some at once, and reports the start and the end of each. It returns when all have
// ended, with the results in the order of the calls.
func (r *run) use(ctx context.Context, message string, uses []*block) []result {
	results := make([]result, len(uses))
	ended := make(chan int, len(uses))
	room := make(chan struct{}, r.c.opt.Parallel)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, u := range uses {
		f, _ := r.tools.find(u.name)
		input, fine := argumentsOf(u)
		if !fine {
			input = json.RawMessage(quoteText(u.text.String()))
		}
		r.yield(event.Event{Kind: event.ToolStarted, Message: message, Tool: &event.Tool{ID: u.id, Name: f.real, Input: input}})
		wg.Go(func() {
			room <- struct{}{}
			results[i] = r.tools.run(ctx, u)
			<-room
			ended <- i
		})
	}
	for range uses {
		i := <-ended
		f, _ := r.tools.find(uses[i].name)
		r.yield(event.Event{Kind: event.ToolFinished, Tool: &event.Tool{
			ID: uses[i].id, Name: f.real, Output: results[i].text, Failed: results[i].failed,
		}})
	}
	return results
}

// run runs one tool call. Its errors go to the model, which can correct the call.
func (b *toolbox) run(ctx context.Context, u *block) result {
	failed := func(format string, args ...any) result { return result{u.id, fmt.Sprintf(format, args...), true} }
	f, ok := b.find(u.name)
	arguments, fine := argumentsOf(u)
	switch {
	case ctx.Err() != nil:
		return failed("interrupted")
	case !ok:
		return failed("unknown tool %q; the tools are: %s", clip(u.name, 100), clip(strings.Join(b.names(), ", "), 4<<10))
	case !fine:
		return failed("the arguments are not one JSON object: %s", clip(u.text.String(), maxFault))
	}
	res, err := b.set.Call(ctx, f.real, arguments)
	if err != nil {
		return failed("%s", clip(err.Error(), 4<<10))
	}
	text := res.Text()
	if n := len(text) - maxOutput; n > 0 {
		text = fmt.Sprintf("%s\n[%d more bytes were left out]", clip(text, maxOutput), n)
	}
	return result{u.id, strings.ToValidUTF8(text, "\uFFFD"), res.Failed}
}

// argumentsOf returns the arguments of a call, a JSON object; {} and false when they are something else. No arguments are {}.
func argumentsOf(u *block) (json.RawMessage, bool) {
	data := bytes.TrimSpace([]byte(u.text.String()))
	if len(data) == 0 {
		return json.RawMessage("{}"), true
	}
	if data[0] != '{' || !json.Valid(data) {
		return json.RawMessage("{}"), false
	}
	return data, true
}
