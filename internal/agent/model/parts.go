package model

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// piece is a part of a message that all APIs accept.
type piece struct {
	media string // "": text; else of an image, or application/pdf
	text  string
	name  string // of a document
	data  string // base64
}

// saying is a message that all APIs accept: not empty, and from the user or the assistant.
type saying struct {
	role   message.Role
	pieces []piece
}

// plain returns the text of a message that has only text.
func (s saying) plain() (string, bool) {
	var texts []string
	for _, p := range s.pieces {
		if p.media != "" {
			return "", false
		}
		texts = append(texts, p.text)
	}
	return strings.Join(texts, "\n"), true
}

// contentOf returns a message as OpenAI's APIs take it: its role, and its text or, if it has an image or a document, a list of
// what partOf returns for each piece.
func contentOf[P any](s saying, partOf func(piece) P) (role string, content any) {
	text, plain := s.plain()
	switch {
	case s.role == message.Assistant:
		return "assistant", text
	case plain:
		return "user", text
	}
	parts := make([]P, len(s.pieces))
	for i, p := range s.pieces {
		parts[i] = partOf(p)
	}
	return "user", parts
}

const pdf = "application/pdf"

// images are the media types that all APIs accept.
var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// convertMessages checks messages and converts them. It appends texts of role system to system, and drops empty messages.
func convertMessages(system []string, messages []message.Message) ([]string, []saying, error) {
	system = slices.Clone(system)
	var out []saying
	for i, m := range messages {
		s := saying{role: m.Role}
		for j, p := range m.Parts {
			made, err := pieceOf(p, fmt.Sprintf("messages[%d].content[%d]", i, j))
			if err != nil {
				return nil, nil, err
			}
			if made.media != "" && m.Role != message.User {
				return nil, nil, invalid("messages[%d].content[%d]: a message of %s has only text, and this is %s", i, j, m.Role, made.media)
			}
			if made.media != "" || strings.TrimSpace(made.text) != "" {
				s.pieces = append(s.pieces, made)
			}
		}
		switch m.Role {
		case message.System:
			for _, p := range s.pieces {
				system = append(system, p.text)
			}
		case message.User, message.Assistant:
			if len(s.pieces) > 0 {
				out = append(out, s)
			}
		default:
			return nil, nil, invalid("messages[%d]: expected the role system, user or assistant, got %q", i, m.Role)
		}
	}
	if !slices.ContainsFunc(out, func(s saying) bool { return s.role == message.User }) {
		return nil, nil, invalid("messages: all messages of the user are empty")
	}
	return slices.DeleteFunc(system, func(s string) bool { return strings.TrimSpace(s) == "" }), out, nil
}

func invalid(format string, args ...any) error {
	return sandbox.Errorf(sandbox.Invalid, format, args...)
}

func pieceOf(p message.Part, at string) (piece, error) {
	if p.Name != "" {
		at += fmt.Sprintf(" (%s)", clip(path.Base(fmt.Sprintf("%q", p.Name)), 200))
	}
	media, _, _ := strings.Cut(strings.ToLower(p.MediaType), ";")
	media = strings.TrimSpace(media)
	if media == "" && p.Type != message.Text {
		media, _, _ = strings.Cut(http.DetectContentType(p.Data), ";")
	}
	if media == "image/jpg" {
		media = "image/jpeg"
	}
	switch {
	case p.Type == message.Text:
		return piece{text: strings.ToValidUTF8(p.Text, "\uFFFD")}, nil
	case p.Type != message.Image && p.Type != message.File:
		return piece{}, invalid("%s: expected the type text, image or file, got %q", at, p.Type)
	case len(p.Data) == 0:
		return piece{}, invalid("%s: the file is empty", at)
	case slices.Contains(images, media):
		return piece{media: media, data: base64.StdEncoding.EncodeToString(p.Data)}, nil
	case p.Type == message.Image || strings.HasPrefix(media, "image/") && media != "image/svg+xml":
		return piece{}, sandbox.Errorf(sandbox.Invalid, "%s: models cannot see %s", at, clip(media, 100)).WithHint("make it PNG, JPEG, GIF or WebP")
	case media == pdf:
		return piece{media: pdf, name: nameOf(p, "document.pdf"), data: base64.StdEncoding.EncodeToString(p.Data)}, nil
	case !utf8.Valid(p.Data) || bytes.IndexByte(p.Data, 0) >= 0:
		return piece{}, sandbox.Errorf(sandbox.Invalid, "%s: models cannot read %s", at, clip(media, 100)).
			WithHint("attach text in UTF-8, PDF, PNG, JPEG, GIF or WebP")
	}
	return piece{text: fmt.Sprintf("<file name=%q>\n%s\n</file>", nameOf(p, "file"), p.Data)}, nil
}

func nameOf(p message.Part, otherwise string) string {
	if p.Name == "" {
		return otherwise
	}
	return clip(strings.ToValidUTF8(p.Name, "_"), 255)
}

// textSize returns the bytes of text in a request, from which its tokens are estimated.
func textSize(system []string, said []saying, tools []function) (n int64) {
	for _, s := range system {
		n += int64(len(s))
	}
	for _, s := range said {
		for _, p := range s.pieces {
			n += int64(len(p.text))
		}
	}
	for _, f := range tools {
		n += int64(len(f.name) + len(f.description))
	}
	return n
}

// dataURL returns an image or a document as OpenAI's APIs take it.
func (p piece) dataURL() string { return "data:" + p.media + ";base64," + p.data }
