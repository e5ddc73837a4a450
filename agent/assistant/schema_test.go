package assistant

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

const examples = "../../examples/assistants"

func resolved(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	// Schemas have the regular expressions of JavaScript, whose syntax differs from
	// Go's.
	text := regexp.MustCompile(`\\\\u([0-9a-f]{4})`).ReplaceAll(Schema(name), []byte(`\\x{$1}`))
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plainJSON returns an example file as JSON without comments.
func plainJSON(t *testing.T, text []byte, isYAML bool) any {
	t.Helper()
	var v any
	if isYAML {
		if err := yaml.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	standard, err := hujson.Standardize(text)
	if err == nil {
		err = json.Unmarshal(standard, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func Test_The_Examples_Fit_Their_Schemas(t *testing.T) {
	t.Parallel()
	for name, patterns := range map[string][]string{
		"assistant": {"assistants/*/package.*"}, "connector": {"connectors/*.conn.*", "connectors/*/*.conn.*"},
		"mcp": {"assistants/*/mcps/*.mcp.*"}, "prompts": {"assistants/*/prompts.yml"},
	} {
		schema, seen := resolved(t, name), 0
		for _, pattern := range patterns {
			files, err := filepath.Glob(filepath.Join(examples, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				seen++
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(plainJSON(t, text, name == "prompts")); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
		if seen == 0 {
			t.Errorf("no example of %s", name)
		}
	}
	if err := resolved(t, "assistant").Validate(plainJSON(t, []byte(seedPackage), false)); err != nil {
		t.Errorf("the seed's package: %v", err)
	}
}

// verdict reports whether a parser accepts a file.
func verdict(name, text string) (ok bool, problems []string) {
	var found []jsonc.Problem
	switch name {
	case "assistant":
		p, _ := parsePackage("f", []byte(text))
		found = p.problems
	case "connector":
		_, found = connector.Parse("x", "f", []byte(text))
	case "mcp":
		_, found = parseServer("x", "f", "/d", []byte(text))
	case "prompts":
		_, found = parsePrompts("f", []byte(text))
	}
	for _, p := range found {
		problems = append(problems, p.String())
	}
	return len(found) == 0, problems
}

// objects has the objects of each file: a text with %s at the place of a further
// member.
var objects = []struct{ schema, path, text string }{
	{"assistant", "", `{"name": "A", "connector": "m" %s}`},
	{"assistant", "sandbox", `{"name": "A", "connector": "m", "sandbox": {"command": "claude" %s}}`},
	{"assistant", "$defs.claude", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "arguments": {"max_turns": 1 %s}}}`},
	{"assistant", "$defs.codex", `{"name": "A", "connector": "m", "sandbox": {"command": "codex", "arguments": {"effort": "low" %s}}}`},
	{"assistant", "$defs.cursor", `{"name": "A", "connector": "m", "sandbox": {"command": "cursor", "arguments": {"force": true %s}}}`},
	{"assistant", "$defs.policy", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "policy": {"network": "none" %s}}}`},
	{"assistant", "mcp", `{"name": "A", "connector": "m", "mcp": {"servers": [] %s}}`},
	{"assistant", "mcp.servers[]", `{"name": "A", "connector": "m", "mcp": {"servers": [{"server_id": "s" %s}]}}`},
	{"assistant", "options", `{"name": "A", "connector": "m", "options": {"max_tokens": 1 %s}}`},
	{"assistant", "limits", `{"name": "A", "connector": "m", "limits": {"tokens_per_day": 1 %s}}`},
	{"connector", "", `{"type": "openai", "options": {"model": "m"} %s}`},
	{"connector", "options", `{"type": "openai", "options": {"model": "m" %s}}`},
	{"connector", "options.thinking", `{"type": "anthropic", "options": {"model": "m", "thinking": {"type": "adaptive" %s}}}`},
	{"assistant", "options.thinking", `{"name": "A", "connector": "m", "options": {"thinking": {"type": "disabled" %s}}}`},
	{"connector", "options.key", `{"type": "openai", "options": {"model": "m", "key": {"env": "A" %s}}}`},
	{"connector", "price", `{"type": "openai", "options": {"model": "m"}, "price": {"input": 1, "output": 2 %s}}`},
	{"mcp", "", `{"command": "a" %s}`},
	{"prompts", "[]", `[{"role": "user", "content": "x" %s}]`},
}

func Test_Schemas_And_Parsers_Know_The_Same_Keys(t *testing.T) {
	t.Parallel()
	told := regexp.MustCompile(`found an unknown key, expected one of (.*)$`)
	for _, o := range objects {
		t.Run(o.schema+" "+o.path, func(t *testing.T) {
			t.Parallel()
			if ok, problems := verdict(o.schema, fmt.Sprintf(o.text, "")); !ok {
				t.Fatal(problems)
			}
			extra := fmt.Sprintf(o.text, `, "no such key": 1`)
			_, problems := verdict(o.schema, extra)
			if len(problems) == 0 || told.FindStringSubmatch(problems[0]) == nil {
				t.Fatalf("an unknown key: %q", problems)
			}
			if resolved(t, o.schema).Validate(plainJSON(t, []byte(extra), false)) == nil {
				t.Error("the schema takes an unknown key")
			}
			known := strings.Split(told.FindStringSubmatch(problems[0])[1], ", ")
			slices.Sort(known)
			if diff := cmp.Diff(known, properties(t, o.schema, o.path)); diff != "" {
				t.Errorf("parser and schema: %s", diff)
			}
		})
	}
}

// properties returns the keys of an object in a schema, and checks that each has a
// description.
func properties(t *testing.T, schema, path string) []string {
	t.Helper()
	var node map[string]any
	if err := json.Unmarshal(Schema(schema), &node); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(path, ".") {
		name, isList := strings.CutSuffix(part, "[]")
		if name == "$defs" {
			node = map[string]any{"properties": node["$defs"]}
			continue
		}
		if name != "" {
			node = node["properties"].(map[string]any)[name].(map[string]any)
		}
		if isList {
			node = node["items"].(map[string]any)
		}
		if forms, ok := node["anyOf"].([]any); ok {
			node = forms[1].(map[string]any)
		}
	}
	var out []string
	for key, v := range node["properties"].(map[string]any) {
		out = append(out, key)
		if v.(map[string]any)["description"] == nil {
			t.Errorf("%s has no description", key)
		}
	}
	slices.Sort(out)
	return out
}

// The schema and the parser must both accept, or both refuse, each of these.
var verdicts = []struct {
	schema, text string
	want         bool
}{
	{"assistant", `{"name": "A"}`, false},
	{"assistant", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "backend": "virtual"}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "max_memory": "4xyz"}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "max_memory": "2gb"}}`, true},
	{"assistant", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "max_memory": 1048576}}`, true},
	{"assistant", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "timeout": "10"}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "sandbox": {"command": "codex", "arguments": {"max_turns": 1}}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "policy": {"filesystem": {"ro": ["/x"]}}}}`, true},
	{"assistant", `{"name": "A", "connector": "m", "sandbox": {"command": "claude", "policy": {"filesystem": {"ro": "/x"}}}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "mcp": {"servers": [{"server_id": "s", "tools": []}]}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "options": {"temperature": 2.5}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "limits": {"cost_per_day_usd": 0}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "options": {"thinking": {"type": "enabled", "budget_tokens": 1000}}}`, false},
	{"assistant", `{"name": "A", "connector": "m", "options": {"thinking": {"type": "enabled", "budget_tokens": 4096}}}`, true},
	{"assistant", `{"name": "A", "connector": "m", "options": {"reasoning_effort": "huge"}}`, false},
	{"connector", `{"type": "anthropic", "options": {"model": "m", "thinking": {"type": "adaptive"}}}`, true},
	{"connector", `{"type": "openai", "options": {"model": "m", "reasoning_effort": "high"}}`, true},
	{"connector", `{"type": "openai", "options": {"model": "m", "key": "sk-x"}}`, false},
	{"connector", `{"type": "openai", "options": {"model": "m", "key": {"env": "A", "file": "/b"}}}`, false},
	{"connector", `{"type": "openai", "options": {"model": "m", "key": {"command": ["op", "read", "x"]}}}`, true},
	{"connector", `{"type": "openai", "options": {"model": "m", "host": "a.b"}}`, false},
	{"connector", `{"type": "openai", "options": {"model": "m", "host": "http://a", "base_url": "http://a"}}`, false},
	{"connector", `{"type": "grpc", "options": {"model": "m"}}`, false},
	{"connector", `{"type": "openai", "options": {"model": "m"}, "price": {"input": 1}}`, false},
	{"mcp", `{"url": "https://a.b/mcp", "authorization": "$ENV.A"}`, true},
	{"mcp", `{"url": "https://a.b/mcp", "authorization": "Bearer x"}`, false},
	{"mcp", `{"url": "https://a.b/mcp", "command": "x"}`, false},
	{"mcp", `{"url": "https://a.b/sse", "transport": "sse"}`, false},
	{"mcp", `{}`, false},
	{"prompts", `[{"role": "tool", "content": "x"}]`, false},
	{"prompts", `[{"role": "user", "content": " "}]`, false},
	{"prompts", `[]`, true},
}

func Test_Schemas_And_Parsers_Have_One_Verdict(t *testing.T) {
	t.Parallel()
	for _, c := range verdicts {
		t.Run(c.schema+" "+c.text, func(t *testing.T) {
			t.Parallel()
			if ok, problems := verdict(c.schema, c.text); ok != c.want {
				t.Errorf("the parser says %t, want %t: %q", ok, c.want, problems)
			}
			if err := resolved(t, c.schema).Validate(plainJSON(t, []byte(c.text), false)); (err == nil) != c.want {
				t.Errorf("the schema says %v, want %t", err, c.want)
			}
		})
	}
}

func Test_Schema_Of_An_Unknown_Name_Is_Nil(t *testing.T) {
	t.Parallel()
	for _, name := range Schemas() {
		if !json.Valid(Schema(name)) {
			t.Errorf("%s is no JSON", name)
		}
	}
	if s := Schema("../schema/mcp"); s != nil {
		t.Errorf("got %s", s)
	}
}
