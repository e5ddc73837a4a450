package claude

import (
	"slices"
	"strings"

	said "github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// piece is a part of the user's message in the form of the Messages API.
type piece struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// buildContent returns the prompt, preceded by the earlier messages if the agent does not have them. They are one message,
// because the agent would answer a separate one.
func buildContent(task executor.Task) ([]piece, error) {
	var out []piece
	if task.Resume == "" {
		if text := executor.Before(task.History); text != "" {
			out = append(out, piece{Type: "text", Text: text})
		}
	}
	for _, p := range task.Prompt.Parts {
		switch {
		case p.Type == said.Text && strings.TrimSpace(p.Text) == "":
		case p.Type == said.Text:
			out = append(out, piece{Type: "text", Text: p.Text})
		case p.Type == said.Image && slices.Contains(executor.PictureTypes, p.MediaType):
			out = append(out, piece{Type: "image", Source: &source{"base64", p.MediaType, p.Data}})
		default:
			return nil, sandbox.Errorf(sandbox.Unsupported, "an attachment of type %q cannot be put into a prompt", p.MediaType).
				WithHint("attach it as a file of the workspace")
		}
	}
	for _, p := range task.Pictures {
		out = append(out, piece{Type: "image", Source: &source{"base64", p.MediaType, p.Data}})
	}
	if len(out) == 0 {
		return nil, sandbox.Errorf(sandbox.Invalid, "there is nothing to do: the prompt is empty")
	}
	return out, nil
}
