package virtual

import (
	"bytes"
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Sessions is implemented by instances of this backend.
type Sessions interface {
	// NewSession returns an interactive shell, whose state lasts from one command to the next. The
	// caller closes it.
	NewSession(ctx context.Context) (*Session, error)
}

// Session is a shell on the tree of a sandbox. One call at a time.
type Session struct {
	instance *instance
	shell    *shell.Shell
	process  *process // its entry in the instance's list
}

// NewSession implements [Sessions].
func (i *instance) NewSession(ctx context.Context) (*Session, error) {
	if err := i.openNetwork(ctx); err != nil {
		return nil, err
	}
	s := &Session{instance: i, shell: i.newShell(nil, i.plan.Dir)}
	// It cannot fail in a new shell.
	_, _ = s.shell.Run(context.Background(), "shopt -s expand_aliases", shell.Stdio{})
	s.process = &process{instance: i, shell: s.shell, ended: make(chan struct{})}
	if err := i.add(s.process); err != nil {
		s.shell.Close()
		return nil, err
	}
	return s, nil
}

// Run runs a script. When ctx ends, its processes are killed, and the session continues.
func (s *Session) Run(ctx context.Context, text string, stdio sandbox.Stdio) (shell.Result, error) {
	return s.shell.RunScript(ctx, shell.Script{Text: text}, shell.Stdio{
		Stdin: wrapReader(stdio.Stdin), Stdout: wrapWriter(stdio.Stdout), Stderr: wrapWriter(stdio.Stderr),
	})
}

// Value returns what a word in double quotes expands to, such as "${PS1@P}".
func (s *Session) Value(ctx context.Context, word string) string {
	var out bytes.Buffer
	// On an error the value is empty: the user may have set any variable.
	_, _ = s.shell.RunScript(ctx, shell.Script{Text: `builtin printf %s "` + word + `"`, Aside: true}, shell.Stdio{Stdout: &out, Stderr: io.Discard})
	return out.String()
}

// Complete returns the last word of typed, and the words that complete it, sorted, directories with a
// slash at the end.
func (s *Session) Complete(ctx context.Context, typed string) (word string, choices []string) {
	from := strings.LastIndexAny(typed, " \t\n;|&(<>=:\"'") + 1
	word = typed[from:]
	before := strings.TrimRight(typed[:from], " \t\"'")
	kind := "-f"
	switch {
	case strings.HasPrefix(word, "$"):
		return word, s.generate(ctx, "-v -P '$'", strings.TrimPrefix(word, "$"))
	case (before == "" || strings.ContainsAny(before[len(before)-1:], ";|&(")) && !strings.Contains(word, "/"):
		kind = "-c"
	}
	choices = s.generate(ctx, kind, word)
	for i, c := range choices {
		if info, err := s.shell.FS().Stat(s.instance.user.Cred(), s.abs(c)); err == nil && info.IsDir() && kind == "-f" {
			choices[i] = c + "/"
		}
	}
	return word, choices
}

func (s *Session) generate(ctx context.Context, flags, word string) []string {
	var out bytes.Buffer
	script := shell.Script{Text: "builtin compgen " + flags + " -- " + shell.Quote(word), Aside: true}
	_, _ = s.shell.RunScript(ctx, script, shell.Stdio{Stdout: &out, Stderr: io.Discard})
	list := strings.Fields(out.String())
	slices.Sort(list)
	return slices.Compact(list)
}

func (s *Session) abs(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(s.shell.Dir(), name)
}

// SetStatus sets $? for the next command, 130 after one that a key interrupted.
func (s *Session) SetStatus(status int) { s.shell.SetStatus(status) }

// Usage returns what the files of the sandbox take, the system's own included.
func (s *Session) Usage() vfs.Usage { return s.shell.FS().Usage() }

// Save returns the state of the files and the shell; see [shell.Shell.Save].
func (s *Session) Save() *shell.State { return s.shell.Save() }

// Restore restores a state of Save.
func (s *Session) Restore(state *shell.State) error { return s.shell.Restore(state) }

// Close kills the session's processes.
func (s *Session) Close() {
	s.shell.Close()
	close(s.process.ended)
	s.instance.remove(s.process)
}
