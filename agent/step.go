package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
)

// step runs the model step: a direct call, or a coding agent.
func (t *turn) step(ctx context.Context) error {
	system, history, prompt, err := splitMessages(t.asked)
	if err != nil {
		return err
	}
	t.stepped = true
	if t.executor == nil {
		t.report("model", "asking "+t.connector.Model)
		return t.call(ctx, system)
	}
	t.report("model", "starting "+t.executor.Name()+" with "+t.connector.Model)
	return t.drive(ctx, t.system(system), history, prompt)
}

// call calls the model directly.
func (t *turn) call(ctx context.Context, system []string) error {
	o, l := t.assistant.Options, t.assistant.Limits
	r := model.Request{
		Connector: t.connector, System: t.system(system), Temperature: o.Temperature, TopP: o.TopP, MaxTokens: t.maxTokens(),
		Reasoning: o.Reasoning(), Tools: t.directTools(),
		Limits: model.Limits{Tokens: l.TokensPerRequest, CostUSD: l.CostPerRequestUSD},
	}
	for _, m := range t.asked {
		if m.Role != message.System {
			r.Messages = append(r.Messages, m)
		}
	}
	if t.created.Temperature != nil {
		r.Temperature = t.created.Temperature
	}
	for e, err := range t.pipeline.models.Stream(ctx, r) {
		if err != nil {
			return err
		}
		t.tell(e)
	}
	return nil
}

// maxTokens returns the limit on the tokens of an answer: the hook's, else the assistant's; 0: the connector's.
func (t *turn) maxTokens() int64 {
	if t.created.MaxTokens > 0 {
		return t.created.MaxTokens
	}
	return t.assistant.Options.MaxTokens
}

// drive runs an agent in the sandbox. It reaches the model through a broker of this process.
func (t *turn) drive(ctx context.Context, system []string, history []message.Message, prompt message.Message) error {
	task := executor.Task{
		System: system, History: history, Prompt: prompt, Program: t.program, Dir: t.dir(), Home: t.agentHome(),
		Arguments: collectArguments(t.assistant.Sandbox), Pictures: t.placedPictures(),
	}
	chat := t.chat.Chat()
	if t.home != "" && chat.Session != "" && chat.Executor == t.executor.Name() {
		task.Resume = chat.Session
	}
	var err error
	if task.Servers, err = t.offered(ctx); err != nil {
		return err
	}
	b, err := t.broker()
	if err != nil {
		return err
	}
	stop, err := t.serve(ctx, b, &task.Model)
	if err != nil {
		return errors.Join(err, b.Close())
	}
	err = t.executor.Run(ctx, t.box, task, t.tell)
	if err == nil && task.Resume != "" && len(b.Usage()) == 0 && t.fold.Response().Outcome != event.Success && ctx.Err() == nil {
		// The agent no longer has its session, and no request reached the model: send the history again.
		t.fold, task.Resume = event.Fold{}, ""
		t.tell(event.NewNotice(event.NoticeError, "session", "the agent's session is gone; it gets the history again"))
		err = t.executor.Run(ctx, t.box, task, t.tell)
	}
	stop()
	err = errors.Join(err, b.Close())
	t.bill(b)
	return err
}

// broker returns the broker between the agent and the connector.
func (t *turn) broker() (*broker.Broker, error) {
	l := t.assistant.Limits
	t.token = "placeholder-" + rand.Text()
	c := t.connector
	if n := t.maxTokens(); n > 0 {
		c.MaxTokens = n // of an answer, even if the agent asks for more
	}
	return broker.New(broker.Options{
		Models: map[string]connector.Connector{c.Model: c},
		Other:  &c, // agents use smaller models for minor tasks
		Keys:   t.pipeline.keys, Token: t.token,
		Limits: broker.Limits{Tokens: l.TokensPerRequest, CostUSD: l.CostPerRequestUSD},
		Log: func(e broker.Entry) {
			if e.Err != nil {
				t.faults.add(e.Err)
			}
		},
	})
}

// serve makes the broker reachable from the sandbox and sets at. The caller calls stop when the agent has
// ended.
func (t *turn) serve(ctx context.Context, b *broker.Broker, at *executor.Model) (stop func(), err error) {
	*at = executor.Model{Name: t.connector.Model, Token: t.token}
	var l net.Listener
	if t.executor.CanUseSockets() {
		at.URL, at.Socket = "http://localhost", "/tmp/.model-"+rand.Text()
		l, err = t.box.Listen(ctx, "unix:"+at.Socket)
	} else {
		const address = "127.0.0.1:4141"
		at.URL = "http://" + address
		l, err = t.box.Listen(ctx, address)
	}
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // the listener is closed, or the sandbox has ended
	}()
	return func() {
		_ = server.Close()
		<-served
	}, nil
}

// bill takes the usage from the broker, which counts what the owner of the key pays.
func (t *turn) bill(b *broker.Broker) {
	used := b.Usage()
	if len(used) == 0 {
		return
	}
	r := event.Response{Models: used}
	for _, m := range used {
		r.Usage = r.Usage.Add(m.Usage)
	}
	if t.connector.Price != nil {
		cost := b.CostUSD()
		r.CostUSD = &cost
	}
	t.billed = &r
}

// offered returns the MCP servers for the agent, each under its own name.
func (t *turn) offered(ctx context.Context) ([]executor.Server, error) {
	set := t.toolSet()
	if set == nil {
		return nil, nil
	}
	all, err := set.List(ctx)
	if err != nil {
		return nil, err
	}
	var out []executor.Server
	var ids []string
	for _, s := range t.assistant.Servers {
		ids = append(ids, s.ID)
	}
	if len(t.pipeline.functions.tools) > 0 {
		ids = append(ids, ToolServer)
	}
	for _, id := range ids {
		one := only{set, id + "__"}
		server := executor.Server{Name: id, Handle: mcp.NewBridge(id, one).Handle}
		for _, tool := range all {
			if name, ok := strings.CutPrefix(tool.Name, one.prefix); ok {
				server.Tools = append(server.Tools, name)
			}
		}
		if len(server.Tools) > 0 {
			out = append(out, server)
		}
	}
	return out, nil
}
