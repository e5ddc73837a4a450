//go:build linux

package docker_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
)

// buildBase builds the base image unless it exists.
func (u user) buildBase() string {
	u.t.Helper()
	return u.run(u.home, "build-base", "--tag", baseTag)
}

func Test_Base_Image_Has_The_Promised_Tools(t *testing.T) {
	u := newUser(t)
	if got := u.buildBase(); got != "agent-sandbox-base:"+baseTag+"\n" {
		t.Fatalf("it printed %q", got)
	}
	for name, c := range map[string]struct{ script, want string }{
		"Claude Code":          {"claude --version", "(Claude Code)"},
		"Codex":                {"codex --version", "codex-cli "},
		"ast-grep":             {"ast-grep --version && sg --version 2>/dev/null", "ast-grep "},
		"git-delta":            {"delta --version", "delta "},
		"the tools":            {"for p in less fzf man unzip jq aggregate ps git gh nano vim gpg iptables ipset ip dig; do command -v $p >/dev/null || echo no $p; done; echo done", "done\n"},
		"a user":               {"id -un && pwd", "node\n/workspace\n"},
		"no way to root":       {"if command -v sudo || su root -c true </dev/null >/dev/null 2>&1; then echo root; else echo none; fi", "none"},
		"the marker":           {"test -s /.agent-sandbox && echo marked", "marked"},
		"places to write to":   {"touch /workspace/x /commandhistory/x ~/.claude/x ~/.codex/x && echo written", "written"},
		"a shell's history":    {"bash -ic 'echo $HISTFILE' 2>/dev/null", "/commandhistory/.bash_history"},
		"the prompt":           {`bash -ic 'echo "$PS1; $PROMPT_COMMAND"' 2>/dev/null`, "[sandbox]"},
		"freeclaude":           {"freeclaude --version", "(Claude Code)"},
		"packages for the one": {"npm install -g --offline x 2>&1 | grep -c EACCES; npm config get prefix", "npm-global"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := lab.engine.Run(t.Context(), job.Run{
				Image: "agent-sandbox-base:" + baseTag, Args: []string{"/usr/local/bin/entrypoint.sh", "sh", "-c", "cd /workspace; " + c.script},
			})
			if err != nil || !strings.Contains(string(out.Stdout), c.want) {
				t.Errorf("status %d, %v, want %q in\n%s%s", out.Code, err, c.want, out.Stdout, out.Stderr)
			}
		})
	}
}

func Test_Versions_Are_Resolved_Before_A_Build(t *testing.T) {
	u := newUser(t)
	u.buildBase()
	var first, second []struct {
		ID, From string
		Versions map[string]string
	}
	args := []string{"build-base", "--tag", baseTag + "-resolved", "--ast-grep-version", "latest", "--json"}
	t.Cleanup(func() {
		_, _ = lab.engine.ImageRemove(context.Background(), "agent-sandbox-base:"+baseTag+"-resolved", client.ImageRemoveOptions{})
	})
	if err := json.Unmarshal([]byte(u.run(u.home, args...)), &first); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(u.run(u.home, args...)), &second); err != nil {
		t.Fatal(err)
	}
	version := first[0].Versions["ast-grep"]
	if strings.Count(version, ".") != 2 || version == "latest" {
		t.Errorf("latest is %q", version)
	}
	debian, err := lab.engine.Image(t.Context(), "debian:bookworm-slim")
	if err != nil {
		t.Fatal(err)
	}
	built, err := lab.engine.Image(t.Context(), first[0].ID)
	if from := first[0].From; err != nil || from != debian.ID && !slices.Contains(debian.Digests, from) ||
		built.Labels["agent-sandbox.from"] != "debian:bookworm-slim" || built.Labels["agent-sandbox.from-id"] != from {
		t.Errorf("it was built from %q, with the labels %q, %v; debian:bookworm-slim is %s", from, built.Labels, err, debian.ID)
	}
	if first[0].ID != second[0].ID {
		t.Error("the same versions made another image")
	}
	u.fail(u.home, "is not a version of @openai/codex", "build-base", "--tag", baseTag+"-bad", "--codex-version", "0.0.0-none || true")
	u.fail(u.home, "npm finds no version", "build-base", "--tag", baseTag+"-bad", "--codex-version", "no-such-tag")
	u.fail(u.home, "cannot be an image's tag", "build-base", "--tag", "a b")
	u.fail(u.home, "no image", "build-base", "--image", "other")
}

func Test_A_Build_That_Fails_Says_Where(t *testing.T) {
	u := newUser(t)
	dir := u.repository("failing")
	u.fail(dir, "image \"agent-sandbox-base:nowhere\" does not exist", "init", "--base-tag", "nowhere")
	u.buildBase()
	write(t, dir+"/.agent-sandbox/Dockerfile", "ARG BASE_IMAGE_TAG\nFROM agent-sandbox-base:${BASE_IMAGE_TAG}\nRUN echo the-reason >&2; exit 3\n")
	u.fail(dir, "the user has not trusted them", "build", "--base-tag", baseTag)
	u.run(dir, "trust", "--yes", ".agent-sandbox/Dockerfile")
	r := u.try(dir, "", "build", "--base-tag", baseTag)
	if r.code != 125 || !strings.Contains(r.stderr, "RUN echo the-reason") || !strings.Contains(r.stderr, "it said: the-reason") {
		t.Errorf("status %d:\n%s", r.code, r.stderr)
	}
	write(t, dir+"/.agent-sandbox/Dockerfile", "FRO x\n")
	u.run(dir, "trust", "--yes", ".agent-sandbox/Dockerfile")
	u.fail(dir, "unknown instruction: FRO", "build", "--base-tag", baseTag)
}

func Test_Derived_Images_Have_The_Promised_Tools(t *testing.T) {
	u := newUser(t)
	got := u.run(u.home, "build-base", "--image", "claude-full", "--tag", baseTag)
	if want := "agent-sandbox-base:e2e\nagent-sandbox-claude:e2e\nagent-sandbox-claude-full:e2e\n"; got != want {
		t.Errorf("it printed %q", got)
	}
	for _, pair := range [][2]string{{"claude", "base"}, {"claude-full", "claude"}} {
		upper, err := lab.engine.Image(t.Context(), "agent-sandbox-"+pair[0]+":"+baseTag)
		lower, lerr := lab.engine.Image(t.Context(), "agent-sandbox-"+pair[1]+":"+baseTag)
		if err != nil || lerr != nil || upper.Labels["agent-sandbox.from"] != "agent-sandbox-"+pair[1]+":"+baseTag || upper.Labels["agent-sandbox.from-id"] != lower.ID {
			t.Errorf("%s has the labels %q and %s is %s: %v, %v", pair[0], upper.Labels, pair[1], lower.ID, err, lerr)
		}
	}
	const script = "node --version && python3 --version && claude --version && go version && id -un && " +
		"for p in vim less tree ping netstat nslookup nc telnet zip unzip tar gzip htop ps sed awk grep git python; do command -v $p >/dev/null || echo no $p; done"
	out, err := lab.engine.Run(t.Context(), job.Run{Image: "agent-sandbox-claude-full:" + baseTag, Args: []string{"sh", "-c", script}})
	text := string(out.Stdout)
	for _, want := range []string{"v22.", "Python 3.", "(Claude Code)", "go version go1.", "node\n"} {
		if err != nil || out.Code != 0 || !strings.Contains(text, want) || strings.Contains(text, "no ") {
			t.Errorf("status %d, %v, want %q in\n%s%s", out.Code, err, want, text, out.Stderr)
		}
	}
}
