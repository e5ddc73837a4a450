package executor

import (
	"context"
	"path"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Text is what an agent reads that takes one text: what was said before, unless it knows, and the prompt.
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

// Write puts a file of the agent's into the sandbox, with the directory that it is in.
func Write(ctx context.Context, box *sandbox.Sandbox, name, text string) error {
	files := box.Files()
	if m, ok := files.(sandbox.Maker); ok {
		if err := m.Mkdir(ctx, path.Dir(name), 0o700); err != nil {
			return err
		}
	}
	return files.Create(ctx, name, 0o600, strings.NewReader(text))
}

// Before is what was said before, as a text for agents that take no messages but the one that is to be answered; "" when
// nothing was.
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
