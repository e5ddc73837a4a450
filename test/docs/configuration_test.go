package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy"
)

// schema is the part of a JSON schema that the page shows.
type schema struct {
	Ref                  string          `json:"$ref"`
	Description          string          `json:"description"`
	Type                 string          `json:"type"`
	Enum                 []any           `json:"enum"`
	Default              json.RawMessage `json:"default"`
	AnyOf                []schema        `json:"anyOf"`
	Items                *schema         `json:"items"`
	Properties           properties      `json:"properties"`
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
	Required             []string        `json:"required"`
	Defs                 map[string]schema
}

// properties are the properties of a schema in the order of the file.
type properties []property

type property struct {
	name string
	schema
}

// UnmarshalJSON reads an object and preserves its order.
func (p *properties) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		one := property{name: fmt.Sprint(name)}
		if err := dec.Decode(&one.schema); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

func Test_The_Configuration_Page_Has_Every_Key_And_Preset(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(top, "policy", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var root struct {
		schema
		Defs map[string]schema `json:"$defs"`
	}
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	keys := "| key | type | meaning |\n|---|---|---|\n" + rows(root.Defs, "", root.schema)
	checkGenerated(t, "docs/configuration.md", "keys", keys)
	checkGenerated(t, "docs/configuration.md", "presets", presets())
}

// rows returns the rows of a table with all keys of s, whose names begin with prefix.
func rows(defs map[string]schema, prefix string, s schema) string {
	var b strings.Builder
	for _, p := range s.Properties {
		name := prefix + p.name
		description := p.Description
		s := p.resolve(defs)
		if description == "" {
			description = s.Description
		}
		if len(p.Default) > 0 {
			description += " Default: `" + string(p.Default) + "`."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, s.kind(defs), strings.ReplaceAll(description, "|", `\|`))
		b.WriteString(rows(defs, name+".", s))
		for _, alternative := range s.AnyOf {
			b.WriteString(rows(defs, name+".", alternative.resolve(defs)))
		}
		var values schema
		if json.Unmarshal(s.AdditionalProperties, &values) == nil {
			b.WriteString(rows(defs, name+".NAME.", values.resolve(defs)))
		}
	}
	return b.String()
}

// resolve follows a reference to a definition.
func (s schema) resolve(defs map[string]schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		return defs[name]
	}
	return s
}

// kind returns the type of a value in words.
func (s schema) kind(defs map[string]schema) string {
	s = s.resolve(defs)
	switch {
	case len(s.Enum) > 0:
		var words []string
		for _, v := range s.Enum {
			data, _ := json.Marshal(v)
			words = append(words, "`"+string(data)+"`")
		}
		return strings.Join(words, ", ")
	case len(s.AnyOf) > 0:
		var kinds []string
		for _, a := range s.AnyOf {
			kinds = append(kinds, a.kind(defs))
		}
		return strings.Join(kinds, " or ")
	case s.Type == "array" && s.Items != nil:
		return "list of " + s.Items.kind(defs) + "s"
	}
	return s.Type
}

// presets returns a table of the presets with their paths.
func presets() string {
	groups := map[string]string{
		"@all":        "`@base`, `@caches`, `@agents`, `@git` and `@lint/all`; the default",
		"@lint/all":   "`@lint/ts`, `@lint/go` and `@lint/python`",
		"@git":        "git's hooks, configuration and attributes cannot be changed, in every repository of the workspace",
		"@git-strict": "of the repository's branches only the current one can be changed; not part of `@all`",
		"@base":       "the working directory is writable, the home directory is readable, and hidden are: ",
		"@caches":     "writable: ",
		"@agents":     "an agent can write its sessions; writable: `~/.codex`, `~/.claude`, `~/.pi`, and readable: `~/.claude.json`",
		"@claude":     "Claude Code can log in and change its own configuration; not part of `@all`; writable: ",
		"@codex":      "the same for Codex; writable: ",
		"@gemini":     "the same for Gemini; writable: ",
		"@opencode":   "the same for opencode; writable: ",
		"@pi":         "the same for pi; writable: ",
		"@ssh-agent":  "commands can list the identities of your SSH agent and [sign with them](#the-ssh-agent); not part of `@all`; readable: ",
		"@gpg-agent":  "commands can list the keys of your GnuPG agent and [sign with them](#the-gnupg-agent); not part of `@all`",
	}
	var b strings.Builder
	b.WriteString("| preset | rules |\n|---|---|\n")
	for _, name := range policy.PresetNames() {
		text := groups[name]
		if text == "" {
			text = "readable, not writable: "
		}
		if strings.HasSuffix(text, ": ") {
			paths := slices.DeleteFunc(policy.PresetPaths(name), func(p string) bool { return p == "." || p == "~" })
			text += "`" + strings.Join(paths, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, text)
	}
	return b.String()
}

// checkGenerated compares the part of a page between two comments with text, or writes it with -update.
func checkGenerated(t *testing.T, name, part, text string) {
	t.Helper()
	file := filepath.Join(top, name)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), "<!-- "+part+": ")
	comment, rest, closed := strings.Cut(rest, "-->\n")
	_, after, ended := strings.Cut(rest, "<!-- end of "+part+" -->")
	if !found || !closed || !ended {
		t.Fatalf("%s has no part %q between comments", name, part)
	}
	want := before + "<!-- " + part + ": " + comment + "-->\n\n" + text + "\n<!-- end of " + part + " -->" + after
	switch {
	case want == string(data):
	case *update:
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: part %q is not current; run: go test ./test/docs -update", name, part)
	}
}
