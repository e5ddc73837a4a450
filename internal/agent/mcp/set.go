package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// separator separates a server's ID from the name of its tool.
const separator = "__"

// maxServers is the number of servers that a set may have.
const maxServers = 64

// Options configure the start of servers.
type Options struct {
	Env     []string // this process's environment, "K=V": what "$ENV.NAME" refers to, and where PATH, HOME and the like come from; nil: empty
	Version string   // of this program, sent to servers; "": none
}

// Set has the tools of some servers. It is safe for concurrent use.
type Set struct{ servers []*server }

var _ tool.Set = (*Set)(nil)

// Open starts servers, which live until Close, and returns when all have listed their tools; ctx bounds only that. When one
// fails, Open ends the others and returns an error with its name. Without servers the set is empty.
func Open(ctx context.Context, servers []tool.Server, o Options) (*Set, error) {
	if err := checkServers(servers); err != nil {
		return nil, err
	}
	set := &Set{}
	for _, s := range servers {
		set.servers = append(set.servers, newServer(s, o))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range set.servers {
		all.Go(func() {
			if _, err := s.lives(ctx); err != nil {
				errs[i] = s.named(err)
				cancel() // the others are not needed
			}
		})
	}
	all.Wait()
	err := firstError(errs)
	if err == nil {
		_, err = set.List(ctx)
	}
	if err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

// firstError returns the error that is not the consequence of another.
func firstError(errs []error) error {
	var out error
	for _, err := range errs {
		if err != nil && (out == nil || sandbox.CodeOf(out) == sandbox.Canceled) {
			out = err
		}
	}
	return out
}

// checkServers rejects servers without a valid ID or address.
func checkServers(servers []tool.Server) error {
	if len(servers) > maxServers {
		return sandbox.Errorf(sandbox.Invalid, "%d servers, %d are possible", len(servers), maxServers)
	}
	seen := map[string]bool{}
	for _, s := range servers {
		odd := strings.ContainsFunc(s.ID, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
		})
		switch {
		case s.ID == "" || len(s.ID) > 64 || odd:
			return sandbox.Errorf(sandbox.Invalid, "%.100q cannot be the ID of a server", s.ID).WithHint("1 to 64 letters, digits, '-' and '_'")
		case seen[s.ID]:
			return sandbox.Errorf(sandbox.Invalid, "two servers are called %s", s.ID)
		case (len(s.Command) == 0 || s.Command[0] == "") == (s.URL == ""):
			return sandbox.Errorf(sandbox.Invalid, "server %s: expected a command or a url", s.ID)
		case s.Timeout < 0:
			return sandbox.Errorf(sandbox.Invalid, "server %s: timeout: %s is less than nothing", s.ID, s.Timeout)
		}
		seen[s.ID] = true
	}
	return nil
}

// named adds the server's name to an error.
func (s *server) named(err error) error {
	if err == nil {
		return nil
	}
	return &sandbox.Error{Code: sandbox.CodeOf(err), Hint: sandbox.HintOf(err), Err: fmt.Errorf("server %s: %w", s.ID, err)}
}

// List returns the tools of all servers, named SERVER__TOOL, in the servers' order. It restarts a server that has ended.
func (s *Set) List(ctx context.Context) ([]tool.Tool, error) {
	var out []tool.Tool
	seen := map[string]bool{}
	for _, one := range s.servers {
		l, err := one.lives(ctx)
		if err != nil {
			return nil, one.named(err)
		}
		l.mu.Lock()
		tools := l.tools
		l.mu.Unlock()
		for _, t := range tools {
			t.Name = one.ID + separator + t.Name
			if seen[t.Name] {
				return nil, one.named(sandbox.Errorf(sandbox.Invalid, "two tools are called %s", t.Name).WithHint("give a server another ID"))
			}
			seen[t.Name] = true
			out = append(out, t)
		}
	}
	return out, nil
}

// Call calls a tool by its name in List. NotFound: unknown tool. Timeout: it exceeded its server's time.
// Unavailable: its server has ended or broke the protocol; the next call starts it again, a few times a minute.
func (s *Set) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	if len(arguments) > 0 && !json.Valid(arguments) {
		return tool.Result{}, sandbox.Errorf(sandbox.Invalid, "invalid arguments of %.200q; expected JSON", name)
	}
	for _, one := range s.servers {
		bare, ok := strings.CutPrefix(name, one.ID+separator)
		if !ok {
			continue
		}
		l, err := one.lives(ctx)
		if err != nil {
			return tool.Result{}, one.named(err)
		}
		if !l.has(bare) {
			continue
		}
		r, err := l.call(ctx, one.Server, bare, arguments)
		return r, one.named(err)
	}
	return tool.Result{}, noTool(name)
}

var errNoTool = errors.New("there is no such tool")

func noTool(name string) error {
	return sandbox.Errorf(sandbox.NotFound, "%.200q: %w", name, errNoTool)
}

// has reports whether a tool is offered.
func (l *live) has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// Close ends the servers with all their processes, and waits until they are gone. Running calls
// fail; later ones are Closed. A second call does nothing.
func (s *Set) Close() {
	var all sync.WaitGroup
	for _, one := range s.servers {
		all.Go(one.end)
	}
	all.Wait()
}
