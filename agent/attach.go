package agent

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxInline bounds a file that is attached to a direct call, in bytes.
const maxInline = 20 << 20

// attach adds a file to the workspace, where an agent reads it, or to the message of a direct call.
func (t *turn) attach(ctx context.Context, f File) error {
	if t.space != nil {
		a, err := t.space.Attach(ctx, f.Name, f.Content)
		if err != nil {
			return err
		}
		if t.request.Workspace != "" { // the agent is elsewhere
			a.Path = filepath.Join(t.space.Dir, a.Path)
		}
		t.said.Parts = append(t.said.Parts, message.Part{Type: message.Text, Text: a.String()})
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f.Content, maxInline+1))
	if err != nil {
		return err
	}
	if len(data) > maxInline {
		return sandbox.Errorf(sandbox.Exhausted, "%s is larger than %s, the limit of a direct call", f.Name, sandbox.Bytes(maxInline)).
			WithHint("give it to an assistant with a sandbox")
	}
	part := message.Part{Type: message.File, Name: filepath.Base(f.Name), MediaType: http.DetectContentType(data), Data: data}
	if strings.HasPrefix(part.MediaType, "image/") {
		part.Type = message.Image
	}
	t.said.Parts = append(t.said.Parts, part)
	return nil
}
