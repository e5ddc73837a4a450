package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_The_Value_Of_Create_Is_Type_Checked(t *testing.T) {
	t.Parallel()
	e := newEngine(t, inProcess())
	for _, c := range []struct{ value, want, hint string }{
		{"null", "", ""},
		{"undefined", "", ""},
		{"{}", "", ""},
		{"{messages: null, temperature: undefined}", "", ""},
		{"1", "Create returned a value: expected an object, got 1", ""},
		{"'text'", `expected an object, got "text"`, ""},
		{"[]", "expected an object, got []", ""},
		{"{temprature: 1}", `Create returned "temprature", which means nothing`, "it may return messages, connector, temperature, "},
		{"{temperature: 'hot'}", `temperature: expected a number from 0 to 2, got "hot"`, ""},
		{"{temperature: 3}", "temperature: expected a number from 0 to 2, got 3", ""},
		{"{temperature: -0.1}", "temperature: expected", ""},
		{"{max_tokens: 1.5}", "max_tokens: expected a whole number over 0, got 1.5", ""},
		{"{max_tokens: 0}", "max_tokens: expected", ""},
		{"{max_tokens: 1e30}", "max_tokens: expected", ""},
		{"{connector: {}}", "connector: expected a string of at most 1000 bytes, got {}", ""},
		{"{locale: 'x'.repeat(1001)}", "locale: expected a string", ""},
		{"{prompt_preset: 1}", "prompt_preset: expected a string", ""},
		{"{metadata: [1]}", "metadata: expected an object, got [1]", ""},
		{"{mcp_servers: {}}", "mcp_servers: expected an array, got {}", ""},
		{"{mcp_servers: ['']}", `mcp_servers[0]: expected the name of a server, or {server_id, tools}, got ""`, ""},
		{"{mcp_servers: ['a', {id: 'b'}]}", "mcp_servers[1]: expected the name of a server", ""},
		{"{mcp_servers: [{server_id: 'a', tools: [1]}]}", "mcp_servers[0]: expected", ""},
		{"{messages: 'hi'}", `messages: expected an array, got "hi"`, ""},
		{"{messages: [1]}", "messages[0]: expected an object, got 1", ""},
		{"{messages: [{role: 'user', content: 'a'}, {role: 'tool'}]}", `messages[1].role: expected system, user or assistant, got "tool"`, ""},
		{"{messages: [{role: 'user', content: 1}]}", "messages[0].content: expected a string or an array of parts, got 1", ""},
		{"{messages: [{role: 'user', content: [{type: 'video'}]}]}", `messages[0].content[0].type: expected text, image or file, got "video"`, ""},
		{"{messages: [{role: 'user', content: [1]}]}", "messages[0].content[0]: expected {type, text", ""},
		{"{messages: [{role: 'user', content: [{type: 'file', data: 'attachment:0'}]}]}", "messages[0].content[0].data: there is no attachment:0", ""},
		{"{messages: [{role: 'user', content: [{type: 'file', data: '?'}]}]}", "messages[0].content[0].data: expected base64", ""},
		{"{messages: Array(10001).fill(0)}", "messages: expected at most 10000 elements, got 10001", ""},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Parallel()
			_, err := compile(t, e, "a.js", "function Create() { return "+c.value+" }").Create(t.Context(), &hook.Request{}, nil)
			switch {
			case c.want == "" && err != nil, c.want != "" && err == nil:
				t.Errorf("got %v, want %q", err, c.want)
			case err != nil && (!strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "create hook: Create returned ") || sandbox.CodeOf(err) != sandbox.Invalid || !strings.HasPrefix(sandbox.HintOf(err), c.hint)):
				t.Errorf("got %v, hint %q, want %q", err, sandbox.HintOf(err), c.want)
			}
		})
	}
}

func Test_All_That_Create_May_Return_Arrives(t *testing.T) {
	t.Parallel()
	s := compile(t, newEngine(t, inProcess()), "a.js", `
function Create(ctx, messages) {
  return {messages: [...messages, {role: 'assistant', content: 'yes'}], connector: 'deepseek.v3', temperature: 0, max_tokens: 100,
    mcp_servers: ['a', {server_id: 'b', tools: ['t']}], prompt_preset: 'p', locale: 'en', metadata: {k: [1]}}
}`)
	got, err := s.Create(t.Context(), &hook.Request{}, []message.Message{message.New(message.User, "hi")})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(got)
	want := `{"Messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"}],"Connector":"deepseek.v3","Temperature":0,"MaxTokens":100,"MCPServers":[{"server_id":"a"},{"server_id":"b","tools":["t"]}],"PromptPreset":"p","Locale":"en","Metadata":{"k":[1]}}`
	if err != nil || string(raw) != want {
		t.Errorf("got  %s, %v\nwant %s", raw, err, want)
	}
}

func Test_The_Value_Of_Next_Is_Type_Checked(t *testing.T) {
	t.Parallel()
	e := newEngine(t, inProcess())
	for _, c := range []struct{ value, want, fault string }{
		{"null", `{"Delegate":null,"Data":null,"Metadata":null}`, ""},
		{"{data: {a: 1}, metadata: {m: 2}}", `{"Delegate":null,"Data":{"a":1},"Metadata":{"m":2}}`, ""},
		{"{data: null}", `{"Delegate":null,"Data":null,"Metadata":null}`, ""},
		{"'just text'", `{"Delegate":null,"Data":"just text","Metadata":null}`, ""},
		{"{status: 'mine'}", `{"Delegate":null,"Data":{"status":"mine"},"Metadata":null}`, ""},
		{"[1]", `{"Delegate":null,"Data":[1],"Metadata":null}`, ""},
		{"{delegate: {agent_id: 'b', messages: [{role: 'user', content: 'go'}], options: {x: 1}}}", `{"Delegate":{"Agent":"b","Messages":[{"role":"user","content":"go"}],"Options":{"x":1}},"Data":null,"Metadata":null}`, ""},
		{"{data: 1, other: 2}", "", `Next returned "other", which means nothing`},
		{"{delegate: 'b'}", "", "delegate: expected an object"},
		{"{delegate: {messages: []}}", "", "delegate.agent_id: expected the name of an assistant"},
		{"{delegate: {agent_id: 'b', messages: [{}]}}", "", "delegate.messages[0].role: expected"},
		{"{delegate: {agent_id: 'b', options: []}}", "", "delegate.options: expected an object"},
		{"{delegate: {agent_id: 'b', to: 1}}", "", `"delegate.to", which means nothing`},
		{"{metadata: 1}", "", "metadata: expected an object"},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Parallel()
			out, err := compile(t, e, "a.js", "function Next() { return "+c.value+" }").Next(t.Context(), &hook.Request{}, hook.Payload{})
			if c.fault != "" {
				checkFailure(t, "", err, sandbox.Invalid, c.fault)
				return
			}
			raw, _ := json.Marshal(out)
			if err != nil || string(raw) != c.want {
				t.Errorf("got  %s, %v\nwant %s", raw, err, c.want)
			}
		})
	}
}
