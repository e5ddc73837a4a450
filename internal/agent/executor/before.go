package executor

import (
	"context"
	"path"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Text returns the input of an agent that takes a single text: the history, unless the agent resumes a session, and the prompt.
func (t Task) Text() (string, error) {
	for _, p := range t.Prompt.Parts {
		if p.Type != message.Text {
			return "", sandbox.Errorf(sandbox.Unsupported, "an attachment of type %q cannot be put into this agent's prompt", p.MediaType).
				WithHint("attach it as a file of the workspace")
		}
	}
	text := t.Prompt.Text()
	if strings.TrimSpace(text) == "" {
		return "", sandbox.Errorf(sandbox.Invalid, "there is nothing to do: the prompt is empty")
	}
	if before := Before(t.History); before != "" && t.Resume == "" {
		text = before + "\n\n" + text
	}
	return text, nil
}

// Write writes a file of the agent into the sandbox and creates its parent directory.
func Write(ctx context.Context, box *sandbox.Sandbox, name, text string) error {
	files := box.Files()
	if m, ok := files.(sandbox.Maker); ok {
		if err := m.Mkdir(ctx, path.Dir(name), 0o700); err != nil {
			return err
		}
	}
	return files.Create(ctx, name, 0o600, strings.NewReader(text))
}

// Before returns the history as text, for agents that accept no message except the one to answer. Without a history it
// is "".
func Before(history []message.Message) string {
	var b strings.Builder
	for _, m := range history {
		text := m.Text()
		if text == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("This is the conversation until now; what is to be answered comes after it.\n\n<conversation>\n")
		}
		b.WriteString("<" + string(m.Role) + ">\n" + text + "\n</" + string(m.Role) + ">\n")
	}
	if b.Len() > 0 {
		b.WriteString("</conversation>")
	}
	return b.String()
}
