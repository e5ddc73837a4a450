package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// turn is one request to one assistant. close releases resources in reverse order.
type turn struct {
	pipeline *Pipeline
	request  Request
	emit     func(event.Event)
	closers  []func()

	assistant *assistant.Assistant
	connector connector.Connector
	executor  executor.Executor // nil: the model is called directly
	limit     time.Duration     // of the whole turn; 0: none

	chat    *store.Conversation
	run     *store.Running
	space   *store.Workspace // nil: none is needed
	home    string           // of the agent, inside the sandbox; "": it is not preserved
	box     *sandbox.Sandbox // nil: none is needed
	backend string

	script  *hook.Script // nil: the assistant has no hooks
	hooked  *hook.Request
	created hook.Created
	replied hook.Replied
	servers *mcp.Set // nil: none

	said    message.Message   // the user's message, as stored
	prompts []message.Message // the assistant's default prompts, or the preset that a hook selected
	asked   []message.Message // the messages for the model, without the assistant's prompts
	fold    event.Fold
	tools   []event.Tool // the finished uses of tools, for the Next hook
	program []string     // the agent's command line; nil: its name
	token   string       // the agent's placeholder for the key
	faults  faults
	shown   []store.Attachment // the pictures of the message, for an agent
	billed  *event.Response    // the usage counted by the broker; nil: use the agent's own report
	settled bool               // the run was booked
	stepped bool               // the model step has begun
	unasked bool               // the turn failed before the model step
}

func (t *turn) later(end func()) { t.closers = append(t.closers, end) }

func (t *turn) close() {
	for _, end := range slices.Backward(t.closers) {
		end()
	}
	t.closers = nil
}

// tell passes an event to the caller and adds it to the response.
func (t *turn) tell(e event.Event) {
	const most = 1000
	if e.Kind == event.ToolFinished && e.Tool != nil && len(t.tools) < most {
		t.tools = append(t.tools, *e.Tool)
	}
	t.fold.Add(e)
	t.emit(e)
}

// report emits an event for a step of the request.
func (t *turn) report(name, text string) {
	t.emit(event.NewNotice(event.NoticeStep, name, text))
}

// open acquires the resources of the request. It takes the chat first, because another request may hold it.
func (t *turn) open(ctx context.Context) error {
	a, err := t.pipeline.assistants.Load(t.request.Assistant)
	if err != nil {
		return err
	}
	if err := a.CheckTrust(); err != nil {
		return err
	}
	t.assistant, t.connector, t.prompts = a, *a.Connector, a.Prompts
	if id := t.request.Connector; id != "" {
		c, err := t.pipeline.assistants.Connector(id)
		if err != nil {
			return err
		}
		t.connector = *c
	}
	if a.Sandbox != nil {
		name := string(a.Sandbox.Command)
		if t.executor = t.pipeline.agents[name]; t.executor == nil {
			return sandbox.Errorf(sandbox.Unsupported, "unknown agent %q", name).WithHint("known agents: %s", t.pipeline.names())
		}
		t.limit = a.Sandbox.Timeout
	}
	for _, step := range []func(context.Context) error{t.converse, t.book, t.openWorkspace, t.isolate, t.compile, t.connect} {
		if err := step(ctx); err != nil {
			return t.fail(ctx, err)
		}
	}
	return nil
}

// converse acquires the chat.
func (t *turn) converse(ctx context.Context) error {
	chat, err := t.pipeline.store.Converse(ctx, store.Request{
		User: t.request.User, Chat: t.request.Chat, Assistant: t.assistant.Name, Wait: t.request.Wait,
	})
	if err != nil {
		return err
	}
	t.chat = chat
	t.later(func() { _ = chat.Close() })
	t.asked, err = chat.Messages(ctx)
	return err
}

// book begins the run, if the user's limits permit it.
func (t *turn) book(ctx context.Context) error {
	l := t.assistant.Limits
	run, err := t.pipeline.store.Begin(ctx, store.Run{
		User: t.request.User, Assistant: t.assistant.Name, Chat: t.chat.Chat().ID, Connector: t.connector.ID, Model: t.connector.Model,
		Executor: t.executorName(), ReserveTokens: l.TokensPerRequest, ReserveUSD: l.CostPerRequestUSD,
	}, store.Limits{Requests: l.ConcurrentRequests, Tokens: l.TokensPerDay, USD: l.CostPerDayUSD})
	if err != nil {
		return err
	}
	t.run = run
	t.later(func() { _ = run.Close() })
	return nil
}

func (t *turn) executorName() string {
	if t.executor == nil {
		return ""
	}
	return t.executor.Name()
}

// openWorkspace opens the chat's workspace, if the assistant needs one, and puts the attached files into it or into the
// message.
func (t *turn) openWorkspace(ctx context.Context) error {
	t.said = t.request.Prompt
	t.said.Parts = slices.Clone(t.said.Parts) // a directory of the caller is not removed
	if t.executor != nil {
		space, err := t.pipeline.store.OpenWorkspace(ctx, t.request.User, t.chat.Chat().ID, store.Limits{
			Workspaces: cmp.Or(t.assistant.Limits.Workspaces, DefaultWorkspaces),
		})
		if err != nil {
			return err
		}
		t.space = space
		t.later(func() {
			if t.unasked { // no agent has worked in it
				_ = space.Withdraw(context.WithoutCancel(ctx)) // CleanUp removes it later if this fails
				return
			}
			_ = space.Close()
		})
	}
	for _, f := range t.request.Files {
		if err := t.attach(ctx, f); err != nil {
			return err
		}
	}
	if t.space != nil {
		said, files, err := t.space.Place(ctx, t.said) // pictures and files of the message itself
		if err != nil {
			return err
		}
		t.said = said
		for _, f := range files {
			t.addPicture(f)
		}
	}
	t.asked = append(slices.Clip(t.asked), t.said)
	return nil
}

// compile compiles the hooks.
func (t *turn) compile(ctx context.Context) error {
	if t.assistant.Hooks == "" {
		return nil
	}
	if t.pipeline.hooks == nil {
		return sandbox.Errorf(sandbox.Unsupported, "the assistant %s has hooks, and Options.HooksWorker is not set", t.assistant.Name)
	}
	t.report("hooks", "compiling the hooks")
	// Files that changed since they were trusted are refused.
	script, err := t.pipeline.hooks.Compile(ctx, t.assistant.FS(), t.assistant.Hooks)
	if err != nil {
		return err
	}
	t.script = script
	t.hooked = t.hookRequest()
	return nil
}

// connect opens the MCP servers. The servers of a chat stay open for its next request.
func (t *turn) connect(ctx context.Context) error {
	if len(t.assistant.Servers) == 0 {
		return nil
	}
	if len(t.pipeline.functions.tools) > 0 && t.hasServer(ToolServer) {
		return sandbox.Errorf(sandbox.Invalid, "the assistant %s has an MCP server with the name %s, which is that of Options.Tools", t.assistant.Name, ToolServer).
			WithHint("give the server another ID")
	}
	t.report("servers", "starting the MCP servers")
	key := mcp.Key{User: t.request.User, Chat: t.chat.Chat().ID}
	set, release, err := t.pipeline.servers.Acquire(ctx, key, t.assistant.Servers)
	if err != nil {
		return err
	}
	t.servers = set
	t.later(release)
	return nil
}

// system returns the system prompts: the assistant's, the list of skills for a direct model, and more.
func (t *turn) system(more []string) []string {
	var out []string
	for _, m := range t.prompts {
		if text := m.Text(); strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	if t.assistant.Sandbox != nil {
		if text := appendedPrompt(t.assistant.Sandbox); text != "" {
			out = append(out, text)
		}
	} else if text := formatSkillPrompt(t.assistant.Skills); text != "" {
		out = append(out, text)
	}
	return append(out, more...)
}

// hasServer reports whether the assistant has an MCP server with this ID.
func (t *turn) hasServer(id string) bool {
	return slices.ContainsFunc(t.assistant.Servers, func(s tool.Server) bool { return s.ID == id })
}

// toolSet returns the tools that the Create hook selected; nil: none.
func (t *turn) toolSet() tool.Set {
	var set tool.Set
	if t.servers != nil {
		set = t.servers
	}
	if own := t.pipeline.functions; len(own.tools) > 0 {
		own.call = ToolCall{User: t.request.User, Chat: t.chat.Chat().ID, Assistant: t.assistant.Name}
		if set == nil {
			set = own
		} else {
			set = withFunctions{set, own}
		}
	}
	if set == nil {
		return nil
	}
	return chosen{set, t.created.MCPServers}
}

// response folds the events, and takes the usage from the broker if it counted any.
func (t *turn) response() event.Response {
	r := t.fold.Response()
	if t.billed != nil {
		r.Usage, r.Models, r.CostUSD, r.Estimated = t.billed.Usage, t.billed.Models, t.billed.CostUSD, t.billed.Estimated
	}
	// Not every agent reports that its model was unreachable.
	if err := t.faults.get(); err != nil && !r.OK() {
		r.Error += "; " + err.Error()
	}
	return r
}

// refusal returns the answer of a turn that failed with err.
func (t *turn) refusal(ctx context.Context, err error) Answer {
	a := t.answer()
	a.Outcome, a.Error = classifyFailure(ctx), err.Error()
	return a
}

// classifyFailure returns the outcome of a turn that failed.
func classifyFailure(ctx context.Context) event.Outcome {
	if errors.Is(ctx.Err(), context.Canceled) {
		return event.Interrupted
	}
	return event.Failed
}

func (t *turn) answer() Answer {
	a := Answer{Response: t.response(), Data: t.replied.Data}
	if t.run != nil {
		a.Run = t.run.ID
	}
	if t.chat != nil {
		a.Chat = t.chat.Chat().ID
	}
	for _, m := range []map[string]json.RawMessage{t.created.Metadata, t.replied.Metadata} {
		for k, v := range m {
			if a.Metadata == nil {
				a.Metadata = map[string]json.RawMessage{}
			}
			a.Metadata[k] = v
		}
	}
	return a
}

// finish stores the messages and books the usage.
func (t *turn) finish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookingTime)
	defer cancel()
	r := t.response()
	t.settled = true
	err := t.run.Finish(ctx, r)
	if r.Content == "" && !r.OK() {
		return err
	}
	return errors.Join(err, t.chat.Append(ctx, store.Turn{
		Messages: []message.Message{t.said, message.New(message.Assistant, r.Content)},
		Run:      t.run.ID, Session: t.session(r), Executor: t.executorName(),
	}))
}

// session returns the ID that resumes the chat, if the agent's home is preserved.
func (t *turn) session(r event.Response) string {
	if t.home == "" {
		return ""
	}
	return r.Session
}

// fail books a turn that failed.
func (t *turn) fail(ctx context.Context, err error) error {
	t.unasked = !t.stepped
	if t.run == nil || t.settled {
		return err
	}
	t.settled = true
	r := t.response()
	r.Outcome, r.Error = classifyFailure(ctx), err.Error()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookingTime)
	defer cancel()
	return errors.Join(err, t.run.Finish(ctx, r))
}
