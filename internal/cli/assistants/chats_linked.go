//go:build agent

package assistants

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// manageChats lists chats, prints one, or removes it.
func manageChats(ctx context.Context, a *console.App, f chatFlags) (err error) {
	if f.chat != "" {
		if err := store.CheckID(f.chat); err != nil {
			return err
		}
	}
	s, err := openBooks(ctx, a)
	if err != nil {
		return err
	}
	found := []store.Chat{}
	if s != nil {
		defer func() { err = errors.Join(err, s.Close()) }()
		list, err := s.Chats(ctx, store.Filter{User: f.user, Assistant: f.assistant, ID: f.chat})
		if err != nil {
			return err
		}
		found = append(found, list...)
	}
	if f.chat == "" {
		return listChats(a, found, f.json)
	}
	chat, err := selectChat(found, f.chat)
	switch {
	case err != nil:
		return err
	case f.remove:
		return s.RemoveChat(ctx, chat.User, chat.ID)
	}
	entries, err := s.History(ctx, chat.User, chat.ID)
	if err != nil {
		return err
	}
	if f.json {
		return a.PrintJSON(map[string]any{"chat": chat, "messages": entries})
	}
	printChat(a, chat, entries)
	return nil
}

// selectChat returns the chat with an ID. Several users may have one with that ID.
func selectChat(found []store.Chat, id string) (store.Chat, error) {
	switch len(found) {
	case 0:
		return store.Chat{}, sandbox.Errorf(sandbox.NotFound, "no chat %q", id).WithHint("list them with 'agent-sandbox agent chats'")
	case 1:
		return found[0], nil
	}
	var users []string
	for _, c := range found[:min(len(found), 5)] {
		users = append(users, c.User)
	}
	return store.Chat{}, sandbox.Errorf(sandbox.Invalid, "%d users have a chat %s: %s", len(found), id, strings.Join(users, ", ")).
		WithHint("name one with --user")
}

func listChats(a *console.App, found []store.Chat, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(map[string]any{"chats": found})
	}
	if len(found) == 0 {
		return nil
	}
	rows := [][]string{{"CHAT", "MESSAGES", "LAST USED", "USER", "ASSISTANT", "TITLE"}}
	for _, c := range found {
		rows = append(rows, []string{c.ID, groupDigits(c.Messages), formatTime(c.Used), c.User, c.Assistant, console.Shorten(c.Title)})
	}
	printFigures(a, rows, 3)
	return nil
}

func formatTime(t time.Time) string { return t.Format("2006-01-02 15:04") }

// printChat prints the messages, indented, below headings.
func printChat(a *console.App, c store.Chat, entries []store.Entry) {
	p := &agentPrinter{out: a.Out}
	p.line("chat", c.ID, "of "+c.User, "with "+c.Assistant, c.Title)
	for _, e := range entries {
		p.line(string(e.Message.Role), formatTime(e.At))
		for _, part := range e.Message.Parts {
			if part.Type == message.Text {
				p.text(event.Event{Kind: event.Text, Text: part.Text})
				continue
			}
			p.line(string(part.Type), part.Name, part.MediaType, console.Count(len(part.Data), "byte"))
		}
	}
}
