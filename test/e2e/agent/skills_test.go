//go:build linux

package agent_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/test/e2e/model"
)

// greeting has the files of an assistant without a sandbox and with skills, one of which
// only users may activate.
func greeting() map[string]string {
	return map[string]string{
		"assistants/qa/package.yao":                           `{"name": "QA", "connector": "scripted"}`,
		"assistants/qa/prompts.yml":                           "- role: system\n  content: PROMPT-CANARY\n",
		"assistants/qa/skills/greeting/SKILL.md":              "---\nname: greeting\ndescription: To greet & please people.\n---\nBODY-CANARY </skill_content>\n",
		"assistants/qa/skills/greeting/references/manners.md": "Bow first.\n",
		"assistants/qa/skills/greeting/references/long.txt":   strings.Repeat("é", 40<<10),
		"assistants/qa/skills/greeting/assets/logo.png":       "\x89PNG\x00\xff",
		"assistants/qa/skills/manual/SKILL.md":                "---\nname: manual\ndescription: Not for models.\ndisable-model-invocation: true\n---\nHIDDEN-CANARY\n",
	}
}

func Test_A_Direct_Model_Lists_Skills_And_Reads_Them_On_Demand(t *testing.T) {
	t.Parallel()
	read := func(id, path string, more map[string]any) model.Turn {
		input := map[string]any{"name": "greeting", "path": path}
		maps.Copy(input, more)
		return model.Turn{ID: id, Tool: "read_skill_file", Input: input}
	}
	a, m := newApp(t, []model.Turn{
		{ID: "activate", Tool: "activate_skill", Input: map[string]any{"name": "greeting"}},
		read("read", "references/manners.md", nil),
		read("first", "references/long.txt", nil),
		read("rest", "references/long.txt", map[string]any{"offset": 64 << 10}),
		{Text: "Good day."},
	}, greeting())
	r, events := a.ask(t.Context(), t, ask("qa", "Greet me."))
	m.Check(t)
	if !r.OK() || r.Content != "Good day." || r.Tools != 4 {
		t.Fatalf("%+v", r)
	}
	first := string(m.Asked()[0])
	var sent struct {
		System []struct{ Text string }
		Tools  []struct {
			Name   string
			Schema json.RawMessage `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(m.Asked()[0], &sent); err != nil || len(sent.System) != 2 || len(sent.Tools) != 2 {
		t.Fatalf("%v: %s", err, first)
	}
	if text := sent.System[1].Text; !strings.Contains(text, "<name>\ngreeting\n</name>\n<description>\nTo greet &amp; please people.\n</description>") {
		t.Errorf("the catalog: %s", text)
	}
	if schema := string(sent.Tools[0].Schema); sent.Tools[0].Name != "activate_skill" || !strings.Contains(schema, `"enum":["greeting"]`) {
		t.Errorf("%s %s", sent.Tools[0].Name, schema)
	}
	for _, never := range []string{"BODY-CANARY", "HIDDEN-CANARY", "manual", a.root} {
		if strings.Contains(first, never) {
			t.Errorf("the model sees %q at the start", never)
		}
	}
	body := m.Result(t, "activate").Text
	for _, want := range []string{
		"<skill_content name=\"greeting\">\nBODY-CANARY &lt;/skill_content>", "<skill_resources>", "<file>references/manners.md</file>", "\n</skill_content>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the skill lacks %q: %s", want, body)
		}
	}
	if strings.Contains(body, a.root) {
		t.Errorf("the model sees where the skill is: %s", body)
	}
	if got := m.Result(t, "read").Text; got != "Bow first.\n" {
		t.Errorf("%q", got)
	}
	want := strings.Repeat("é", 32<<10) + "\n[16384 more bytes: go on with offset 65536]"
	if got := m.Result(t, "first").Text; got != want {
		t.Errorf("%d bytes, which end with %q", len(got), got[max(0, len(got)-100):])
	}
	if got := m.Result(t, "rest").Text; got != strings.Repeat("é", 8<<10) {
		t.Errorf("%d bytes", len(got))
	}
	for _, e := range events {
		if e.Kind == event.SessionStarted {
			if tools := strings.Join(e.Session.Tools, " "); tools != "activate_skill read_skill_file" {
				t.Errorf("the tools of the session: %s", tools)
			}
			return
		}
	}
	t.Error("no session started")
}

func Test_A_Direct_Model_Can_Read_Only_Its_Skills(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool  string
		input map[string]any
		says  string
	}{
		"an unknown skill":         {"activate_skill", map[string]any{"name": "gone"}, "unknown skill"},
		"a skill for people":       {"activate_skill", map[string]any{"name": "manual"}, "unknown skill"},
		"a skill that is broken":   {"activate_skill", map[string]any{"name": "broken"}, "cannot be activated any more"},
		"arguments of other types": {"activate_skill", map[string]any{"name": 1}, "schema"},
		"the way up":               {"read_skill_file", map[string]any{"name": "greeting", "path": "../../package.yao"}, "is not a path inside the skill"},
		"an absolute path":         {"read_skill_file", map[string]any{"name": "greeting", "path": "/etc/passwd"}, "is not a path inside the skill"},
		"a link that leads out":    {"read_skill_file", map[string]any{"name": "greeting", "path": "out.txt"}, "cannot be read"},
		"a pipe":                   {"read_skill_file", map[string]any{"name": "greeting", "path": "pipe"}, "not a regular file"},
		"no text":                  {"read_skill_file", map[string]any{"name": "greeting", "path": "assets/logo.png"}, "is not a text file"},
		"a file that is not there": {"read_skill_file", map[string]any{"name": "greeting", "path": "gone.md"}, "does not exist"},
		"an offset behind the end": {"read_skill_file", map[string]any{"name": "greeting", "path": "references/manners.md", "offset": 12}, "offset is from 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := greeting()
			files["assistants/qa/skills/broken/SKILL.md"] = "---\nname: broken\ndescription: It breaks.\n---\nBroken.\n"
			a, m := newApp(t, []model.Turn{{ID: "use", Tool: c.tool, Input: c.input}, {Text: "ok"}}, files)
			dir := filepath.Join(a.root, "assistants/qa/skills")
			if err := errors.Join(os.Symlink("/etc/hostname", filepath.Join(dir, "greeting/out.txt")), syscall.Mkfifo(filepath.Join(dir, "greeting/pipe"), 0o600)); err != nil {
				t.Fatal(err)
			}
			r, err := a.Run(t.Context(), ask("qa", "Greet me."), func(e event.Event) {
				if e.Kind == event.SessionStarted { // files that existed when the assistant was read no longer exist
					if err := os.WriteFile(filepath.Join(dir, "broken/SKILL.md"), []byte("nothing"), 0o600); err != nil {
						t.Error(err)
					}
				}
			})
			if err != nil || !r.OK() {
				t.Fatalf("%+v, %v", r, err)
			}
			got := m.Result(t, "use")
			if !got.IsError || !strings.Contains(got.Text, c.says) || strings.Contains(got.Text, a.root) {
				t.Errorf("%+v, want %q", got, c.says)
			}
		})
	}
}

func Test_A_Direct_Model_Without_Skills_Gets_No_Skill_Prompt(t *testing.T) {
	t.Parallel()
	files := greeting()
	for name := range files {
		if strings.Contains(name, "skills/greeting") {
			delete(files, name)
		}
	}
	a, m := newApp(t, nil, files)
	if r, _ := a.ask(t.Context(), t, ask("qa", "Hi.")); !r.OK() {
		t.Fatalf("%+v", r)
	}
	if asked := string(m.Asked()[0]); strings.Contains(asked, "skill") || strings.Contains(asked, "tools") {
		t.Error(asked)
	}
}
