package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The tools with which a direct model uses skills. A tool of a server cannot have these names, since it has "__"
// in its own.
const (
	activateSkill = "activate_skill"
	readSkillFile = "read_skill_file"
)

// maxPage bounds the answer of one use of read_skill_file, in bytes.
const maxPage = 64 << 10

// skillTools offers an assistant's skills to a direct model. The model gets their names, activates a skill when
// a task needs it, and reads its files. It does not get their paths on this host.
type skillTools struct {
	assistant *assistant.Assistant
	offered   []skill.Skill // never empty
}

// formatSkillPrompt returns the prompt about skills for a direct model; "": it has none.
func formatSkillPrompt(c *skill.Catalog) string {
	catalog := c.PromptByName()
	if catalog == "" {
		return ""
	}
	return "The following skills have instructions for particular tasks. When a task matches the description of one, call " + activateSkill +
		" with its name before you go on, and follow what it says. Files that it names are read with " + readSkillFile + ".\n\n" + catalog
}

// directTools returns the tools of a direct model: those of servers and those of skills.
func (t *turn) directTools() tool.Set {
	set, offered := t.toolSet(), t.assistant.Skills.Offered()
	switch own := (skillTools{t.assistant, offered}); {
	case len(offered) == 0:
		return set
	case set == nil:
		return own
	default:
		return withSkills{set, own}
	}
}

// List implements [tool.Set].
func (s skillTools) List(context.Context) ([]tool.Tool, error) {
	names := make([]string, len(s.offered))
	for i := range s.offered {
		names[i] = s.offered[i].Name
	}
	name := map[string]any{"type": "string", "description": "The skill's name.", "enum": names}
	schema := func(required []string, properties map[string]any) json.RawMessage {
		raw, _ := json.Marshal(map[string]any{ // strings and numbers always marshal
			"type": "object", "properties": properties, "required": required, "additionalProperties": false,
		})
		return raw
	}
	return []tool.Tool{
		{
			Name: activateSkill, Description: "Load the instructions of a skill, and the list of its files.",
			Schema: schema([]string{"name"}, map[string]any{"name": name}),
		},
		{
			Name: readSkillFile, Description: "Read a text file of a skill, such as references/guide.md.",
			Schema: schema([]string{"name", "path"}, map[string]any{
				"name": name, "path": map[string]any{"type": "string", "description": "The file, relative to the skill's directory."},
				"offset": map[string]any{"type": "integer", "minimum": 0, "description": "The byte to begin at, for what is too long for one answer. Default: 0."},
			}),
		},
	}, nil
}

// skillUse has the arguments of both tools.
type skillUse struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Offset int    `json:"offset"`
}

// Call implements [tool.Set].
func (s skillTools) Call(_ context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	answer := s.activate
	switch name {
	case activateSkill:
	case readSkillFile:
		answer = s.read
	default:
		return tool.Result{}, sandbox.Errorf(sandbox.NotFound, "unknown tool %q", name)
	}
	text, err := s.use(arguments, answer)
	if err != nil {
		text = err.Error()
		if hint := sandbox.HintOf(err); hint != "" {
			text += "; " + hint
		}
	}
	return textResult(text, err != nil), nil
}

// use opens a skill for one answer. It reaches no file outside the skill's directory.
func (s skillTools) use(arguments json.RawMessage, answer func(*skill.Tree, skillUse) (string, error)) (string, error) {
	var use skillUse
	if err := json.Unmarshal(arguments, &use); err != nil {
		return "", sandbox.Errorf(sandbox.Invalid, "the arguments do not match the schema: %w", err)
	}
	i := slices.IndexFunc(s.offered, func(o skill.Skill) bool { return o.Name == use.Name })
	if i < 0 {
		return "", sandbox.Errorf(sandbox.NotFound, "unknown skill %.100q", use.Name).WithHint("their names are listed in the system prompt")
	}
	tree, err := s.offered[i].Open()
	if err != nil { // its text contains a path of this host
		return "", sandbox.Errorf(sandbox.CodeOf(err), "the skill %q cannot be read any more", use.Name)
	}
	defer tree.Close()
	tree.Check = s.assistant.Vouch
	return answer(tree, use)
}

func (s skillTools) activate(tree *skill.Tree, use skillUse) (string, error) {
	a, err := tree.Activate()
	if err != nil {
		return "", sandbox.Errorf(sandbox.CodeOf(err), "the skill %q cannot be activated any more", use.Name)
	}
	a.Name, a.Dir = use.Name, ""
	return a.Prompt(), nil
}

func (s skillTools) read(tree *skill.Tree, use skillUse) (string, error) {
	data, err := tree.ReadResource(use.Path)
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(data) || slices.Contains(data, 0):
		return "", sandbox.Errorf(sandbox.Invalid, "%.200q is not a text file; it has %d bytes", use.Path, len(data))
	case use.Offset < 0 || use.Offset > len(data):
		return "", sandbox.Errorf(sandbox.Invalid, "%.200q has %d bytes", use.Path, len(data)).WithHint("offset is from 0 to that")
	}
	end := min(use.Offset+maxPage, len(data))
	for end < len(data) && end > use.Offset && !utf8.RuneStart(data[end]) {
		end--
	}
	page := strings.ToValidUTF8(string(data[use.Offset:end]), "\uFFFD")
	if left := len(data) - end; left > 0 {
		page += fmt.Sprintf("\n[%d more bytes: go on with offset %d]", left, end)
	}
	return page, nil
}

// textResult is a result of one text.
func textResult(text string, failed bool) tool.Result {
	content, _ := json.Marshal([]map[string]string{{"type": "text", "text": text}}) // strings always marshal
	return tool.Result{Content: content, Failed: failed}
}

// withSkills has the tools of servers and those of skills.
type withSkills struct {
	servers tool.Set
	skills  skillTools
}

// List implements [tool.Set].
func (w withSkills) List(ctx context.Context) ([]tool.Tool, error) {
	all, err := w.servers.List(ctx)
	if err != nil {
		return nil, err
	}
	own, err := w.skills.List(ctx)
	return append(slices.Clip(all), own...), err
}

// Call implements [tool.Set].
func (w withSkills) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	if name == activateSkill || name == readSkillFile {
		return w.skills.Call(ctx, name, arguments)
	}
	return w.servers.Call(ctx, name, arguments)
}
