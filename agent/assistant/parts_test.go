package assistant

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
)

// badServers are invalid files of servers with the expected problems.
var badServers = []struct{ name, text, want string }{
	{"nothing", `{}`, "f:1: found neither command nor url, expected how the server is reached"},
	{"both", `{"command": "a", "url": "http://b"}`, "f:1: url: found command beside it, expected one of them"},
	{"sse", "{\n\"transport\": \"sse\", \"url\": \"http://b\"}", `f:2: transport: found "sse", which MCP has given up, expected stdio or http (most servers answer the newer transport, too: write "transport": "http" and the address that ends with /mcp)`},
	{"a longer name of http", `{"transport": "streamable-http", "url": "http://b"}`, `f:1: transport: found "streamable-http", expected stdio or http (it is called "http" here)`},
	{"another transport", `{"transport": "process", "command": "a"}`, "f:1: transport: found another text, expected stdio or http"},
	{"a program with an address's header", `{"command": "a", "headers": {}}`, "f:1: headers: found in a server of transport stdio, which has none"},
	{"an address with a program's environment", `{"url": "http://b", "env": {}}`, "f:1: env: found in a server of transport http, which has none"},
	{"stdio without a program", `{"transport": "stdio"}`, "f:1: command: found nothing, expected a program"},
	{"http without an address", `{"transport": "http"}`, "f:1: url: found nothing, expected the server's address"},
	{"a program on two lines", `{"command": "a\nb"}`, `f:1: command: found another text, expected a program ("arguments" are a list of their own; no shell reads them)`},
	{"arguments as a text", `{"command": "a", "arguments": "--key hunter2"}`, "f:1: arguments: found a string, expected an array of strings"},
	{"an argument with a NUL", `{"command": "a", "arguments": ["x\u0000"]}`, "f:1: arguments[0]: found a NUL or over 4096 bytes"},
	{"a variable with a sign", `{"command": "a", "env": {"A=B": "hunter2"}}`, "f:1: env.A=B: found a name that no variable has, expected letters, digits and '_'"},
	{"a reference to nothing", `{"command": "a", "env": {"A": "$ENV.hunter2-x"}}`, "f:1: env.A: found $ENV.NAME with a name that no variable has"},
	{"an address without a scheme", `{"url": "localhost:1"}`, "f:1: url: found another address, expected http:// or https:// and a host"},
	{"an address with a password", `{"url": "https://u:hunter2@b"}`, `f:1: url: found an address with a user or a fragment, expected one without (name the variable that holds the key in "authorization")`},
	{"a key", `{"url": "https://b", "authorization": "Bearer hunter2"}`, `f:1: authorization: found a key, which is not written in this file, expected "$ENV.NAME" (put the whole header, such as "Bearer ...", into a variable and write "$ENV.NAME")`},
	{"a key in a header", `{"url": "https://b", "headers": {"x-api-key": "hunter2"}}`, `f:1: headers.x-api-key: found a key, which is not written in this file, expected "$ENV.NAME" (put the whole header, such as "Bearer ...", into a variable and write "$ENV.NAME")`},
	{"an authorization among the headers", `{"url": "https://b", "headers": {"Authorization": "$ENV.A"}}`, `f:1: headers.Authorization: found a header that has a key of its own, expected it as "authorization"`},
	{"a header with a line break", `{"url": "https://b", "headers": {"X": "a\r\nb"}}`, "f:1: headers.X: found a header that cannot be sent, expected a name and a value on one line"},
	{"a long timeout", `{"command": "a", "timeout": "25h"}`, "f:1: timeout: found 25h0m0s, expected at most 24h0m0s"},
	{"a timeout as a number", `{"command": "a", "timeout": 30}`, `f:1: timeout: found 30, expected a positive duration such as "90s" or "10m"`},
	{"an unknown key", `{"command": "a", "args": ["hunter2"]}`, "f:1: args: found an unknown key, expected one of $schema, label, transport, command, arguments, env, url, headers, authorization, timeout"},
}

func Test_Problems_Of_A_Wrong_Server_Name_The_Key(t *testing.T) {
	t.Parallel()
	for _, c := range badServers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, problems := parseServer("s", "f", "/d", []byte(c.text))
			var told reported
			told.add(problems...)
			got := lines("/no root", told.problems)
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(strings.Join(got, ""), "hunter2") {
				t.Error("a value is shown")
			}
		})
	}
}

func Test_A_Server_Is_Read_Whole(t *testing.T) {
	t.Parallel()
	got, problems := parseServer("s", "f", "/d", []byte(`{"transport": "http", "url": "https://a.b/mcp?x=1", "headers": {"X-A": "1", "X-Api-Key": "$ENV.K"}, "authorization": "$ENV.A"}`))
	want := tool.Server{ID: "s", URL: "https://a.b/mcp?x=1", Headers: map[string]string{"X-A": "1", "X-Api-Key": "$ENV.K", "Authorization": "$ENV.A"}}
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Error(diff, problems)
	}
}

// badPrompts are invalid prompts with the expected problems.
var badPrompts = []struct{ name, text, want string }{
	{"nothing", "", "f:1: found an empty file, expected a list of prompts"},
	{"a comment", "# x\n", "f:1: found an empty file, expected a list of prompts"},
	{"a mapping", "role: system", "f:1: found a mapping, expected a list of prompts such as - {role: system, content: ...}"},
	{"a text", "be brief", `f:1: found "be brief", expected a list of prompts such as - {role: system, content: ...}`},
	{"texts", "- be brief", `f:1: [0]: found "be brief", expected role and content`},
	{"broken YAML", "- role: system\n  content: 'x", "f:2: found broken YAML (found unexpected end of stream), expected a list of prompts"},
	{"two documents", "- {role: system, content: x}\n---\n- x", "f:2: found a second document, expected one"},
	{"another role", "- {role: system, content: x}\n- {role: tool, content: x}", `f:2: [1].role: found "tool", expected system, user or assistant`},
	{"no role", "- content: x", "f:1: [0]: found no role, expected role and content"},
	{"no content", "- role: user", "f:1: [0]: found no content, expected role and content"},
	{"empty content", "- role: user\n  content: '  '", "f:1: [0].content: found no text, expected a prompt"},
	{"content that is nothing", "- role: user\n  content:", "f:2: [0].content: found nothing, expected a text"},
	{"content that is a number", "- role: user\n  content: 7", `f:2: [0].content: found "7", expected a text`},
	{"content that is a list", "- role: user\n  content: [x]", "f:2: [0].content: found a list, expected a text"},
	{"an unknown key", "- role: user\n  content: x\n  name: y", "f:3: [0].name: found an unknown key, expected one of role, content"},
	{"a key twice", "- role: user\n  role: user\n  content: x", "f:2: [0].role: found a second time, expected once"},
	{"an anchor", "- role: user\n  content: &a x", "f:2: [0].content: found an alias or an anchor, expected the text itself"},
	{"an alias", "- &a {role: user, content: x}\n- *a", "f:1: [0]: found an alias or an anchor, expected the text itself"},
	{"a tag", "- role: user\n  content: !!str 7", "f:2: [0].content: found a tag, expected none"},
	{"a NUL", "- role: user\x00", "f: found a NUL character, expected text"},
}

func Test_Problems_Of_Wrong_Prompts_Name_The_Key(t *testing.T) {
	t.Parallel()
	for _, c := range badPrompts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, problems := parsePrompts("f", []byte(c.text))
			if got != nil || len(problems) == 0 || problems[0].String() != c.want {
				t.Errorf("got  %v, %q\nwant %s", got, problems, c.want)
			}
		})
	}
}

func fuzzProblems(t *testing.T, problems []string) {
	t.Helper()
	for _, s := range problems {
		if strings.ContainsAny(s, "\n\r\x1b") || !strings.HasPrefix(s, "f:") {
			t.Errorf("%q", s)
		}
	}
}

func FuzzPackage(f *testing.F) {
	f.Add([]byte(seedPackage))
	for _, c := range badPackages {
		f.Add([]byte("{\"name\": \"A\", \"connector\": \"m\",\n" + c.text + "}"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, s := parsePackage("f", data)
		var told []string
		for _, problem := range p.problems {
			told = append(told, problem.String())
		}
		fuzzProblems(t, told)
		if len(told) == 0 && (p.doc.Name == "" || p.doc.Connector == "" || s != nil && s.Command == "") {
			t.Errorf("%+v, %+v", p.doc, s)
		}
	})
}

func FuzzServer(f *testing.F) {
	for _, c := range badServers {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems := parseServer("s", "f", "/d", data)
		var told []string
		for _, problem := range problems {
			told = append(told, problem.String())
		}
		fuzzProblems(t, told)
		if len(told) == 0 && (len(s.Command) == 0) == (s.URL == "") {
			t.Errorf("%+v", s)
		}
	})
}

func FuzzPrompts(f *testing.F) {
	for _, c := range badPrompts {
		f.Add([]byte(c.text))
	}
	f.Add([]byte("- role: system\n  content: |\n    x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > MaxPrompts {
			return
		}
		got, problems := parsePrompts("f", data)
		var told []string
		for _, problem := range problems {
			told = append(told, problem.String())
		}
		fuzzProblems(t, told)
		for _, m := range got {
			if m.Role == "" || strings.TrimSpace(m.Text()) == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}
