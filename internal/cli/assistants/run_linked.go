//go:build agent

package assistants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent"
	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// hooksProgram runs the hooks of assistants. It is a separate program because its JavaScript interpreter calls methods
// by name, which would prevent the linker from removing unused methods of this one.
const hooksProgram = "agent-sandbox-hooks"

// cleanUpTime limits a due removal of old workspaces after a request.
const cleanUpTime = 2 * time.Second

// maxPrompt is the number of bytes read from standard input.
const maxPrompt = 64 << 20

// runAssistant sends a request to an assistant and prints its answer.
func runAssistant(ctx context.Context, a *console.App, name, prompt string, f runFlags) (err error) {
	h, err := host.Locate(a.Env, "")
	if err != nil {
		return err
	}
	request, end, err := assistantRequest(a, name, prompt, f)
	if err != nil {
		return err
	}
	defer end()
	root, err := openRoot(a, f.root)
	if err != nil {
		return err
	}
	p, err := newPipeline(ctx, a, h, root, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	ctx, stop := interruptibleContext(ctx, a)
	defer stop()
	answer, err := printAnswer(ctx, a, p, request, f)
	if left := p.CleanUp(context.WithoutCancel(ctx), cleanUpTime); left != nil {
		a.Err.Say("old workspaces are left: " + left.Error())
	}
	switch {
	case err != nil:
		return err
	case answer.Outcome == event.Interrupted:
		return console.ExitStatus(sandbox.ExitInterrupted)
	case !answer.OK():
		return console.ExitStatus(1)
	}
	return a.Out.Err
}

// interruptibleContext ends the context at the first termination signal. The second one ends this process.
func interruptibleContext(ctx context.Context, a *console.App) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	after := context.AfterFunc(ctx, func() {
		stop() // the next signal has its default effect
		a.Err.Say("interrupting; once more to kill")
	})
	return ctx, func() { after(); stop() }
}

// printAnswer runs the request and prints its events. A terminal shows everything; otherwise only the answer goes to stdout
// and the rest to stderr.
func printAnswer(ctx context.Context, a *console.App, p *agent.Pipeline, r agent.Request, f runFlags) (agent.Answer, error) {
	if f.json {
		return printAnswerJSON(ctx, a, p, r)
	}
	say := &agentPrinter{out: a.Out, thinking: f.thinking, verbose: f.verbose}
	apart := !console.IsTerminal(a.Stdio.Stdout)
	if apart {
		say.out = a.Stdio.Stderr
	}
	answer, err := p.Run(ctx, r, say.print)
	if answer.Run == "" || err != nil && answer.Usage == (event.Usage{}) && answer.Content == "" {
		return answer, err // it was refused, and the error says why
	}
	say.finish(answer.Response)
	a.Err.Say("chat " + answer.Chat)
	if answer.DelegateChat != "" {
		a.Err.Say(fmt.Sprintf("%s answered, in its chat %s", answer.Assistant, answer.DelegateChat))
	}
	if apart {
		fmt.Fprintln(a.Out, answer.Content)
	}
	if len(answer.Data) > 0 {
		fmt.Fprintln(a.Out, console.Escape(string(answer.Data)))
	}
	return answer, err
}

// printAnswerJSON prints events as JSON lines, the answer last.
func printAnswerJSON(ctx context.Context, a *console.App, p *agent.Pipeline, r agent.Request) (agent.Answer, error) {
	enc := a.NewEncoder()
	answer, err := p.Run(ctx, r, func(e event.Event) { _ = enc.Encode(e) }) // the output remembers its error
	if answer.Run != "" {
		_ = enc.Encode(struct {
			Type     event.Kind   `json:"type"`
			Response agent.Answer `json:"response"`
		}{event.ResponseFolded, answer})
	}
	return answer, err
}

// assistantRequest reads the user's prompt and files. The returned function closes the files.
func assistantRequest(a *console.App, name, prompt string, f runFlags) (r agent.Request, end func(), err error) {
	var open []io.Closer
	end = func() {
		for _, c := range open {
			_ = c.Close() // they were only read
		}
	}
	if prompt == "-" { // standard input alone
		prompt = ""
	}
	if prompt == "" && !console.IsTerminal(a.Stdio.Stdin) || isPiped(a.Stdio.Stdin) {
		data, err := io.ReadAll(io.LimitReader(a.Stdio.Stdin, maxPrompt+1))
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
		return r, end, console.UsageError("agent-sandbox agent run", "no prompt: expected an argument or standard input")
	}
	r = agent.Request{User: f.user, Chat: f.chat, Assistant: name, Prompt: message.New(message.User, prompt), Locale: f.locale, Wait: f.wait}
	r.Connector = strings.ReplaceAll(f.connector, "/", ".")
	if f.work != "" {
		if r.Workspace, err = host.WorkDir(f.work); err != nil {
			return r, end, err
		}
	}
	for _, name := range f.attach {
		file, err := hostfile.Open(name, os.O_RDONLY, 0, host.WritableHere(a))
		if err != nil {
			end()
			return r, end, err
		}
		open = append(open, file)
		r.Files = append(r.Files, agent.File{Name: filepath.Base(name), Content: file})
	}
	return r, end, nil
}

// isPiped reports whether input is a pipe or a file, which is read in addition to a prompt. It returns false for a socket: some
// services have one as standard input, and it may never end.
func isPiped(in any) bool {
	f, ok := in.(*os.File)
	if !ok || f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// newPipeline opens this user's pipeline. The caller closes it.
func newPipeline(ctx context.Context, a *console.App, h host.Host, root *assistant.Root, f runFlags) (*agent.Pipeline, error) {
	worker, err := program.Beside(hooksProgram)
	if err != nil {
		return nil, err
	}
	settings, err := assistantSettings(a, h)
	if err != nil {
		return nil, err
	}
	return agent.New(ctx, agent.Options{
		WorkspaceRetention: time.Duration(settings.WorkspaceRetention), CleanupSchedule: settings.CleanupSchedule,
		Assistants: root, StateDir: stateDir(a.Env, h.Home), Env: a.Env, Home: h.Home, HooksWorker: []string{worker},
		Isolation: func(s *assistant.Assistant) (sandbox.Driver, sandbox.Spec, error) {
			return isolationOf(a, h, s, f.backend)
		},
		Version: console.CurrentBuild().Version,
	})
}

// userLayers reads the user's own configuration.
func userLayers(a *console.App, h host.Host) ([]sandbox.Layer, error) {
	return policy.Load(policy.Sources{Home: h.Home, ConfigHome: console.Lookup(a.Env, "XDG_CONFIG_HOME"), Trust: &policy.Trust{Dir: h.TrustDir()}})
}

// assistantSettings returns what the user's configuration says about the state of assistants.
func assistantSettings(a *console.App, h host.Host) (sandbox.Assistants, error) {
	layers, err := userLayers(a, h)
	if err != nil {
		return sandbox.Assistants{}, err
	}
	var out sandbox.Assistants
	for _, l := range layers {
		out.WorkspaceRetention = cmp.Or(l.Policy.Assistants.WorkspaceRetention, out.WorkspaceRetention)
		out.CleanupSchedule = cmp.Or(l.Policy.Assistants.CleanupSchedule, out.CleanupSchedule)
	}
	return out, nil
}

// chosenBackend returns the backend that a flag, the assistant or the configuration names, in this order. An image without a
// backend needs one that has images: that of the configuration if it is such a one, else docker.
func chosenBackend(s *assistant.Sandbox, flag, configured string) string {
	backend := cmp.Or(flag, s.Backend)
	if backend == "" && s.Image != "" && configured != host.Kube {
		return host.Docker
	}
	return cmp.Or(backend, configured, host.Default)
}

// isolationOf returns the sandbox settings of the user's configuration, and the chosen backend.
func isolationOf(a *console.App, h host.Host, s *assistant.Assistant, backend string) (sandbox.Driver, sandbox.Spec, error) {
	layers, err := userLayers(a, h)
	if err != nil {
		return nil, sandbox.Spec{}, err
	}
	backend = chosenBackend(s.Sandbox, backend, host.ConfiguredBackend(layers))
	image := cmp.Or(s.Sandbox.Image, agent.DefaultImage(string(s.Sandbox.Command)))
	d, err := host.NewDriver(backend, h, host.DriverOptions{Image: image})
	return d, sandbox.Spec{Home: h.Home, Env: a.Env, Layers: layers}, err
}
