package agent

import (
	"context"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxInline bounds a file that is attached to a direct call, in bytes.
const maxInline = 20 << 20

// attach adds a file to the workspace, where the agent reads it, or to the message of a direct call.
func (t *turn) attach(ctx context.Context, f File) error {
	if t.space != nil {
		var head capped
		a, err := t.space.Attach(ctx, f.Name, io.TeeReader(f.Content, &head))
		if err != nil {
			return err
		}
		a.Data = head.data
		t.addPicture(a)
		if t.request.Workspace != "" { // the agent runs elsewhere
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

// capped stores at most one byte more than the largest picture has.
type capped struct{ data []byte }

// Write implements [io.Writer].
func (c *capped) Write(p []byte) (int, error) {
	c.data = append(c.data, p[:min(len(p), executor.MaxPicture+1-len(c.data))]...)
	return len(p), nil
}

// addPicture gives a file to the agent as a picture, if models accept its type. Other files stay
// files only.
func (t *turn) addPicture(a store.Attachment) {
	if slices.Contains(executor.PictureTypes, a.MediaType) && len(a.Data) <= executor.MaxPicture {
		t.shown = append(t.shown, a)
	}
}

// placedPictures returns the pictures of the message with their paths inside the sandbox.
func (t *turn) placedPictures() []executor.Picture {
	var out []executor.Picture
	for _, a := range t.shown {
		name := a.Path
		if !path.IsAbs(name) {
			name = path.Join(t.dir(), name)
			if t.request.Workspace != "" {
				name = path.Join(t.space.Dir, a.Path)
			}
		}
		out = append(out, executor.Picture{Path: name, MediaType: a.MediaType, Data: a.Data})
	}
	return out
}
