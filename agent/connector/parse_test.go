package connector

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func Test_Every_Key_Of_A_Connector_Is_Read(t *testing.T) {
	t.Parallel()
	c, problems := Parse("deepseek.v3", "f", []byte(`{
  // DeepSeek
  "$schema": "x",
  "label": "DeepSeek V3", "type": "openai",
  "options": {
    "host": "https://api.deepseek.com/", "model": "deepseek-chat", "key": "$ENV.DEEPSEEK_API_KEY",
    "headers": {"X-Title": "agents"}, "max_tokens": 8192,
  },
  "price": {"input": 0.28, "output": 0.42, "cache_read": 0.028},
  "allow": {"members": ["service_tier"], "blocks": ["server_tool_use"], "tools": ["web_search_20250305"], "sources": ["url"], "betas": ["context-1m-2025-08-07"]},
}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	read := 0.028
	want := &Connector{
		ID: "deepseek.v3", Label: "DeepSeek V3", Protocol: OpenAI, BaseURL: "https://api.deepseek.com/v1", Model: "deepseek-chat",
		Headers: map[string]string{"X-Title": "agents"}, MaxTokens: 8192,
		Price: &Price{Input: 0.28, Output: 0.42, CacheRead: &read}, Secret: Secret{Env: "DEEPSEEK_API_KEY"},
		Allow: Allow{
			Members: []string{"service_tier"}, Blocks: []string{"server_tool_use"}, Tools: []string{"web_search_20250305"}, Sources: []string{"url"},
			Betas: []string{"context-1m-2025-08-07"},
		},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func Test_A_Base_URL_Is_Completed_For_Its_Protocol(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ protocol, host, want string }{
		{"openai", `"host": "https://a.b"`, "https://a.b/v1"},
		{"openai", `"host": "https://a.b/"`, "https://a.b/v1"},
		{"openai", `"base_url": "http://127.0.0.1:11434/v1/"`, "http://127.0.0.1:11434/v1"},
		{"openai", `"host": "https://a.b/api/v3"`, "https://a.b/api/v3"},
		{"openai", `"host": "https://a.b//x//"`, "https://a.b/x"},
		{"openai", `"max_tokens": 1`, "https://api.openai.com/v1"},
		{"responses", `"max_tokens": 1`, "https://api.openai.com/v1"},
		{"anthropic", `"max_tokens": 1`, "https://api.anthropic.com"},
		{"anthropic", `"host": "https://a.b/v1"`, "https://a.b"},
		{"anthropic", `"host": "https://a.b/anthropic/"`, "https://a.b/anthropic"},
	} {
		t.Run(c.protocol+" "+c.host, func(t *testing.T) {
			t.Parallel()
			got, problems := Parse("x", "f", fmt.Appendf(nil, `{"type": %q, "options": {"model": "m", %s}}`, c.protocol, c.host))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got.BaseURL != c.want {
				t.Errorf("got %s, want %s", got.BaseURL, c.want)
			}
		})
	}
}

func Test_A_Key_Is_A_Place(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want Secret
		says string
	}{
		{`"$ENV.A_1"`, Secret{Env: "A_1"}, "$ENV.A_1"},
		{`{"env": "B"}`, Secret{Env: "B"}, "$ENV.B"},
		{`{"file": "/run/secrets/key"}`, Secret{File: "/run/secrets/key"}, "the file /run/secrets/key"},
		{`{"file": "~/key"}`, Secret{File: "~/key"}, "the file ~/key"},
		{`{"command": ["op", "read", "--no-newline", "x"]}`, Secret{Command: []string{"op", "read", "--no-newline", "x"}}, "the output of op"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got, problems := Parse("x", "f", fmt.Appendf(nil, `{"type": "openai", "options": {"model": "m", "key": %s}}`, c.text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if diff := cmp.Diff(c.want, got.Secret); diff != "" {
				t.Error(diff)
			}
			if got.Secret.String() != c.says {
				t.Errorf("it says %s, want %s", got.Secret, c.says)
			}
		})
	}
}

func Test_Formatting_A_Secret_Never_Shows_Its_Value(t *testing.T) {
	t.Parallel()
	c := Connector{ID: "x", Secret: Secret{Value: "sk-hunter2"}}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{string(text), fmt.Sprint(c), fmt.Sprintf("%v %+v %#v", c, c, c), fmt.Sprintf("%s %q %x %d", c.Secret, c.Secret, c.Secret, c.Secret), fmt.Sprintf("%#v", &c)} {
		if strings.Contains(s, "hunter2") || strings.Contains(s, fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("it is in %s", s)
		}
	}
}

// bad are invalid files. Where one has "sk-hunter2", its problems must not
// repeat that.
var bad = []struct{ name, text, want, hint string }{
	{"nothing", ``, "f:1: found an empty file, expected an object such as {}", ""},
	{"no object", `[]`, "f:1: found an array, expected an object", ""},
	{"broken JSON", "{\"options\": {\n\"key\": \"sk-hunter2", `f:2: found broken JSON (parsing string met the end of the file), expected an object`, ""},
	{"broken JSON with a key in it", "{\"key\": sk-hunter2}", `f:1: found broken JSON (invalid literal), expected an object`, ""},
	{"no type", `{"options": {"model": "m"}}`, "f:1: type: found nothing, expected one of openai, responses, anthropic", `a server that is compatible with OpenAI's has "type": "openai"`},
	{"another type", "{\n\"type\": \"antropic\", \"options\": {\"model\": \"m\"}}", `f:2: type: found "antropic", expected one of openai, responses, anthropic`, `did you mean "anthropic"?`},
	{"no model", "{\"type\": \"openai\",\n\"options\": {}}", "f:2: options.model: found nothing, expected the model as the server calls it", ""},
	{"no options", `{"type": "openai"}`, "f:1: options: found nothing, expected an object with the model", ""},
	{"a literal key", "{\"type\": \"openai\", \"options\": {\"model\": \"m\",\n\"key\": \"sk-hunter2\"}}", `f:2: options.key: found a text that names no variable, expected "$ENV.NAME", {"env": "NAME"}, {"file": "PATH"} or {"command": ["PROGRAM", "ARGUMENT"]}`, `keys are not written in files: put it into a variable and write "$ENV.NAME"`},
	{"a literal key as a variable's name", `{"type": "openai", "options": {"model": "m", "key": {"env": "sk-hunter2"}}}`, `f:1: options.key.env: found another text, expected the name of a variable`, `keys are not written in files: put it into a variable and write "$ENV.NAME"`},
	{"a key in two places", `{"type": "openai", "options": {"model": "m", "key": {"env": "A", "file": "/b"}}}`, `f:1: options.key: found 2 places, expected one of env, file, command`, ""},
	{"a key in no place", `{"type": "openai", "options": {"model": "m", "key": {}}}`, `f:1: options.key: found 0 places, expected one of env, file, command`, ""},
	{"a key in an unknown place", "{\"type\": \"openai\", \"options\": {\"model\": \"m\", \"key\": {\n\"vault\": \"sk-hunter2\"}}}", `f:2: options.key.vault: found an unknown key, expected one of env, file, command`, ""},
	{"a key that is a number", `{"type": "openai", "options": {"model": "m", "key": 7}}`, `f:1: options.key: found another value, expected "$ENV.NAME", {"env": "NAME"}, {"file": "PATH"} or {"command": ["PROGRAM", "ARGUMENT"]}`, ""},
	{"a command as a text", `{"type": "openai", "options": {"model": "m", "key": {"command": "echo sk-hunter2"}}}`, `f:1: options.key.command: found another value, expected "$ENV.NAME", {"env": "NAME"}, {"file": "PATH"} or {"command": ["PROGRAM", "ARGUMENT"]}`, ""},
	{"a command without a program", `{"type": "openai", "options": {"model": "m", "key": {"command": []}}}`, `f:1: options.key.command: found no program in it, expected a program and at most 63 arguments`, ""},
	{"a relative program", `{"type": "openai", "options": {"model": "m", "key": {"command": ["./key.sh"]}}}`, `f:1: options.key.command: found a relative path, expected a program's name or its absolute path`, ""},
	{"a relative file", `{"type": "openai", "options": {"model": "m", "key": {"file": "key"}}}`, `f:1: options.key.file: found another text, expected an absolute path or one that begins with ~/`, ""},
	{"a key in a header", `{"type": "openai", "options": {"model": "m", "headers": {"authorization": "Bearer sk-hunter2"}}}`, `f:1: options.headers.authorization: found a header that holds a key, which is not written in this file`, `name the variable that holds it: "key": "$ENV.NAME"`},
	{"a header with a line break", `{"type": "openai", "options": {"model": "m", "headers": {"X-A": "a\r\nHost: sk-hunter2"}}}`, `f:1: options.headers.X-A: found a header that cannot be sent, expected a name and a value on one line`, ""},
	{"a header that frames", `{"type": "openai", "options": {"model": "m", "headers": {"Content-Length": "1"}}}`, `f:1: options.headers.Content-Length: found a header that cannot be sent, expected a name and a value on one line`, ""},
	{"a header twice", `{"type": "openai", "options": {"model": "m", "headers": {"X-A": "1", "x-a": "2"}}}`, `f:1: options.headers.x-a: found "X-A" beside it, which is the same header`, ""},
	{"a header that is a list", `{"type": "openai", "options": {"model": "m", "headers": {"X-A": ["sk-hunter2"]}}}`, `f:1: options.headers.X-A: found an array, expected a string`, ""},
	{"options as a text", `{"type": "openai", "options": "sk-hunter2"}`, `f:1: options: found a string, expected an object`, ""},
	{"two addresses", `{"type": "openai", "options": {"model": "m", "host": "http://a", "base_url": "http://b"}}`, `f:1: options.base_url: found host beside it, expected one of them`, ""},
	{"an address without a scheme", `{"type": "openai", "options": {"model": "m", "host": "api.deepseek.com"}}`, `f:1: options.host: found another address, expected http:// or https:// and a host`, ""},
	{"an address of a file", `{"type": "openai", "options": {"model": "m", "host": "file:///etc/passwd"}}`, `f:1: options.host: found another address, expected http:// or https:// and a host`, ""},
	{"an address with a password", `{"type": "openai", "options": {"model": "m", "host": "https://u:sk-hunter2@a.b"}}`, `f:1: options.host: found an address with a user, a query or a fragment, expected one without`, `a key belongs to "key", and is not written in this file`},
	{"an address with a key", `{"type": "openai", "options": {"model": "m", "host": "https://a.b/v1?key=sk-hunter2"}}`, `f:1: options.host: found an address with a user, a query or a fragment, expected one without`, `a key belongs to "key", and is not written in this file`},
	{"no tokens", `{"type": "openai", "options": {"model": "m", "max_tokens": 0}}`, `f:1: options.max_tokens: found 0, expected a whole number from 1 to 1099511627776`, ""},
	{"tokens by half", `{"type": "openai", "options": {"model": "m", "max_tokens": 1.5}}`, `f:1: options.max_tokens: found 1.5, expected a whole number of at least 1`, ""},
	{"an unknown effort", `{"type": "openai", "options": {"model": "m", "reasoning_effort": "hgh"}}`, `f:1: options.reasoning_effort: found "hgh", expected one of none, minimal, low, medium, high, xhigh, max`, ""},
	{"an empty effort", `{"type": "openai", "options": {"model": "m", "reasoning_effort": ""}}`, `f:1: options.reasoning_effort: found no text, expected one of none, minimal, low, medium, high, xhigh, max`, ""},
	{"an effort for Anthropic", `{"type": "anthropic", "options": {"model": "m", "reasoning_effort": "high"}}`, `f:1: options.reasoning_effort: found it for a connector of type anthropic, whose API has none`, `write "thinking": {"type": "enabled", "budget_tokens": 4096}`},
	{"thinking without a budget", "{\"type\": \"anthropic\", \"options\": {\"model\": \"m\",\n\"thinking\": {\"type\": \"enabled\"}}}", `f:2: options.thinking: found no budget_tokens beside the type enabled, expected how many tokens it may think for`, `write "budget_tokens": 4096, or the type adaptive for models that decide themselves`},
	{"thinking without a type", "{\"type\": \"anthropic\", \"options\": {\"model\": \"m\",\n\"thinking\": {}}}", `f:2: options.thinking.type: found "", expected one of enabled, adaptive, disabled`, ""},
	{"a small budget", `{"type": "anthropic", "options": {"model": "m", "thinking": {"type": "enabled", "budget_tokens": 1000}}}`, `f:1: options.thinking.budget_tokens: found 1000, expected a whole number from 1024 to 1099511627776`, ""},
	{"a budget for nothing", `{"type": "anthropic", "options": {"model": "m", "thinking": {"type": "adaptive", "budget_tokens": 4096}}}`, `f:1: options.thinking.budget_tokens: found it beside the type adaptive, which has none`, ""},
	{"a budget for Chat Completions", `{"type": "openai", "options": {"model": "m", "thinking": {"type": "enabled", "budget_tokens": 4096}}}`, `f:1: options.thinking.budget_tokens: found it for a connector of type openai, whose servers have none`, ""},
	{"thinking for Responses", `{"type": "responses", "options": {"model": "m", "thinking": {"type": "enabled"}}}`, `f:1: options.thinking: found it for a connector of type responses, whose API has none`, `write "reasoning_effort": "medium"`},
	{"thinking as a text", `{"type": "anthropic", "options": {"model": "m", "thinking": "hard"}}`, `f:1: options.thinking: found a string, expected an object`, ""},
	{"a price without output", "{\"type\": \"openai\", \"options\": {\"model\": \"m\"},\n\"price\": {\"input\": 1}}", `f:2: price.output: found nothing, expected US dollars for a million tokens`, ""},
	{"a price below zero", `{"type": "openai", "options": {"model": "m"}, "price": {"input": -1, "output": 1}}`, `f:1: price.input: found -1, expected US dollars for a million tokens, from 0 to 1000000000`, ""},
	{"a price as a text", `{"type": "openai", "options": {"model": "m"}, "price": {"input": "1", "output": 1}}`, `f:1: price.input: found a string, expected a number that is not negative`, ""},
	{"a model on two lines", `{"type": "openai", "options": {"model": "m\nx"}}`, `f:1: options.model: found "m\nx", expected one line of at most 4096 bytes`, ""},
	{"a source that is unknown", `{"type": "openai", "options": {"model": "m"}, "allow": {"sources": ["base64"]}}`, `f:1: allow.sources[0]: found "base64", expected one of url, file`, ""},
	{"a member that stays closed", `{"type": "openai", "options": {"model": "m"}, "allow": {"members": ["seed", "store"]}}`, `f:1: allow.members[1]: found "store", which no connector can open`, ""},
	{"a beta with a comma", `{"type": "openai", "options": {"model": "m"}, "allow": {"betas": ["a,b"]}}`, `f:1: allow.betas[0]: found "a,b", expected a name of the server's API`, ""},
	{"an unknown list", `{"type": "openai", "options": {"model": "m"}, "allow": {"tool": ["mcp"]}}`, `f:1: allow.tool: found an unknown key, expected one of members, blocks, tools, sources, betas`, `did you mean "tools"?`},
	{"an unknown key", "{\"type\": \"openai\",\n\"option\": {\"key\": \"sk-hunter2\"}, \"options\": {\"model\": \"m\"}}", `f:2: option: found an unknown key, expected one of $schema, label, type, options, price, allow`, `did you mean "options"?`},
	{"a key twice", `{"type": "openai", "type": "openai", "options": {"model": "m"}}`, `f:1: type: found a second time, expected once (first on line 1)`, ""},
}

func Test_Problems_Of_A_Wrong_Connector_Name_The_Key(t *testing.T) {
	t.Parallel()
	for _, c := range bad {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, problems := Parse("x", "f", []byte(c.text))
			if got != nil || len(problems) != 1 {
				t.Fatalf("got %v and %d problems %q, want one", got, len(problems), problems)
			}
			if s := problems[0].String(); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
			if problems[0].Hint != c.hint {
				t.Errorf("hint %q, want %q", problems[0].Hint, c.hint)
			}
			if strings.Contains(fmt.Sprint(problems), "hunter2") {
				t.Errorf("a key is shown: %v", problems)
			}
		})
	}
}

func Test_Parse_Reports_All_Problems_In_File_Order(t *testing.T) {
	t.Parallel()
	_, problems := Parse("x", "f", []byte("{\n\"typ\": 1,\n\"type\": \"x\",\n\"options\": {\n\"key\": \"sk\",\n\"host\": \"ftp://x\"}}"))
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{2, 3, 4, 5}, lines); diff != "" {
		t.Errorf("%s\n%v", diff, problems)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type": "openai", "options": {"model": "m", "host": "http://a", "key": {"command": ["x"]}}, "price": {"input": 1, "output": 2}}`))
	for _, c := range bad {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, problems := Parse("x", "f", data)
		if (c == nil) == (len(problems) == 0) {
			t.Fatalf("%v beside %v", c, problems)
		}
		for _, p := range problems {
			if s := p.String(); strings.ContainsAny(s, "\n\r\x1b") || !strings.HasPrefix(s, "f:") {
				t.Errorf("%q", s)
			}
		}
		if c != nil && (c.BaseURL == "" || c.Model == "" || strings.HasSuffix(c.BaseURL, "/") || c.Secret.Value != "") {
			t.Errorf("%+v", c)
		}
	})
}
