package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// agentHome is a home in which agents have logged in and programs of the host have left code in their caches.
func agentHome(t *testing.T) sandbox.Spec {
	t.Helper()
	spec := home(t, "home/.claude.json", "home/.claude/.credentials.json", "home/.claude/projects/x/log.jsonl", "home/.claude/shell-snapshots/s.sh",
		"home/.claude/statusline.sh", "home/.codex/auth.json", "home/.codex/sessions/", "home/.gemini/oauth_creds.json",
		"home/.local/share/opencode/auth.json", "home/.config/configstore/firebase-tools.json", "home/.cache/huggingface/token",
		"home/.cache/p10k-instant-prompt-me.zsh", "home/.cache/gitstatus/gitstatusd", "home/.cache/nvim/luac/x.luac",
		"home/.cache/pre-commit/db.db", "home/.cache/go-build/", "home/.bun/install/global/node_modules/x/cli.js",
		"home/.bun/install/cache/")
	spec.Env = append(spec.Env, "USER=me")
	return spec
}

func Test_Logins_Of_Agents_Are_Hidden_And_Code_Of_The_Host_Cannot_Be_Changed(t *testing.T) {
	spec := agentHome(t)
	p := mustResolve(t, spec)
	checkAccess(t, p, spec.Home, map[string]Access{
		".claude/.credentials.json": Exclude, ".codex/auth.json": Exclude, ".gemini/oauth_creds.json": Exclude,
		".local/share/opencode/auth.json": Exclude, ".config/configstore/firebase-tools.json": Exclude, ".cache/huggingface/token": Exclude,

		".claude.json": ReadOnly, ".claude/shell-snapshots/s.sh": ReadOnly, ".claude/statusline.sh": ReadOnly,
		".cache/p10k-instant-prompt-me.zsh": ReadOnly, ".cache/gitstatus/gitstatusd": ReadOnly, ".cache/nvim/luac/x.luac": ReadOnly,
		".cache/pre-commit/db.db": ReadOnly, ".bun/install/global/node_modules/x/cli.js": ReadOnly,

		".claude/projects/x/log.jsonl": ReadWrite, ".codex/sessions/x": ReadWrite, ".cache/go-build/x": ReadWrite, ".bun/install/cache/x": ReadWrite,
	})
	for _, name := range []string{".cache/p10k-instant-prompt-me.zsh.zwc", ".cache/zsh"} {
		if !hasGuard(p, spec.Home+"/"+name) {
			t.Errorf("%s can be created", name)
		}
	}
}

func Test_The_Settings_Of_An_Agent_In_Sandboxes_Are_Visible_In_Its_Own_Only(t *testing.T) {
	spec := agentHome(t)
	data := filepath.Join(spec.Home, ".local/share/agent-sandbox")
	claude, codex := filepath.Join(data, AgentsDir, "claude"), filepath.Join(data, AgentsDir, "codex")
	for _, dir := range []string{claude, codex, filepath.Join(data, "trust")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	checkAccess(t, mustResolve(t, spec), data, map[string]Access{AgentsDir + "/claude/x": Exclude, AgentsDir: Exclude, "trust": Exclude})
	spec.Policy.Filesystem.RW = []string{claude}
	checkAccess(t, mustResolve(t, spec), data, map[string]Access{AgentsDir + "/claude/x": ReadWrite, AgentsDir + "/codex/x": Exclude, "trust": Exclude})
	for _, path := range []string{data, filepath.Join(data, AgentsDir), filepath.Join(data, "trust"), filepath.Join(claude, "x"), filepath.Join(spec.Home, ".config/agent-sandbox", AgentsDir, "x")} {
		spec.Policy.Filesystem.RW = []string{path}
		if _, err := Resolve(spec); sandbox.CodeOf(err) != sandbox.Denied {
			t.Errorf("--rw %s: %v", path, err)
		}
	}
}

func Test_The_Preset_Of_An_Agent_Opens_Its_Own_Login(t *testing.T) {
	for name, opened := range map[string]map[string]Access{
		"@claude": {".claude/.credentials.json": ReadWrite, ".claude.json": ReadWrite, ".codex/auth.json": Exclude, ".claude/statusline.sh": ReadOnly},
		"@codex":  {".codex/auth.json": ReadWrite, ".claude/.credentials.json": Exclude, ".claude.json": ReadOnly},
		"@gemini": {".gemini/oauth_creds.json": ReadWrite, ".claude/.credentials.json": Exclude},
		"@opencode": {
			".local/share/opencode/auth.json": ReadWrite, ".codex/auth.json": Exclude,
		},
	} {
		spec := agentHome(t)
		spec.Policy.Filesystem.Presets = []string{name}
		checkAccess(t, mustResolve(t, spec), spec.Home, opened)
	}
}

func Test_The_Data_Directory_Is_Hidden_With_Parts_That_Are_Links(t *testing.T) {
	spec := agentHome(t)
	data, elsewhere := filepath.Join(spec.Home, ".local/share/agent-sandbox"), filepath.Join(spec.Home, "large/stages")
	for _, dir := range []string{data, elsewhere} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(data, "stages")); err != nil {
		t.Fatal(err)
	}
	p := mustResolve(t, spec)
	checkAccess(t, p, spec.Home, map[string]Access{".local/share/agent-sandbox": Exclude, ".local/share/agent-sandbox/x": Exclude, "large": ReadOnly, "large/stages/x": Exclude})
	if n := slices.IndexFunc(p.Mounts, func(m Mount) bool { return strings.HasPrefix(m.Path, data+"/") }); n >= 0 {
		t.Errorf("%s is a mount of its own", p.Mounts[n].Path)
	}
}

func Test_Caches_Of_Package_Managers_Are_Writable_And_Their_Programs_And_Tokens_Are_Not(t *testing.T) {
	spec := home(t, "home/.m2/repository/", "home/.m2/settings.xml", "home/.m2/wrapper/dists/x/bin/mvn", "home/.gradle/init.d/x.gradle", "home/.gradle/gradle.properties",
		"home/.gradle/wrapper/dists/x/bin/gradle", "home/.gradle/caches/", "home/.local/share/pnpm/store/v10/", "home/.local/share/pnpm/tool", "home/.local/state/pnpm/",
		"home/.yarn/berry/cache/", "home/.yarn/bin/tool", "home/.yarnrc.yml", "home/.bundle/cache/", "home/.bundle/config", "home/.gem/ruby/3.1.0/bin/rake", "home/.gem/credentials",
		"home/.local/share/gem/ruby/3.1.0/bin/rake", "home/.local/share/uv/tools/x/bin/x", "home/.cargo/bin/x", "home/.cargo/registry/")
	want := map[string]Access{
		".local/share/pnpm/store/v10/x": ReadWrite, ".local/state/pnpm/x": ReadWrite, ".yarn/berry/cache/x.zip": ReadWrite,
		".bundle/cache/x": ReadWrite, ".cargo/registry/x": ReadWrite,

		".m2/repository/a.jar": ReadOnly, ".m2/wrapper/dists/x/bin/mvn": ReadOnly, ".m2/extensions.xml": ReadOnly, ".gradle/init.d/x.gradle": ReadOnly, ".gradle/init.d/new.gradle": ReadOnly,
		".gradle/wrapper/dists/x/bin/gradle": ReadOnly, ".gradle/caches/x": ReadOnly, ".local/share/pnpm/tool": ReadOnly, ".yarn/bin/tool": ReadOnly,
		".gem/ruby/3.1.0/bin/rake": ReadOnly, ".local/share/gem/ruby/3.1.0/bin/rake": ReadOnly, ".local/share/uv/tools/x/bin/x": ReadOnly, ".cargo/bin/x": ReadOnly,

		".m2/settings.xml": Exclude, ".gradle/gradle.properties": Exclude, ".yarnrc.yml": Exclude, ".bundle/config": Exclude, ".gem/credentials": Exclude,
	}
	checkAccess(t, mustResolve(t, spec), spec.Home, want)
	spec.Layers = append(spec.Layers, sandbox.Layer{Name: LayerFlags, Trusted: true, Policy: sandbox.Policy{Filesystem: sandbox.Filesystem{RW: []string{"~/.m2", "~/.gradle"}}}})
	p := mustResolve(t, spec)
	want[".gradle/caches/x"], want[".m2/repository/a.jar"] = ReadWrite, ReadWrite
	delete(want, ".m2/extensions.xml")
	checkAccess(t, p, spec.Home, want)
	for _, name := range []string{".m2/extensions.xml", ".gradle/init.gradle"} {
		if !hasGuard(p, spec.Home+"/"+name) {
			t.Errorf("%s can be created", name)
		}
	}
}
