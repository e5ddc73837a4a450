package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// screen records a request's messages and log.
type screen struct {
	mu    sync.Mutex
	lines []string
}

func (s *screen) send(_ context.Context, m hook.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", m.ID, m.Op, m.Type, m.Props)))
	return nil
}

func (s *screen) log(e hook.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%s: %s", e.Level, e.Text))
}

// shelf is a store in memory.
type shelf struct {
	mu     sync.Mutex
	values map[string]json.RawMessage
	full   bool
}

func (s *shelf) Load(_ context.Context, key string) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key], nil
}

func (s *shelf) Save(_ context.Context, key string, value json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return sandbox.Errorf(sandbox.Exhausted, "the shelf is full")
	}
	if s.values == nil {
		s.values = map[string]json.RawMessage{}
	}
	s.values[key] = value
	return nil
}

func (s *shelf) LoadOrSave(ctx context.Context, key string, value json.RawMessage) (json.RawMessage, error) {
	if there, err := s.Load(ctx, key); there != nil || err != nil {
		return there, err
	}
	return value, s.Save(ctx, key, value)
}

func (s *shelf) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

func (s *shelf) Keys(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.values)), nil
}

func Test_A_Hook_Sees_Its_Request(t *testing.T) {
	t.Parallel()
	r := func() *hook.Request {
		return &hook.Request{
			Chat: "c1", Assistant: "coder", User: "u1", Team: "t1", Locale: "de-de",
			Metadata: map[string]json.RawMessage{"a": json.RawMessage(`{"b":1}`)}, Options: json.RawMessage(`{"mode":"chat"}`),
		}
	}
	for place, e := range engines(t) {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			got, err := next(t, e, r(), "return {data: [ctx, options, payload.messages]}")
			want := `[{"chat_id":"c1","assistant_id":"coder","authorized":{"user_id":"u1","team_id":"t1"},"locale":"de-de","metadata":{"a":{"b":1}},"trace":{},"memory":{"context":{},"chat":{},"user":{},"team":{}},"sandbox":null},{"mode":"chat"},[{"role":"user","content":"hello"}]]`
			if err != nil || got != want {
				t.Errorf("got %s, %v\nwant %s", got, err, want)
			}
		})
	}
	got, err := next(t, newEngine(t, inProcess()), &hook.Request{}, "return {data: [ctx.authorized, ctx.metadata, options]}")
	if err != nil || got != `[{},{},{}]` {
		t.Errorf("of nothing got %s, %v", got, err)
	}
}

func Test_Next_Receives_The_Result_Of_The_Model_Step(t *testing.T) {
	t.Parallel()
	s := compile(t, newEngine(t, inProcess()), "a.ts", "export const Next = (_: any, p: any) => ({data: [p.completion?.content, p.completion?.usage.input, p.tools.map((x: any) => x.name), p.error]})")
	for _, c := range []struct {
		p    hook.Payload
		want string
	}{
		{hook.Payload{Completion: &event.Response{Content: "done", Usage: event.Usage{Input: 7}}, Tools: []event.Tool{{ID: "1", Name: "Bash"}}}, `["done",7,["Bash"],null]`},
		{hook.Payload{Error: "it failed"}, `[null,null,[],"it failed"]`},
	} {
		got, err := s.Next(t.Context(), &hook.Request{}, c.p)
		if err != nil || string(got.Data) != c.want {
			t.Errorf("got %+v, %v; want %s", got, err, c.want)
		}
	}
}

func Test_Messages_To_The_User_And_The_Log_Come_In_Order(t *testing.T) {
	t.Parallel()
	const body = `
const id = ctx.SendStream({type: 'loading', props: {message: 'wait'}})
ctx.Append(id, ' more')
ctx.Replace(id, {type: 'text', props: {content: 'ready'}})
log.Info('half', 1, {a: [true]}, null, undefined, new Error('e'), Symbol('s'), 2n)
const whole = ctx.Send('at once')
console.log('c'); console.warn('w'); log.Trace('t'); log.Debug('d'); log.Error('x'); console.error()
ctx.End(id)
ctx.End(ctx.SendStream('s'), ' end')
return {data: [id, whole, id === whole]}`
	want := []string{
		`h1 start loading {"message":"wait"}`, `h1 append text {"content":" more"}`, `h1 replace text {"content":"ready"}`,
		`info: half 1 {"a":[true]} null undefined Error: e Symbol(s) 2`, `h2 send text {"content":"at once"}`,
		"info: c", "warn: w", "trace: t", "debug: d", "error: x", "error: ", "h1 end", `h3 start text {"content":"s"}`, `h3 end text {"content":" end"}`,
	}
	for place, e := range engines(t) {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			var s screen
			got, err := next(t, e, &hook.Request{Send: s.send, Log: s.log}, body)
			if err != nil || got != `["h1","h2",false]` {
				t.Errorf("got %s, %v", got, err)
			}
			if !slices.Equal(s.lines, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(s.lines, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func Test_Bad_Uses_Of_The_Context_Are_Thrown_In_The_Hook(t *testing.T) {
	t.Parallel()
	gone := func(context.Context, hook.Message) error { return errors.New("the client has gone") }
	for _, c := range []struct {
		name, code string
		r          *hook.Request
		want       string
	}{
		{"a message that is none", "ctx.Send(1)", nil, "ctx.Send: expected a message: an object whose type is a string, or a text"},
		{"no message", "ctx.SendStream()", nil, "ctx.SendStream: expected a message: {type, props} or a text"},
		{"a message without a type", "ctx.Send({props: {}})", nil, "whose type is a string"},
		{"a type that is none", "ctx.Send({type: 1})", nil, "whose type is a string"},
		{"props that are none", "ctx.Send({type: 'text', props: [1]})", nil, "ctx.Send: props: expected an object"},
		{"a message that is too big", "ctx.Send('x'.repeat(2e6))", nil, "at most 1048576"},
		{"a message that never began", "ctx.End('h9')", nil, `no message "h9" can be changed`},
		{"a message that was sent whole", "ctx.Replace(ctx.Send('x'), 'y')", nil, "can be changed"},
		{"a message that has ended", "const id = ctx.SendStream('x'); ctx.End(id); ctx.Append(id, 'y')", nil, "can be changed"},
		{"an id that is none", "ctx.End({})", nil, "ctx.End: argument 1: expected a message's id"},
		{"too many open messages", "for (;;) ctx.SendStream('x')", nil, "1000 messages that were not ended"},
		{"a user who has gone", "ctx.Send('x')", &hook.Request{Send: gone}, "the client has gone"},
		{"a memory that is not there", "ctx.memory.user.Get('a')", nil, "ctx.memory.user.Get: this request has no memory of that kind"},
		{"a key that is none", "ctx.memory.context.Set(1, 2)", nil, "ctx.memory.context.Set: argument 1: expected a string"},
		{"an empty key", "ctx.memory.context.Set('', 2)", nil, "expected a key of 1 to 256 bytes"},
		{"a long key", "ctx.memory.context.Set('k'.repeat(257), 2)", nil, "expected a key of 1 to 256 bytes"},
		{"a big value", "ctx.memory.context.Set('k', 'v'.repeat(2e6))", nil, "at most 1048576"},
		{"a value that is a circle", "const a: any = {}; a.a = a; ctx.memory.context.Set('k', a)", nil, "circular"},
		{"a value that nests", "let d: any = []; for (let i = 0; i < 11000; i++) d = [d]; ctx.memory.context.Set('k', d)", nil, "nests too deeply"},
		{"too many keys", "for (let i = 0; ; i++) ctx.memory.context.Set('k' + i, i)", nil, "1000 keys already"},
		{"a full store", "ctx.memory.chat.Set('k', 1)", &hook.Request{ChatStore: &shelf{full: true}}, "the shelf is full"},
		{"a value of a function that throws", "ctx.memory.context.GetSet('k', () => { throw new Error('mine') })", nil, "mine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.r == nil {
				c.r = &hook.Request{}
			}
			body := "try { " + c.code + "; return {data: 'no error'} } catch (e) { return {data: [e instanceof Error, e.message, Object.keys(e).filter(k => k !== 'code').length]} }"
			got, err := next(t, newEngine(t, inProcess()), c.r, body)
			if err != nil || !strings.HasPrefix(got, "[true,") || !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), c.want) || !strings.HasSuffix(got, ",0]") {
				t.Errorf("got %.300s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func Test_Each_Memory_Has_Its_Lifetime(t *testing.T) {
	t.Parallel()
	const text = `
export function Create(ctx) {
  const m = ctx.memory
  m.context.Set('made', {by: 'Create', list: [1, null]})
  m.user.Set('visits', m.user.GetSet('visits', () => 0) + 1)
  m.chat.Set('gone', 1); m.chat.Del('gone'); m.chat.Del('never')
  m.context.Set('undefined', undefined)
  return {metadata: {has: [m.context.Has('made'), m.context.Has('x'), m.chat.Has('gone')], keys: m.context.Keys(), got: m.context.Get('x'), same: m.context.GetSet('made', 5).by}}
}
export function Next(ctx) {
  return {data: [ctx.memory.context.Get('made') ?? null, ctx.memory.context.Keys(), ctx.memory.user.Get('visits'), ctx.memory.chat.Keys()]}
}`
	for place, e := range engines(t) {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			s := compile(t, e, "a.js", text)
			user, chat := &shelf{}, &shelf{}
			r := &hook.Request{UserStore: user, ChatStore: chat}
			created, err := s.Create(t.Context(), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %s %s %s", created.Metadata["has"], created.Metadata["keys"], created.Metadata["got"], created.Metadata["same"]); got != `[true,false,false] ["made","undefined"] null "Create"` {
				t.Errorf("Create got %s", got)
			}
			for want, r := range map[string]*hook.Request{
				`[{"by":"Create","list":[1,null]},["made","undefined"],1,[]]`: r,
				`[null,[],1,[]]`: {UserStore: user, ChatStore: chat},
			} {
				out, err := s.Next(t.Context(), r, hook.Payload{})
				if err != nil || string(out.Data) != want {
					t.Errorf("got %+v, %v; want %s", out, err, want)
				}
			}
		})
	}
}

func Test_GetSet_Returns_The_Value_That_A_Concurrent_Request_Set(t *testing.T) {
	t.Parallel()
	for _, space := range []string{"context", "user"} {
		body := `const m = ctx.memory.` + space + `; return {data: [m.GetSet('k', () => { m.Set('k', {by: 'another'}); return 'mine' }), m.Get('k'), m.GetSet('new', {a: 1}), m.GetSet('new', 2)]}`
		got, err := next(t, newEngine(t, inProcess()), &hook.Request{UserStore: &shelf{}}, body)
		if err != nil || got != `[{"by":"another"},{"by":"another"},{"a":1},{"a":1}]` {
			t.Errorf("%s: %s, %v", space, got, err)
		}
	}
}

func Test_Attachments_Pass_Through_Unseen(t *testing.T) {
	t.Parallel()
	in := []message.Message{
		message.New(message.System, "be brief"),
		{Role: message.User, Parts: []message.Part{{Type: message.Text, Text: "look"}, {Type: message.Image, Name: "a.png", MediaType: "image/png", Data: []byte("PNG\x00\xff")}}},
		{Role: message.Assistant},
	}
	s := compile(t, newEngine(t, inProcess()), "a.js", `
function Create(ctx, messages) {
  const [text, image] = messages[1].content
  if (JSON.stringify(messages).includes('UE5H') || image.size !== 5) throw new Error('seen')
  messages.push({role: 'user', content: [image, {type: 'file', name: 'n.txt', data: 'aGk='}]})
  return {messages}
}`)
	got, err := s.Create(t.Context(), &hook.Request{}, in)
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(in), message.Message{Role: message.User, Parts: []message.Part{in[1].Parts[1], {Type: message.File, Name: "n.txt", Data: []byte("hi")}}})
	a, _ := json.Marshal(got.Messages)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}
