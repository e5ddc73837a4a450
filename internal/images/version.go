package images

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// npmTool is a tool of the base image that npm installs.
type npmTool struct {
	pkg, arg string // its package; the build argument that holds its version
	version  func(*Tools) *string
}

func npmTools() []npmTool {
	return []npmTool{
		{"@anthropic-ai/claude-code", "CLAUDE_CODE_VERSION", func(t *Tools) *string { return &t.ClaudeCode }},
		{"@openai/codex", "CODEX_VERSION", func(t *Tools) *string { return &t.Codex }},
		{"@ast-grep/cli", "AST_GREP_VERSION", func(t *Tools) *string { return &t.AstGrep }},
	}
}

// checkVersion returns Invalid unless v is a version, tag or range of a package: v becomes part of a command line in
// the build, and of a query.
func checkVersion(pkg, v string) error {
	if !regexp.MustCompile(`^[0-9A-Za-z^~][0-9A-Za-z.+_-]{0,63}$`).MatchString(v) {
		return sandbox.Errorf(sandbox.Invalid, "%.80q is not a version of %s", v, pkg).
			WithHint("name one such as 1.2.3, or latest")
	}
	return nil
}

// isExactVersion reports whether v is an exact version, not a tag or a range.
func isExactVersion(v string) bool {
	return regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`).MatchString(v)
}

// resolve returns the version of a package such as "@openai/codex@latest". It queries the registry with npm, in the
// stage of the build that contains npm.
func resolve(ctx context.Context, e job.Engine, stage, registry, pkg string) (string, error) {
	run := job.Run{
		Image: stage, Args: []string{"npm", "view", "--json", "--", pkg, "version"}, Network: true,
		Env: []string{"NPM_CONFIG_CACHE=/tmp/npm", "NPM_CONFIG_UPDATE_NOTIFIER=false", "NPM_CONFIG_FETCH_RETRIES=1"},
	}
	if registry != "" {
		run.Env = append(run.Env, "NPM_CONFIG_REGISTRY="+registry)
	}
	out, err := e.Run(ctx, run)
	if err != nil {
		return "", err
	}
	v, ok := newest(out.Stdout)
	if out.Code != 0 || !ok {
		return "", sandbox.Errorf(sandbox.NotFound, "npm finds no version for %s: %s", pkg, npmError(out)).
			WithHint("check whether containers can reach the registry, or name an exact version")
	}
	return v, nil
}

// newest returns the last version in npm's output: a string, or an ordered list for a range.
func newest(printed []byte) (string, bool) {
	var one string
	var many []string
	if json.Unmarshal(printed, &one) != nil && json.Unmarshal(printed, &many) == nil && len(many) > 0 {
		one = many[len(many)-1]
	}
	return one, isExactVersion(one)
}

// npmError returns npm's error message on one line.
func npmError(out job.Output) string {
	var said struct {
		Error struct{ Code, Summary string }
	}
	if json.Unmarshal(out.Stdout, &said) == nil && said.Error.Code != "" {
		summary, _, _ := strings.Cut(strings.TrimSpace(said.Error.Summary), "\n")
		return said.Error.Code + " " + summary
	}
	text := strings.Join(strings.Fields(string(out.Stderr)), " ")
	return text[:min(len(text), 200)]
}

// Setting returns the value of npm's configuration for a name such as "registry", from env, a process's environment, or else
// from the content of an .npmrc; "" if neither has it.
func Setting(env []string, npmrc, name string) string {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && strings.EqualFold(k, "npm_config_"+name) && v != "" {
			return v
		}
	}
	found := ""
	for line := range strings.Lines(npmrc) {
		k, v, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(k) == name {
			found = strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	return found
}
