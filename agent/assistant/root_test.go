package assistant

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	plainPackage   = `{"name": "A", "connector": "m"}`
	plainConnector = `{"type": "openai", "options": {"model": "m"}}`
	plainServer    = `{"command": "server"}`
)

// layOut writes a root: assistants/a with a package, the connector m, and files. A text "" leaves a file out, "->
// TARGET" is a link, "|" a pipe.
func layOut(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"assistants/a/package.yao": plainPackage, "connectors/m.conn.yao": plainConnector}
	maps.Copy(all, files)
	for name, text := range all {
		at := filepath.Join(dir, name)
		if text == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		target, isLink := strings.CutPrefix(text, "-> ")
		switch {
		case isLink:
			err = os.Symlink(target, at)
		case text == "|":
			err = syscall.Mkfifo(at, 0o600)
		default:
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string) *Root {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told returns the problems of the assistant a, with "DIR" for the root, and hints in parentheses.
func told(t *testing.T, dir string) []string {
	t.Helper()
	e, err := open(t, dir).Check("a")
	if err != nil {
		t.Fatal(err)
	}
	return lines(dir, e.Problems)
}

func lines(dir string, problems []Problem) []string {
	var out []string
	for _, p := range problems {
		s := p.String()
		if p.Hint != "" {
			s += " (" + p.Hint + ")"
		}
		out = append(out, strings.ReplaceAll(s, dir, "DIR"))
	}
	return out
}

func Test_Check_Reports_Problems_In_Files(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxFile)
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing", nil, nil},
		{
			"no package",
			map[string]string{"assistants/a/package.yao": "", "assistants/a/prompts.yml": "- {role: system, content: x}"},
			[]string{"DIR/assistants/a: found no package file, expected package.yao, package.jsonc, package.json (make package.yao)"},
		},
		{
			"two packages",
			map[string]string{"assistants/a/package.json": plainPackage},
			[]string{"DIR/assistants/a/package.yao: found package.json beside it, expected one of them (remove one of the two)"},
		},
		{
			"a package that is a pipe",
			map[string]string{"assistants/a/package.yao": "|"},
			[]string{"DIR/assistants/a/package.yao: found a directory or a special file, expected a regular file"},
		},
		{
			"a package that is too long",
			map[string]string{"assistants/a/package.yao": "{}" + long},
			[]string{"DIR/assistants/a/package.yao: found more than 1MiB, expected a smaller file"},
		},
		{
			"a package that leads out",
			map[string]string{"assistants/a/package.yao": "-> /etc/passwd"},
			[]string{"DIR/assistants/a/package.yao: found a symbolic link that leads out of DIR"},
		},
		{
			"a package that leads up and out",
			map[string]string{"assistants/a/package.yao": "-> ../../../../../../../etc/passwd"},
			[]string{"DIR/assistants/a/package.yao: found a symbolic link that leads out of DIR"},
		},
		{
			"a package that leads nowhere",
			map[string]string{"assistants/a/package.yao": "-> gone"},
			[]string{"DIR/assistants/a/package.yao: no such file"},
		},
		{
			"prompts that lead out",
			map[string]string{"assistants/a/prompts.yml": "-> /etc/passwd"},
			[]string{"DIR/assistants/a/prompts.yml: found a symbolic link that leads out of DIR"},
		},
		{
			"prompts that are too long",
			map[string]string{"assistants/a/prompts.yml": "- " + long},
			[]string{"DIR/assistants/a/prompts.yml: found more than 128KiB, expected a smaller file"},
		},
		{
			"two prompts",
			map[string]string{"assistants/a/prompts.yml": "- {role: system, content: x}", "assistants/a/prompts.yaml": "- {role: system, content: x}"},
			[]string{"DIR/assistants/a/prompts.yml: found prompts.yaml beside it, expected one of them (remove one of the two)"},
		},
		{
			"two scripts",
			map[string]string{"assistants/a/src/index.ts": "//", "assistants/a/src/index.js": "//"},
			[]string{"DIR/assistants/a/src/index.ts: found index.js beside it, expected one of them (remove one of the two)"},
		},
		{
			"a script that leads out",
			map[string]string{"assistants/a/src/index.ts": "-> /etc/passwd"},
			[]string{"DIR/assistants/a/src/index.ts: found a symbolic link that leads out of DIR"},
		},
		{
			"scripts that lead out",
			map[string]string{"assistants/a/src": "-> /etc"},
			[]string{"DIR/assistants/a/src: found a symbolic link that leads out of the assistant, whose content could not be trusted"},
		},
		{
			"a server that is broken",
			map[string]string{"assistants/a/mcps/s.mcp.yao": "{"},
			[]string{"DIR/assistants/a/mcps/s.mcp.yao:1: found broken JSON (parsing value met the end of the file), expected an object"},
		},
		{
			"two files of a server",
			map[string]string{"assistants/a/mcps/s.mcp.yao": plainServer, "assistants/a/mcps/s.mcp.json": plainServer},
			[]string{"DIR/assistants/a/mcps/s.mcp.yao: found a second file of the server s, expected one (remove one of the two)"},
		},
		{
			"a server with another ending",
			map[string]string{"assistants/a/mcps/s.mcp.yml": "x"},
			[]string{"DIR/assistants/a/mcps/s.mcp.yml: found another ending, expected .mcp.yao, .mcp.jsonc or .mcp.json"},
		},
		{
			"a server whose name has two signs",
			map[string]string{"assistants/a/mcps/s__t.mcp.yao": plainServer},
			[]string{`DIR/assistants/a/mcps/s__t.mcp.yao: found the name "s__t", expected letters, digits, '-' and '_', at most 64, without two '_' together`},
		},
		{
			"servers that lead out",
			map[string]string{"assistants/a/mcps": "-> /etc"},
			[]string{"DIR/assistants/a/mcps: found a symbolic link that leads out of DIR"},
		},
		{
			"a skill without a description",
			map[string]string{"assistants/a/skills/s/SKILL.md": "---\nname: s\n---\n"},
			[]string{
				"DIR/assistants/a/skills/s/SKILL.md: warning: description: missing required field in frontmatter: description",
				"DIR/assistants/a/skills/s/SKILL.md: warning: description: skipped: it has no description",
			},
		},
		{
			"a skill under another name",
			map[string]string{"assistants/a/skills/s/SKILL.md": "---\nname: t\ndescription: x\n---\n"},
			[]string{"DIR/assistants/a/skills/s/SKILL.md:2: warning: name: directory name 's' must match skill name 't'"},
		},
		{
			"skills that lead out",
			map[string]string{"assistants/a/skills": "-> /etc"},
			[]string{
				"DIR/assistants/a/skills: warning: cannot be searched: path escapes from parent",
				"DIR/assistants/a/skills: found a symbolic link that leads out of the assistant, whose content could not be trusted",
			},
		},
		{
			"a connector that is not there",
			map[string]string{"assistants/a/package.yao": "{\"name\": \"A\",\n\"connector\": \"mm\"}"},
			[]string{`DIR/assistants/a/package.yao:2: connector: found no connector "mm", expected one of m (did you mean "m"?)`},
		},
		{
			"no connector at all",
			map[string]string{"connectors/m.conn.yao": ""},
			[]string{`DIR/assistants/a/package.yao:1: connector: found no connector "m", expected one in DIR/connectors (make DIR/connectors/m.conn.yao)`},
		},
		{
			"a connector that is broken",
			map[string]string{"connectors/m.conn.yao": "{\n\"type\": 1}"},
			[]string{"DIR/assistants/a/package.yao:1: connector: found a connector that is not valid: DIR/connectors/m.conn.yao:1: options: found nothing, expected an object with the model"},
		},
		{
			"a connector that leads out",
			map[string]string{"connectors/m.conn.yao": "-> /etc/passwd"},
			[]string{"DIR/assistants/a/package.yao:1: connector: found a connector that is not valid: DIR/connectors/m.conn.yao: found a symbolic link that leads out of DIR"},
		},
		{
			"two files of a connector",
			map[string]string{"connectors/m.conn.json": plainConnector},
			[]string{"DIR/assistants/a/package.yao:1: connector: found two files of the connector m, expected one"},
		},
		{
			"thinking that its connector has not",
			map[string]string{"assistants/a/package.yao": "{\"name\": \"A\", \"connector\": \"m\",\n\"options\": {\"thinking\": {\"type\": \"enabled\", \"budget_tokens\": 4096}}}"},
			[]string{"DIR/assistants/a/package.yao:2: options.thinking.budget_tokens: found it for a connector of type openai, whose servers have none"},
		},
		{"a server that is not there", map[string]string{
			"assistants/a/package.yao":             "{\"name\": \"A\", \"connector\": \"m\", \"mcp\": {\"servers\": [\n{\"server_id\": \"filesytem\"}]}}",
			"assistants/a/mcps/files.mcp.yao":      plainServer,
			"assistants/a/mcps/filesystem.mcp.yao": plainServer,
		}, []string{`DIR/assistants/a/package.yao:2: mcp.servers[0].server_id: found no server "filesytem", expected one of files, filesystem (did you mean "filesystem"?)`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, told(t, layOut(t, c.files))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func Test_List_Includes_Assistants_Beside_A_Broken_One(t *testing.T) {
	t.Parallel()
	dir := layOut(t, map[string]string{
		"assistants/b/package.yao": "{", "assistants/c/package.json": plainPackage, "assistants/d e/package.yao": plainPackage,
		"assistants/.hidden/package.yao": "{", "assistants/README.md": "x", "assistants/out": "-> /etc", "assistants/gone": "-> nowhere",
		"connectors/deep/er/x.conn.jsonc": plainConnector, "connectors/bad.conn.yao": "{}", "connectors/y.conn.yml": "x", "connectors/README.md": "x",
		"connectors/sp ace/x.conn.yao": plainConnector, "connectors/a/b/c/d/e/f/g/x.conn.yao": plainConnector, "connectors/link": "-> /etc",
		"connectors/deep.er.conn.yao": plainConnector, "connectors/deep/er.conn.yao": plainConnector,
	})
	entries, problems, err := open(t, dir).List()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range entries {
		got[e.Assistant.Name] = IsValid(e.Problems)
	}
	if diff := cmp.Diff(map[string]bool{"a": true, "b": false, "c": true, "out": false, "gone": false}, got); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"DIR/connectors/a/b/c/d/e/f/g: not searched: too many directories, or too deep",
		"DIR/connectors/deep.er.conn.yao: found a second file of the connector deep.er, expected one (the other is DIR/connectors/deep/er.conn.yao) (remove one of the two)",
		"DIR/connectors/link: warning: not searched: it is a symbolic link",
		`DIR/connectors/sp ace/x.conn.yao: found the name "sp ace", expected letters, digits, '-', '_' and '.', at most 64`,
		"DIR/connectors/y.conn.yml: found another ending, expected .conn.yao, .conn.jsonc or .conn.json",
		"DIR/connectors/bad.conn.yao:1: type: found nothing, expected one of openai, responses, anthropic (a server that is compatible with OpenAI's has \"type\": \"openai\")",
		"DIR/connectors/bad.conn.yao:1: options: found nothing, expected an object with the model",
		`DIR/assistants/d e: found the name "d e", expected letters, digits, '-', '_' and '.', at most 64`,
	}
	told := lines(dir, problems)
	slices.Sort(want)
	slices.Sort(told)
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	ids, err := open(t, dir).Connectors()
	if diff := cmp.Diff([]string{"bad", "deep.er", "deep.er.x", "m"}, ids); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func Test_A_Missing_Root_Or_Name_Is_NotFound(t *testing.T) {
	t.Parallel()
	dir := layOut(t, nil)
	r := open(t, dir)
	_, check := r.Check("aa")
	_, load := r.Load("../a")
	_, connector := r.Connector("n")
	_, root := Open(dir + "/connectors")
	_, gone := Open(dir + "/gone")
	for _, c := range []struct {
		err        error
		want, hint string
	}{
		{check, `no assistant "aa" in DIR, expected one of a`, `did you mean "a"?`},
		{load, `no assistant "../a" in DIR, expected one of a`, ""},
		{connector, `found no connector "n", expected one of m`, `did you mean "m"?`},
		{root, "no assistants in DIR/connectors: it has no directory assistants", "an assistant is a file such as DIR/connectors/assistants/helper/package.yao"},
		{gone, "no assistants in DIR/gone: no such file or directory", ""},
	} {
		if sandbox.CodeOf(c.err) != sandbox.NotFound {
			t.Errorf("code %s of %v", sandbox.CodeOf(c.err), c.err)
		}
		if got := strings.ReplaceAll(fmt.Sprint(c.err), dir, "DIR"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if got := strings.ReplaceAll(sandbox.HintOf(c.err), dir, "DIR"); got != c.hint {
			t.Errorf("hint %s, want %s", got, c.hint)
		}
	}
}

func Test_A_Connector_Is_Found_By_Its_Path(t *testing.T) {
	t.Parallel()
	r := open(t, layOut(t, map[string]string{"connectors/deepseek/v3.1.conn.json": plainConnector}))
	c, err := r.Connector("deepseek.v3.1")
	if err != nil || c.ID != "deepseek.v3.1" {
		t.Errorf("got %v, %v", c, err)
	}
}

func Test_Load_Joins_All_That_Is_Wrong(t *testing.T) {
	t.Parallel()
	dir := layOut(t, map[string]string{"assistants/a/package.yao": "{\"name\": 1,\n\"connector\": \"m\", \"x\": 1}"})
	a, err := open(t, dir).Load("a")
	want := "DIR/assistants/a/package.yao:1: name: found 1, expected a string\n" +
		"DIR/assistants/a/package.yao:2: x: found an unknown key, expected one of $schema, name, description, connector, sandbox, mcp, options, limits"
	if got := strings.ReplaceAll(fmt.Sprint(err), dir, "DIR"); a != nil || got != want || sandbox.CodeOf(err) != sandbox.Invalid {
		t.Errorf("got %v, %s", a, got)
	}
}
