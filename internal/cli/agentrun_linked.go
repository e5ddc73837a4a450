//go:build agent

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/model"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// hooksProgram runs the hooks of assistants. It is a program of its own because its JavaScript interpreter calls methods
// by name, which would keep the linker from leaving out the unused methods of this one.
const hooksProgram = "agent-sandbox-hooks"

// sweepTime bounds the sweep of old workspaces that a request does at its end when one is due.
const sweepTime = 2 * time.Second

// maxPrompt is how much is read from standard input.
const maxPrompt = 64 << 20

// runAssistant asks an assistant, and prints what it answers.
func (a *app) runAssistant(ctx context.Context, name, prompt string, f runFlags) (err error) {
	h, err := locate(a.env, "")
	if err != nil {
		return err
	}
	request, end, err := a.assistantRequest(name, prompt, f)
	if err != nil {
		return err
	}
	defer end()
	root, err := a.assistants(f.root)
	if err != nil {
		return err
	}
	books, err := store.Open(ctx, stateDir(a.env, h.home), store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, books.Close()) }()
	p, closePipeline, err := a.pipeline(h, root, books, f)
	if err != nil {
		return err
	}
	defer closePipeline()
	ctx, stop := a.interruptible(ctx)
	defer stop()
	answer, err := a.asked(ctx, p, request, f)
	if _, _, sweep := books.SweepDue(context.WithoutCancel(ctx), sweepTime); sweep != nil {
		a.err.say("old workspaces are left: " + sweep.Error())
	}
	switch {
	case err != nil:
		return err
	case answer.Outcome == event.Interrupted:
		return exitStatus(sandbox.ExitInterrupted)
	case !answer.OK():
		return exitStatus(1)
	}
	return a.out.err
}

// interruptible ends the context at the first signal to end. The second one ends this process.
func (a *app) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	after := context.AfterFunc(ctx, func() {
		stop() // from now on a signal is a signal
		a.err.say("interrupting; once more to kill")
	})
	return ctx, func() { after(); stop() }
}

// asked runs the request and prints its events. On a terminal all of it goes there; else the answer goes to stdout, alone,
// and what is said about it to stderr.
func (a *app) asked(ctx context.Context, p *agent.Pipeline, r agent.Request, f runFlags) (agent.Answer, error) {
	if f.json {
		return a.askedJSON(ctx, p, r)
	}
	say := &agentPrinter{out: a.out, thinking: f.thinking}
	apart := !isTerminal(a.stdio.Stdout)
	if apart {
		say.out = a.stdio.Stderr
	}
	answer, err := p.Run(ctx, r, say.print)
	if answer.Run == "" {
		return answer, err
	}
	say.finish(answer.Response)
	a.err.say("chat " + answer.Chat)
	if apart {
		fmt.Fprintln(a.out, answer.Content)
	}
	if len(answer.Data) > 0 {
		fmt.Fprintln(a.out, printable(string(answer.Data)))
	}
	return answer, err
}

// askedJSON prints events as JSON lines, the answer last.
func (a *app) askedJSON(ctx context.Context, p *agent.Pipeline, r agent.Request) (agent.Answer, error) {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	answer, err := p.Run(ctx, r, func(e event.Event) { _ = enc.Encode(e) }) // the output keeps its error
	if answer.Run != "" {
		_ = enc.Encode(struct {
			Type     event.Kind   `json:"type"`
			Response agent.Answer `json:"response"`
		}{event.ResponseFolded, answer})
	}
	return answer, err
}

// assistantRequest reads what the user says. What it returns closes the files.
func (a *app) assistantRequest(name, prompt string, f runFlags) (r agent.Request, end func(), err error) {
	var open []io.Closer
	end = func() {
		for _, c := range open {
			_ = c.Close() // they were read
		}
	}
	if prompt == "-" { // standard input alone
		prompt = ""
	}
	if prompt == "" && !isTerminal(a.stdio.Stdin) || piped(a.stdio.Stdin) {
		data, err := io.ReadAll(io.LimitReader(a.stdio.Stdin, maxPrompt+1))
		if err != nil {
			return r, end, err
		}
		if len(data) > maxPrompt {
			return r, end, sandbox.Errorf(sandbox.Exhausted, "standard input has more than %s", sandbox.Bytes(maxPrompt)).WithHint("give it as a file: --attach FILE")
		}
		if len(data) > 0 && prompt != "" {
			prompt += "\n\n"
		}
		prompt += string(data)
	}
	if prompt == "" && len(f.attach) == 0 {
		return r, end, usageError("agent-sandbox agent run", "there is no prompt, neither as an argument nor on standard input")
	}
	r = agent.Request{User: f.user, Chat: f.chat, Assistant: name, Prompt: message.New(message.User, prompt), Locale: f.locale, Wait: f.wait}
	if f.work != "" {
		if r.Workspace, err = workDir(f.work); err != nil {
			return r, end, err
		}
	}
	for _, name := range f.attach {
		file, err := os.Open(name)
		if err != nil {
			end()
			return r, end, err
		}
		open = append(open, file)
		r.Files = append(r.Files, agent.File{Name: filepath.Base(name), Content: file})
	}
	return r, end, nil
}

// piped reports whether input is a pipe or a file, so that somebody means it to be read beside a prompt. A socket, as some
// services have it for standard input, may never end.
func piped(in any) bool {
	f, ok := in.(*os.File)
	if !ok || f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// pipeline puts together what assistants need. What it returns closes that.
func (a *app) pipeline(h host, root *assistant.Root, books *store.Store, f runFlags) (*agent.Pipeline, func(), error) {
	worker, err := programBeside(hooksProgram)
	if err != nil {
		return nil, nil, err
	}
	engine, err := hook.New(hook.Options{Worker: []string{worker}, Idle: 1})
	if err != nil {
		return nil, nil, err
	}
	keys := &connector.Keys{Env: a.env, Home: h.home}
	models := model.New(model.Options{Keys: keys})
	servers := mcp.NewSessions(mcp.SessionsOptions{Options: mcp.Options{Env: a.env, Version: currentBuild().Version}})
	p := agent.New(agent.Options{
		Assistants: root, Store: books, Keys: keys, Models: models, Servers: servers, Hooks: engine,
		Walls:   func(s *assistant.Assistant) (sandbox.Driver, sandbox.Spec, error) { return a.walls(h, s, f.backend) },
		Program: func(name string) (args, dirs []string, err error) { return a.agentProgram(name) },
	})
	return p, func() {
		servers.Close()
		_ = models.Close() // connections that nobody uses
		_ = engine.Close() // workers are killed
	}, nil
}

// walls are what the user's configuration says of sandboxes, and the backend that the flag, the assistant or the
// configuration names, in this order.
func (a *app) walls(h host, s *assistant.Assistant, backend string) (sandbox.Driver, sandbox.Spec, error) {
	layers, err := policy.Load(policy.Sources{Home: h.home, ConfigHome: lookup(a.env, "XDG_CONFIG_HOME"), Trust: &policy.Trust{Dir: h.trustDir()}})
	if err != nil {
		return nil, sandbox.Spec{}, err
	}
	if backend == "" {
		backend = s.Sandbox.Backend
	}
	if backend == "" {
		backend = backendOf(layers)
	}
	d, err := newDriver(backend, h, hooks{})
	return d, sandbox.Spec{Home: h.home, Env: a.env, Layers: layers}, err
}

// programs are the agents as they are called on this host.
var programs = map[string]string{"cursor": "cursor-agent"}

// agentProgram finds an agent on this host: the file itself, through all links, and the directory that it is in. One that is
// a script of node's needs that, too.
func (a *app) agentProgram(name string) (args, dirs []string, err error) {
	if other, ok := programs[name]; ok {
		name = other
	}
	found, err := a.lookPath(name)
	if err != nil {
		return nil, nil, sandbox.Errorf(sandbox.NotFound, "%s is not installed on this host", name).
			WithHint("install it, or take a backend whose image has it: --backend docker")
	}
	dirs = []string{filepath.Dir(found)}
	if node, err := a.lookPath("node"); err == nil && isScript(found) {
		return []string{node, found}, append(dirs, filepath.Dir(node)), nil
	}
	return []string{found}, dirs, nil
}

// lookPath finds a program in the PATH of this process, and what it is a link to.
func (a *app) lookPath(name string) (string, error) {
	found, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(found)
}

// isScript reports whether a file begins with #!.
func isScript(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var first [2]byte
	_, err = io.ReadFull(f, first[:])
	return err == nil && string(first[:]) == "#!"
}
