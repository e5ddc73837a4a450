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

// maxOutput is how much of what a tool says the model is told, in bytes.
const maxOutput = 256 << 10

// maxTools bounds the tools of a request; OpenAI takes 128.
const maxTools = 512

// function is a tool as the APIs are told of it.
type function struct {
	name        string // as the APIs take it
	real        string
	description string
	schema      map[string]any // of type object, with properties
}

// toolbox has the tools of a run. nil has none.
type toolbox struct {
	set  tool.Set
	list []function
}

// result is what a use of a tool came to, for the model.
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
		return nil, invalid("tools: %d are more than the %d that a model can be told of", len(tools), maxTools)
	}
	box, taken := &toolbox{set: set}, map[string]bool{}
	for _, t := range tools {
		name := fitting(t.Name)
		if taken[name] {
			return nil, invalid("tools: %q is there twice, or as good as", clip(t.Name, 100))
		}
		taken[name] = true
		schema := map[string]any{}
		if len(t.Schema) > 0 && (json.Unmarshal(t.Schema, &schema) != nil || schema == nil) {
			return nil, sandbox.Errorf(sandbox.Invalid, "tools: the schema of %q is no JSON object", clip(t.Name, 100))
		}
		schema["type"] = "object"
		if _, ok := schema["properties"].(map[string]any); !ok {
			schema["properties"] = map[string]any{} // OpenAI demands them
		}
		box.list = append(box.list, function{name, t.Name, strings.ToValidUTF8(t.Description, "\uFFFD"), schema})
	}
	return box, nil
}

// fitting is a name that all the APIs take: letters, digits, '-' and '_', up to 64. One that has to be cut ends with
// its hash, so that two of them stay two.
func fitting(name string) string {
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

// functions are the tools, in their order.
func (b *toolbox) functions() []function {
	if b == nil {
		return nil
	}
	return b.list
}

// names are the tools' own names, at most as many as a session tells.
func (b *toolbox) names() []string {
	var out []string
	for _, f := range b.functions() {
		out = append(out, f.real)
	}
	return out
}

// find is the tool that the API calls name.
func (b *toolbox) find(name string) (function, bool) {
	for _, f := range b.functions() {
		if f.name == name {
			return f, true
		}
	}
	return function{real: name}, false
}

// use runs the tools that an answer asks for, some at once, and tells of each when it starts and when it ends. It
// returns when all have ended, with the results in the order of the uses.
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
			input = json.RawMessage(quoted(u.text.String()))
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

// run uses one tool. Whatever is wrong with the use is told to the model, which can do better.
func (b *toolbox) run(ctx context.Context, u *block) result {
	failed := func(format string, args ...any) result { return result{u.id, fmt.Sprintf(format, args...), true} }
	f, ok := b.find(u.name)
	arguments, fine := argumentsOf(u)
	switch {
	case ctx.Err() != nil:
		return failed("interrupted")
	case !ok:
		return failed("there is no tool %q; the tools are: %s", clip(u.name, 100), clip(strings.Join(b.names(), ", "), 4<<10))
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

// argumentsOf are the arguments of a use, which are one JSON object; {} with false when they are not. Nothing is {}.
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
