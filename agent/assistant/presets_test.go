package assistant

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// saying returns prompts with one text.
func saying(text string) string { return "- role: system\n  content: " + text + "\n" }

func Test_Presets_Of_Prompts_Are_Found_By_Name(t *testing.T) {
	t.Parallel()
	dir := layOut(t, map[string]string{
		"assistants/a/prompts.yml": saying("usual"), "assistants/a/prompts/chat.yml": saying("chat"),
		"assistants/a/prompts/chat/friendly.yaml": saying("friendly"), "assistants/a/prompts/README.md": "x", "assistants/a/prompts/.hidden.yml": "x",
	})
	a, err := open(t, dir).Load("a")
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(a.Presets)); !slices.Equal(got, []string{"chat", "chat.friendly"}) {
		t.Errorf("%q", got)
	}
	for name, want := range map[string]string{"": "usual", "chat": "chat", "chat.friendly": "friendly"} {
		prompts, err := a.Preset(name)
		if err != nil || len(prompts) != 1 || prompts[0].Text() != want {
			t.Errorf("%q: %v, %v", name, prompts, err)
		}
	}
	_, err = a.Preset("freindly")
	if sandbox.CodeOf(err) != sandbox.NotFound || !strings.Contains(err.Error(), `no preset of prompts "freindly", expected one of chat, chat.friendly`) {
		t.Errorf("%v", err)
	}
}

func Test_Broken_Presets_Are_Problems_Of_The_Assistant(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range MaxPresets + 1 {
		many[fmt.Sprintf("assistants/a/prompts/p%02d.yml", i)] = saying("x")
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"prompts that are none", map[string]string{"assistants/a/prompts/x.yml": "be brief"}, []string{`DIR/assistants/a/prompts/x.yml:1: found "be brief", expected a list of prompts such as - {role: system, content: ...}`}},
		{"two files", map[string]string{"assistants/a/prompts/x.y.yml": saying("x"), "assistants/a/prompts/x/y.yaml": saying("x")}, []string{
			"DIR/assistants/a/prompts/x.y.yml: found a second file of the preset x.y, expected one (the other is DIR/assistants/a/prompts/x/y.yaml) (remove one of the two)",
		}},
		{"another name", map[string]string{"assistants/a/prompts/x y.yml": saying("x")}, []string{
			`DIR/assistants/a/prompts/x y.yml: found the name "x y", expected letters, digits, '-', '_' and '.', at most 64`,
		}},
		{"a link that leads out", map[string]string{"assistants/a/prompts/x.yml": "-> /etc/passwd"}, []string{
			"DIR/assistants/a/prompts/x.yml: found a symbolic link that leads out of DIR",
		}},
		{"a pipe", map[string]string{"assistants/a/prompts/x.yml": "|"}, []string{"DIR/assistants/a/prompts/x.yml: found a directory or a special file, expected a regular file"}},
		{"too much together", map[string]string{"assistants/a/prompts/x.yml": saying(strings.Repeat("x", 100<<10)), "assistants/a/prompts/y.yml": saying(strings.Repeat("x", 100<<10))}, []string{
			"DIR/assistants/a/prompts: found presets of more than 128KiB together, expected less",
		}},
		{"too many", many, []string{"DIR/assistants/a/prompts/p64.yml: found more than 64 presets, expected fewer"}},
		{"too deep", map[string]string{"assistants/a/prompts/1/2/3/4/5/6/7/x.yml": saying("x")}, []string{"DIR/assistants/a/prompts/1/2/3/4/5/6/7: not searched: too many directories, or too deep"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, told(t, layOut(t, c.files))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
