//go:build memory || agent

package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/internal/cli/changes"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// conversation is an interactive session of a user at a terminal.
type conversation struct {
	app        *console.App
	session    *virtual.Session
	memory     memory
	typed      *keyboard
	editor     *term.Terminal
	saved      map[string]*shell.State
	ran        []ran // the last commands, at most maxRan
	count      int   // of all commands
	spent      time.Duration
	interrupts chan os.Signal // SIGINT while the terminal is not in raw mode, at most one
	lastTab    string         // the text that the last Tab could not complete; a second Tab lists the choices
}

// ran is a command that was run.
type ran struct {
	text   string
	status int
	took   time.Duration
}

// maxRan is the number of commands that :history lists.
const maxRan = 1000

func newConversation(a *console.App, s *virtual.Session, m memory) (*conversation, error) {
	typed, err := newKeyboard()
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Unavailable, "the terminal cannot be opened: %w", err)
	}
	c := &conversation{app: a, session: s, memory: m, typed: typed, saved: map[string]*shell.State{}, interrupts: make(chan os.Signal, 1)}
	c.newEditor()
	return c, nil
}

// newEditor discards the current line and preserves the history.
func (c *conversation) newEditor() {
	old := c.editor
	c.editor = term.NewTerminal(keys{c.typed}, "")
	c.editor.AutoCompleteCallback = c.complete
	if old != nil {
		c.editor.History = old.History
	}
}

func (c *conversation) close() error { return c.typed.Close() }

// run reads and runs commands until exit, Ctrl-D or the end of ctx, and returns the shell's status.
func (c *conversation) run(ctx context.Context) (int, error) {
	signal.Notify(c.interrupts, os.Interrupt)
	defer signal.Stop(c.interrupts)
	c.app.Err.Say("in memory; changes are dropped at the end unless applied: :help lists the commands")
	status := 0
	for ctx.Err() == nil {
		text, err := c.read(ctx)
		switch {
		case errors.Is(err, errInterrupted):
			status = 130
			c.session.SetStatus(status)
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(c.app.Stdio.Stderr, "exit")
			return status, nil
		case err != nil:
			return status, sandbox.Errorf(sandbox.Unavailable, "the terminal: %w", err)
		}
		if word, rest, ok := strings.Cut(strings.TrimSpace(text)+" ", " "); ok && strings.HasPrefix(word, ":") && len(word) > 1 {
			c.command(ctx, word[1:], strings.TrimSpace(rest))
			continue
		}
		res, err := c.execute(ctx, text)
		if err != nil {
			return status, err
		}
		if status = res.Status; res.Exited {
			return status, nil
		}
	}
	return status, ctx.Err()
}

var errInterrupted = errors.New("interrupted")

// read reads a whole command, which may span several lines.
func (c *conversation) read(ctx context.Context) (string, error) {
	text, prompt := "", c.session.Value(ctx, "${PS1@P}")
	if prompt == "" {
		prompt = "(memory) " + c.session.Value(ctx, `${PWD/#$HOME/"~"}`) + "$ "
	}
	for {
		line, err := c.line(prompt)
		if err != nil {
			return "", err
		}
		text += line + "\n"
		if !shell.Incomplete(text) {
			return text, nil
		}
		if prompt = c.session.Value(ctx, "${PS2@P}"); prompt == "" {
			prompt = "> "
		}
	}
}

// line reads one line; only meanwhile the terminal is in raw mode.
func (c *conversation) line(prompt string) (string, error) {
	old, err := c.typed.raw()
	if err != nil {
		return "", err
	}
	defer term.Restore(c.typed.fd, old) //nolint:errcheck // Nothing better could be done.
	if columns, rows, err := term.GetSize(c.typed.fd); err == nil && columns > 0 {
		_ = c.editor.SetSize(columns, rows) // the size only affects drawing
	}
	c.typed.interrupted = false
	c.editor.SetPrompt(prompt)
	// A signal since the last command, before the terminal was in raw mode, is a key that the editor reads, before all others if
	// it has arrived already.
	press := func() {
		c.typed.drop()
		c.typed.Unread([]byte{3})
	}
	select {
	case <-c.interrupts:
		press()
	default:
	}
	stop := c.onInterrupt(press)
	line, err := c.editor.ReadLine()
	stop()
	if errors.Is(err, io.EOF) && c.typed.interrupted {
		_, _ = io.WriteString(c.typed, "^C\r\n")
		c.newEditor()
		return "", errInterrupted
	}
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, err
}

// onInterrupt calls f at the next interrupt, unless stop is called before. stop waits for f and reports whether it was called.
func (c *conversation) onInterrupt(f func()) (stop func() bool) {
	ended, called := make(chan struct{}), make(chan bool)
	go func() {
		select {
		case <-c.interrupts:
			f()
			called <- true
		case <-ended:
			called <- false
		}
	}()
	return func() bool {
		close(ended)
		return <-called
	}
}

// execute runs a typed command. Ctrl-C ends the command and not this process.
func (c *conversation) execute(ctx context.Context, text string) (shell.Result, error) {
	ctx, stopSignals := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stopSignals()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := c.onInterrupt(cancel)
	stdio := c.app.Stdio
	stdio.Stdin = c.typed
	began := time.Now()
	res, err := c.session.Run(ctx, text, stdio)
	if stop() && err == nil { // the command had ended
		select {
		case c.interrupts <- os.Interrupt:
		default:
		}
	}
	c.typed.reclaim()
	defer func() { c.remember(ran{strings.TrimSpace(text), res.Status, time.Since(began)}) }()
	if err != nil {
		select {
		case <-c.interrupts: // a second one
		default:
		}
		c.typed.drop()
		fmt.Fprintln(c.app.Stdio.Stderr)
		res.Status, res.Exited = 130, false
		c.session.SetStatus(res.Status)
	}
	if res.Limit != nil {
		c.app.Err.Say(res.Limit.Error())
	}
	return res, nil
}

// remember adds a command to the history.
func (c *conversation) remember(r ran) {
	if r.text == "" {
		return
	}
	c.count++
	c.spent += r.took
	if len(c.ran) == maxRan {
		c.ran = c.ran[1:]
	}
	c.ran = append(c.ran, r)
}

// printHistory prints the last commands with their exit statuses and times.
func (c *conversation) printHistory() {
	for i, r := range c.ran {
		fmt.Fprintf(c.app.Out, "%4d  status %d, %s: %s\n", c.count-len(c.ran)+i+1, r.status, r.took.Round(time.Microsecond), console.Escape(r.text))
	}
}

// printStats prints what the sandbox takes, and its limits.
func (c *conversation) printStats() {
	u := c.session.Usage()
	fmt.Fprintf(c.app.Out, "files: %s of %s, one at most %s\n", sandbox.Bytes(u.Bytes), sandbox.Bytes(u.Limits.Bytes), sandbox.Bytes(u.Limits.FileBytes))
	fmt.Fprintf(c.app.Out, "nodes: %d of %d\n", u.Nodes, u.Limits.Nodes)
	fmt.Fprintf(c.app.Out, "commands: %d in %s\n", c.count, c.spent.Round(time.Microsecond))
}

// command runs a line in the sandbox.
func (c *conversation) command(ctx context.Context, name, arg string) {
	var err error
	switch name {
	case "diff":
		err = c.printChanges()
	case "apply":
		err = c.apply(ctx)
	case "discard":
		err = c.memory.workspace.Discard()
	case "stats":
		c.printStats()
	case "history":
		c.printHistory()
	case "snapshot":
		c.saved[arg] = c.session.Save()
	case "restore":
		err = c.restore(arg)
	default:
		fmt.Fprintln(c.app.Stdio.Stderr, ":diff :apply :discard :snapshot [NAME] :restore [NAME] :stats :history")
	}
	if err != nil {
		c.app.Err.Print(err)
	}
}

func (c *conversation) restore(name string) error {
	state := c.saved[name]
	if state == nil {
		return sandbox.Errorf(sandbox.NotFound, "no snapshot %q: :snapshot makes one", name)
	}
	return c.session.Restore(state)
}

func (c *conversation) apply(ctx context.Context) error {
	done, err := c.memory.workspace.Apply(ctx, virtual.ApplyOptions{})
	changes.PrintFinished(c.app, done.Finished)
	for _, k := range done.Skipped {
		c.app.Err.Say(fmt.Sprintf("not applied: %s: %s: %s", patch.Quote(k.Path), k.Reason, console.Escape(k.Detail)))
	}
	if err == nil {
		c.app.Err.Say(console.Count(len(done.Changes), "change") + " applied")
	}
	return err
}

// complete handles Tab: it inserts the common prefix of all choices, and lists them the second time.
func (c *conversation) complete(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		c.lastTab = ""
		return "", 0, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	word, choices := c.session.Complete(ctx, line[:pos])
	common := commonPrefix(choices)
	switch {
	case len(choices) == 0:
		return line, pos, true
	case len(choices) == 1:
		if !strings.HasSuffix(common, "/") {
			common += " "
		}
	case common == word && c.lastTab == line:
		c.list(choices)
	}
	c.lastTab = line
	if len(common) < len(word) {
		return line, pos, true
	}
	done := line[:pos-len(word)] + common
	c.lastTab = done + line[pos:]
	return c.lastTab, len(done), true
}

// list prints choices above the line.
func (c *conversation) list(choices []string) {
	const most = 100
	more := ""
	if len(choices) > most {
		more = fmt.Sprintf("  and %d more", len(choices)-most)
		choices = choices[:most]
	}
	for i, s := range choices {
		choices[i] = console.Escape(s)
	}
	_, _ = fmt.Fprintf(c.editor, "%s%s\n", strings.Join(choices, "  "), more)
}

func commonPrefix(list []string) string {
	if len(list) == 0 {
		return ""
	}
	common := list[0]
	for _, s := range list[1:] {
		for !strings.HasPrefix(s, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}

// converseInMemory runs a session of the in-memory shell until its end. ok is false if the sandbox has no such shell.
func converseInMemory(ctx context.Context, a *console.App, f *execFlags, box *sandbox.Sandbox) (status int, ok bool, err error) {
	sessions, ok := sandbox.As[virtual.Sessions](box.Unwrap())
	if !ok {
		return 0, false, nil
	}
	status, err = converse(ctx, a, f, box, sessions)
	return status, true, err
}

// converse runs a session until its end, then applies or reports its changes.
func converse(ctx context.Context, a *console.App, f *execFlags, box *sandbox.Sandbox, sessions virtual.Sessions) (int, error) {
	session, err := sessions.NewSession(ctx)
	if err != nil {
		return 0, err
	}
	h, err := host.Locate(a.Env, f.Cwd)
	if err != nil {
		return 0, err
	}
	memory, err := memoryOf(box, h.Data, f.apply)
	if err != nil {
		return 0, err
	}
	c, err := newConversation(a, session, memory)
	if err != nil {
		session.Close()
		return 0, err
	}
	status, err := c.run(ctx)
	session.Close()
	if err = errors.Join(err, c.close()); err != nil {
		return status, err
	}
	done := printMemoryRemark(ctx, a, memory, f, 0)
	if code, ok := errors.AsType[console.ExitStatus](done); ok {
		return int(code), nil
	}
	return status, done
}

// printChanges implements :diff.
func (c *conversation) printChanges() error {
	list, err := c.memory.workspace.Changes()
	if err != nil {
		return err
	}
	for _, change := range list {
		fmt.Fprintf(c.app.Out, "%s\t%s\n", change.Kind, patch.Quote(change.Path))
	}
	return nil
}
