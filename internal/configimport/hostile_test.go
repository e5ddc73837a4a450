package configimport

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Broken_Settings_Are_One_Line_With_File_And_Line(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 1<<19)
	many := `{"filesystem":{"allowWrite":[` + strings.Repeat(`"a",`, 5000) + `"a"]}}`
	for _, row := range []struct{ name, file, in, want string }{
		{"nothing", "f", " \n", "f:1: found an empty file"},
		{"no object", "f", "[]", "f:1: found an array, expected an object"},
		{"broken JSON", "f", "{\n\n x", "f:3: found broken JSON"},
		{"a cut file", "f", "{\n\"a\":", "f:2: found broken JSON"},
		{"two documents", "f", "{}\n{}", "f:2: found broken JSON"},
		{"a list that is none", "f", "{\"filesystem\":\n{\"denyRead\": \"~\"}}", `f:2: filesystem.denyRead: found "~", expected an array of strings`},
		{"a list of something else", "f", `{"filesystem":{"denyRead":["a",7]}}`, "f:1: filesystem.denyRead[1]: found 7"},
		{"a section that is none", "f", `{"network":true}`, "f:1: network: found true, expected an object"},
		{"a switch that is none", "f", `{"filesystem":{"disabled":"yes"}}`, `f:1: filesystem.disabled: found "yes", expected true or false`},
		{"a key twice", "f", "{\"network\":{},\n\"network\":{}}", "f:2: network: found a second time"},
		{"a key twice in an entry", "f", "{\"credentials\":{\"files\":[{},\n{\"path\":\"a\",\n\"path\":\"b\"}]}}", "f:3: credentials.files[1].path: found a second time, expected once (first on line 2)"},
		{"a byte order mark", "f", "\ufeff{}", "f:1: found a byte order mark"},
		{"half a surrogate pair", "f", `{"filesystem":{"denyRead":["\ud800"]}}`, "f:1: filesystem.denyRead[0]: found half of a surrogate pair"},
		{"no UTF-8", "f", "{\"a\":\"\xff\"}", "f:1: found invalid UTF-8"},
		{"a credential without path", "f", `{"credentials":{"files":[{"mode":"deny"}]}}`, "f:1: credentials.files[0]: found an object"},
		{"a variable's name that is none", "f", `{"credentials":{"envVars":[{"name":"A=B","mode":"deny"}]}}`, "f:1: credentials.envVars[0]: found an object"},
		{"brackets without end", "f", `{"a":` + deep, "f:1: found more than 64 brackets"},
		{"a long name with many entries", "f", `{"` + strings.Repeat("x", 1<<18) + `":[` + strings.Repeat("0,", 1<<18) + `{"a":0,"a":0}]}`, "f:1: xxx"},
		{"too large", "f", `{"a":"` + strings.Repeat("x", policy.MaxConfig) + `"}`, "f:1: found more than 1MiB"},
		{"too many entries", "f", many, "f:1: filesystem.allowWrite: found more than 4096 entries"},
		{"a newline in the file's name", "a\nb\x1b[31m", "{", `"a\nb\x1b[31m":1: found broken JSON`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := Import(SRT, []File{{row.file, []byte(row.in)}}, testHost(t))
			if err == nil || sandbox.CodeOf(err) != sandbox.Invalid {
				t.Fatalf("error %v", err)
			}
			if got := err.Error(); !strings.HasPrefix(got, row.want) || strings.ContainsAny(got, "\n\x1b") || len(got) > 400 {
				t.Errorf("got %q, want %q...", got, row.want)
			}
		})
	}
}

func Test_Hostile_Values_Come_Out_Escaped(t *testing.T) {
	t.Parallel()
	name := testHome + "/a\nb */ \x1b]0;x\a\u202e\u2028.json"
	in := `{"network":{"allowedDomains":["a\u001b[31m.com","ok.com:1 // */"]},
		"filesystem":{"allowWrite":["x */ \u001b]31m\n\u202e\u2028\ud83d\ude00\udb40\udc01", "</script>"],"denyRead":["q/*/", "/**/ \"x"]},
		"credentials":{"files":[{"path":"~/\u202ef","mode":"mask"}]}, "odd\u001bkey": 1}`
	r, err := Import(SRT, []File{{name, []byte(in)}}, testHost(t))
	if err != nil {
		t.Fatal(err)
	}
	text := r.JSONC()
	for _, c := range string(text) {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Fatalf("%q in\n%q", c, text)
		}
	}
	if n := bytes.Count(text, []byte("\n")); n != len(strings.Split(strings.TrimSpace(string(text)), "\n")) {
		t.Errorf("%d lines", n)
	}
	p, _, err := policy.Decode("", text)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Filesystem.RW, "|"); got != "x */ \x1b]31m\n\u202e\u2028\U0001F600\U000E0001|</script>" {
		t.Errorf("the path became %q", got)
	}
}

func Test_The_Tool_Is_Recognized(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, file, in string
		want           Tool
		err            string
	}{
		{"srt by name", "/x/.srt-settings.json", "{", SRT, ""},
		{"fence by name", "/x/fence.jsonc", "{", Fence, ""},
		{"an old name of fence", "/x/.fence.json", "{", Fence, ""},
		{"claude by name", "/x/.claude/settings.local.json", "{", Claude, ""},
		{"managed", "/x/managed-settings.json", "{", Claude, ""},
		{"claude by content", "/x/a.json", `{"permissions":{}}`, Claude, ""},
		{"srt by content", "/x/a.json", `{"network":{},"credentials":{}}`, SRT, ""},
		{"srt by the content of a section", "/x/a.json", `{"network":{"tlsTerminate":{}}}`, SRT, ""},
		{"fence by content", "/x/a.json", `{"command":{}}`, Fence, ""},
		{"fence by the content of a section", "/x/a.json", `{"filesystem":{"defaultDenyRead":true}}`, Fence, ""},
		{"what both have", "/x/a.json", `{"network":{},"filesystem":{}}`, "", "none of its keys identifies"},
		{"what no one has", "/x/settings.json", `{"editor.fontSize":1}`, "", "none of its keys identifies"},
		{"a mixture", "/x/a.json", `{"permissions":{},"command":{}}`, "", "keys of more than one"},
		{"broken", "/x/a.json", `{`, "", "broken JSON"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := Guess(row.file, []byte(row.in))
			if got != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("got %q and %v", got, err)
			}
		})
	}
}
