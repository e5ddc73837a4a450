package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/store"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func converse(t *testing.T, s *store.Store, user, chat string) *store.Conversation {
	t.Helper()
	c, err := s.Converse(t.Context(), store.Request{User: user, Chat: chat, Assistant: "coder"})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func Test_A_Chat_Stores_Messages_In_Order(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), newClock()
	s := open(t, dir, store.Options{Now: now.now})
	c := converse(t, s, "ann", "")
	if _, err := s.Chat(t.Context(), "ann", c.Chat().ID); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("a chat in which nothing was said: %v", err)
	}
	image := message.Part{Type: message.Image, MediaType: "image/png", Data: bytes.Repeat([]byte{1, 0, 255}, 1000)}
	first := message.Message{Role: message.User, Parts: []message.Part{{Type: message.Text, Text: "  look\n at\x00 this \xff"}, image}}
	second := message.Message{Role: message.User, Parts: []message.Part{{Type: message.File, Name: "x.png", MediaType: "image/png", Data: image.Data}}}
	must(t, c.Append(t.Context(), store.Turn{Messages: []message.Message{first, message.New(message.Assistant, "a picture")}, Session: "s1", Executor: "claude", Run: "r1"}))
	now.add(time.Hour)
	must(t, c.Append(t.Context(), store.Turn{Messages: []message.Message{second, message.New(message.Assistant, "the same")}, Run: "r2"}))
	got, err := c.Messages(t.Context())
	must(t, err)
	first.Parts[0].Text = strings.ToValidUTF8(first.Parts[0].Text, "\ufffd")
	want, _ := json.Marshal([]message.Message{first, message.New(message.Assistant, "a picture"), second, message.New(message.Assistant, "the same")})
	if have, _ := json.Marshal(got); string(have) != string(want) {
		t.Errorf("got  %s\nwant %s", have, want)
	}
	chat, err := s.Chat(t.Context(), "ann", c.Chat().ID)
	must(t, err)
	if chat != c.Chat() || chat.Title != "look at this" || chat.Session != "s1" || chat.Executor != "claude" || chat.Messages != 4 ||
		chat.Used.Sub(chat.Created) != time.Hour || len(chat.ID) != 26 {
		t.Errorf("%+v", chat)
	}
	if n := number(t, raw(t, dir), "SELECT count(*) FROM blobs"); n != 1 {
		t.Errorf("one picture is kept %d times", n)
	}
	entries, err := s.History(t.Context(), "ann", chat.ID)
	must(t, err)
	if entries[0].Run != "r1" || entries[3].Run != "r2" || !entries[3].At.Equal(now.now()) {
		t.Errorf("%+v", entries)
	}
}

func Test_Two_Requests_On_One_Chat_Do_Not_Run_Concurrently(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, other := open(t, dir, store.Options{}), open(t, dir, store.Options{})
	c := converse(t, s, "ann", "c1")
	for _, who := range []*store.Store{s, other} {
		_, err := who.Converse(t.Context(), store.Request{User: "ann", Chat: "c1", Assistant: "coder"})
		wants(t, err, sandbox.Exists, "chat c1 is busy with another request hint: wait")
	}
	wants(t, other.RemoveChat(t.Context(), "ann", "c1"), sandbox.NotFound, "has no chat c1")
	converse(t, other, "bob", "c1") // another user's is another chat
	converse(t, other, "ann", "c2")
	must(t, c.Append(t.Context(), store.Turn{Messages: []message.Message{message.New(message.User, "one")}}))
	wants(t, other.RemoveChat(t.Context(), "ann", "c1"), sandbox.Exists, "busy")
	waited := make(chan int64, 1)
	go func() {
		next, err := other.Converse(t.Context(), store.Request{User: "ann", Chat: "c1", Assistant: "coder", Wait: true})
		if err != nil {
			waited <- -1
			return
		}
		waited <- next.Chat().Messages
		_ = next.Close() // it always can be
	}()
	must(t, c.Append(t.Context(), store.Turn{Messages: []message.Message{message.New(message.User, "two")}}))
	must(t, c.Close())
	must(t, c.Close())
	if n := <-waited; n != 2 {
		t.Errorf("who waited saw %d messages", n)
	}
	wants(t, c.Append(t.Context(), store.Turn{}), sandbox.Closed, "the conversation is closed")
}

func Test_Bad_Requests_For_A_Chat_Are_Refused(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), store.Options{})
	say(t, s, "ann", "taken", "hello")
	for _, c := range []struct {
		name, user, chat, assistant, text string
	}{
		{"no user", "", "c", "coder", `user ""`},
		{"a user of bytes", "a\xff", "c", "coder", "UTF-8"},
		{"a user with a zero byte", "a\x00b", "c", "coder", "user"},
		{"a long user", strings.Repeat("a", 257), "c", "coder", "1 to 256 bytes"},
		{"up", "ann", "..", "coder", `id ".."`},
		{"a path", "ann", "a/b", "coder", "letters, digits"},
		{"a hidden one", "ann", ".a", "coder", "a letter or digit first"},
		{"an option", "ann", "-a", "coder", "a letter or digit first"},
		{"a line break", "ann", "a\n", "coder", "letters"},
		{"Unicode", "ann", "á", "coder", "letters"},
		{"a long one", "ann", strings.Repeat("a", 129), "coder", "128"},
		{"no assistant", "ann", "c", "", "assistant"},
		{"another assistant", "ann", "taken", "writer", `chat taken is with assistant "coder", not with "writer" hint: begin another chat`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Converse(t.Context(), store.Request{User: c.user, Chat: c.chat, Assistant: c.assistant})
			wants(t, err, sandbox.Invalid, c.text)
		})
	}
}

func Test_A_Turn_Is_Stored_Atomically(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), store.Options{})
	c := converse(t, s, "ann", "c1")
	good := message.New(message.User, "hello")
	big := message.Message{Role: message.User, Parts: []message.Part{{Type: message.File, Data: make([]byte, 65<<20)}}}
	for _, bad := range []struct {
		turn store.Turn
		code sandbox.Code
		text string
	}{
		{store.Turn{Messages: []message.Message{good, message.New(message.System, "you are")}}, sandbox.Invalid, `role "system"`},
		{store.Turn{Messages: []message.Message{good, {}}}, sandbox.Invalid, `role ""`},
		{store.Turn{Messages: []message.Message{good, big}}, sandbox.Exhausted, "larger than 64 MiB"},
		{store.Turn{Messages: make([]message.Message, 1001)}, sandbox.Invalid, "1001 messages"},
		{store.Turn{Messages: []message.Message{good}, Session: strings.Repeat("s", 2000)}, sandbox.Invalid, "session"},
	} {
		wants(t, c.Append(t.Context(), bad.turn), bad.code, bad.text)
	}
	if n := c.Chat().Messages; n != 0 {
		t.Errorf("%d messages", n)
	}
	long := strings.Repeat("é", 5<<20/2)
	must(t, c.Append(t.Context(), store.Turn{Messages: []message.Message{message.New(message.User, long)}}))
	got, err := c.Messages(t.Context())
	must(t, err)
	if len(got) != 1 || got[0].Text() != long {
		t.Error("a prompt of 5 MB is not the same")
	}
	if title := c.Chat().Title; len([]rune(title)) != 80 || !strings.HasSuffix(title, "é...") {
		t.Errorf("title %q", title)
	}
}

func Test_A_Removed_Chat_Leaves_Only_Its_Usage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, store.Options{})
	for _, chat := range []string{"c1", "c2"} {
		must(t, request(t.Context(), s, chat))
		must(t, s.Memory(store.ChatScope("ann", chat)).Save(t.Context(), "k", json.RawMessage("1"), 0))
		w, err := s.OpenWorkspace(t.Context(), "ann", chat, store.Limits{})
		must(t, err)
		must(t, w.Close())
	}
	w, err := s.OpenWorkspace(t.Context(), "ann", "c1", store.Limits{})
	must(t, err)
	wants(t, s.RemoveChat(t.Context(), "ann", "c1"), sandbox.Exists, "the workspace of chat c1 is in use")
	must(t, w.Close())
	must(t, s.RemoveChat(t.Context(), "ann", "c1"))
	gone(t, w.Dir)
	wants(t, s.RemoveChat(t.Context(), "ann", "c1"), sandbox.NotFound, `user "ann" has no chat c1`)
	db := raw(t, dir)
	for _, table := range []string{"chats", "blobs", "attached", "memory", "workspaces", "messages / 2 FROM (SELECT count(*) AS messages FROM messages) --"} {
		query := "SELECT count(*) FROM " + table
		if strings.Contains(table, "--") {
			query = "SELECT " + table
		}
		if n := number(t, db, query); n != 1 {
			t.Errorf("%s: %d", table, n)
		}
	}
	runs, err := s.Runs(t.Context(), store.Query{}, 0)
	must(t, err)
	if len(runs) != 2 {
		t.Errorf("%d runs", len(runs))
	}
}

func Test_Chats_Are_Listed_Newest_First(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now})
	for _, who := range []string{"ann", "bob", "ann"} {
		now.add(time.Minute)
		say(t, s, who, "chat"+now.now().Format("04"), who)
	}
	for _, c := range []struct {
		filter store.Filter
		want   string
	}{
		{store.Filter{}, "chat03 chat02 chat01 "},
		{store.Filter{User: "ann"}, "chat03 chat01 "},
		{store.Filter{User: "ann", ID: "chat01"}, "chat01 "},
		{store.Filter{Assistant: "writer"}, ""},
	} {
		chats, err := s.Chats(t.Context(), c.filter)
		must(t, err)
		got := ""
		for _, chat := range chats {
			got += chat.ID + " "
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q", c.filter, got, c.want)
		}
	}
}

func Test_New_IDs_Are_Valid_And_Sorted(t *testing.T) {
	t.Parallel()
	at, last := newClock(), ""
	for range 100 {
		id := store.NewID(at.now())
		must(t, store.CheckID(id))
		if id <= last {
			t.Errorf("%s after %s", id, last)
		}
		last = id
		at.add(time.Millisecond)
	}
}

func Test_Concurrent_LoadOrSave_Returns_One_Value(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), newClock()
	stores := []*store.Store{open(t, dir, store.Options{Now: now.now}), open(t, dir, store.Options{Now: now.now})} // as of two processes
	for round := range 20 {
		key, got := fmt.Sprint("k", round), make([]string, 8)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				v, err := stores[i%2].Memory(store.UserScope("ann")).LoadOrSave(t.Context(), key, json.RawMessage(fmt.Sprint(i)), 0)
				if err != nil {
					t.Error(err)
				}
				got[i] = string(v)
			})
		}
		wg.Wait()
		kept, err := stores[0].Memory(store.UserScope("ann")).Load(t.Context(), key)
		if err != nil || slices.ContainsFunc(got, func(v string) bool { return v != string(kept) }) {
			t.Errorf("%s is kept, %v, and they got %q", kept, err, got)
		}
	}
	m := stores[0].Memory(store.UserScope("ann"))
	must(t, m.Save(t.Context(), "short", json.RawMessage("1"), time.Minute))
	now.add(time.Minute)
	if v, err := m.LoadOrSave(t.Context(), "short", json.RawMessage("2"), 0); err != nil || string(v) != "2" {
		t.Errorf("what has expired is there: %s, %v", v, err)
	}
	_, err := m.LoadOrSave(t.Context(), "", json.RawMessage("1"), 0)
	wants(t, err, sandbox.Invalid, "1 to 256 bytes")
}

func Test_Memory_Is_Separate_Per_Scope_Bounded_And_Expires(t *testing.T) {
	t.Parallel()
	now := newClock()
	s := open(t, t.TempDir(), store.Options{Now: now.now})
	for i, scope := range []store.Scope{
		store.ChatScope("ann", "c"), store.ChatScope("an", "nc"), store.UserScope("ann"), store.UserScope(`ann","c`),
		store.AssistantScope("ann"), store.TeamScope("ann"),
	} {
		m := s.Memory(scope)
		must(t, m.Save(t.Context(), "k", json.RawMessage(fmt.Sprint(i)), 0))
		defer func() {
			if v, err := m.Load(t.Context(), "k"); err != nil || string(v) != fmt.Sprint(i) {
				t.Errorf("scope %d has %s, %v", i, v, err)
			}
		}()
	}
	m := s.Memory(store.UserScope("carl"))
	if v, err := m.Load(t.Context(), "k"); v != nil || err != nil {
		t.Errorf("%s %v", v, err)
	}
	must(t, m.Save(t.Context(), "short", json.RawMessage(`{"a":[1]}`), time.Minute))
	must(t, m.Save(t.Context(), "long", json.RawMessage(`null`), 0))
	must(t, m.Save(t.Context(), "gone", json.RawMessage(`1`), 0))
	must(t, m.Delete(t.Context(), "gone"))
	must(t, m.Delete(t.Context(), "gone"))
	if keys, err := m.Keys(t.Context()); err != nil || fmt.Sprint(keys) != "[long short]" {
		t.Errorf("%v %v", keys, err)
	}
	now.add(time.Minute)
	if v, err := m.Load(t.Context(), "short"); v != nil || err != nil {
		t.Errorf("expired: %s %v", v, err)
	}
	wants(t, m.Save(t.Context(), "", json.RawMessage("1"), 0), sandbox.Invalid, "1 to 256 bytes")
	wants(t, m.Save(t.Context(), strings.Repeat("k", 257), json.RawMessage("1"), 0), sandbox.Invalid, "1 to 256 bytes")
	wants(t, m.Save(t.Context(), "k", json.RawMessage("{"), 0), sandbox.Invalid, "is not JSON")
	wants(t, m.Save(t.Context(), "k", json.RawMessage(`"`+strings.Repeat("x", 256<<10)+`"`), 0), sandbox.Exhausted, "at most 262144")
	full := json.RawMessage(`"` + strings.Repeat("x", 256<<10-2) + `"`)
	for i := range 15 {
		must(t, m.Save(t.Context(), fmt.Sprint(i), full, 0))
	}
	wants(t, m.Save(t.Context(), "last", full, 0), sandbox.Exhausted, "at most 1000 with 4194304 are allowed hint: delete")
	if v, err := m.Load(t.Context(), "last"); v != nil || err != nil {
		t.Errorf("what is too much was kept: %v", err)
	}
}

func Test_Waiting_Requests_Get_A_Chat_One_By_One(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var inside atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		s := open(t, dir, store.Options{})
		all.Go(func() {
			for range 25 {
				c, err := s.Converse(t.Context(), store.Request{User: "ann", Chat: "c1", Assistant: "coder", Wait: true})
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two have the chat at once")
				}
				if err := c.Append(t.Context(), store.Turn{Messages: []message.Message{message.New(message.User, "x")}}); err != nil {
					t.Error(err)
				}
				inside.Add(-1)
				_ = c.Close() // it always can be
			}
		})
	}
	all.Wait()
	if c, err := open(t, dir, store.Options{}).Chat(t.Context(), "ann", "c1"); err != nil || c.Messages != 100 {
		t.Errorf("%+v %v", c, err)
	}
}
