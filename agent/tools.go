package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// chosen is a set restricted to the servers that a Create hook selected; nil: all.
type chosen struct {
	tool.Set
	servers []hook.Server
}

func (c chosen) has(name string) bool {
	if c.servers == nil {
		return true
	}
	return slices.ContainsFunc(c.servers, func(s hook.Server) bool {
		own, ok := strings.CutPrefix(name, s.ID+"__")
		return ok && (s.Tools == nil || slices.Contains(s.Tools, own))
	})
}

// List implements [tool.Set].
func (c chosen) List(ctx context.Context) ([]tool.Tool, error) {
	all, err := c.Set.List(ctx)
	return slices.DeleteFunc(slices.Clone(all), func(t tool.Tool) bool { return !c.has(t.Name) }), err
}

// Call implements [tool.Set].
func (c chosen) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	if !c.has(name) {
		return tool.Result{}, sandbox.Errorf(sandbox.NotFound, "unknown tool %q", name)
	}
	return c.Set.Call(ctx, name, arguments)
}

// only has the tools of one server of a set, without the prefix in their names.
type only struct {
	set    tool.Set
	prefix string
}

// List implements [tool.Set].
func (o only) List(ctx context.Context) ([]tool.Tool, error) {
	all, err := o.set.List(ctx)
	var out []tool.Tool
	for _, t := range all {
		if name, ok := strings.CutPrefix(t.Name, o.prefix); ok {
			t.Name = name
			out = append(out, t)
		}
	}
	return out, err
}

// Call implements [tool.Set].
func (o only) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	return o.set.Call(ctx, o.prefix+name, arguments)
}

// faults records the first error of the broker. An agent reports it in its own words, if at all.
type faults struct {
	mu    sync.Mutex
	first error
}

func (f *faults) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil {
		f.first = err
	}
}

func (f *faults) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first
}
