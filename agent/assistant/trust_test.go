package assistant

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// whole has the files of an assistant with every part that runs on a host.
var whole = map[string]string{
	"assistants/a/package.yao":       `{"name": "A", "connector": "m", "mcp": {"servers": [{"server_id": "s"}]}, "sandbox": {"command": "claude", "policy": {"network": "host"}}}`,
	"assistants/a/mcps/s.mcp.yao":    `{"command": "./server.sh"}`,
	"assistants/a/server.sh":         "#!/bin/sh\n",
	"assistants/a/prompts.yml":       "- {role: system, content: x}",
	"assistants/a/src/index.ts":      "import './more'",
	"assistants/a/src/more.ts":       "//",
	"assistants/a/skills/s/SKILL.md": "---\nname: s\ndescription: x\n---\n",
	"assistants/a/.git/HEAD":         "x",
	"assistants/a/link":              "-> src/more.ts",
	"connectors/o.conn.yao":          plainConnector,
	"assistants/b/package.yao":       plainPackage,
	"README.md":                      "x",
}

// loadTrusting loads the assistant a with the contents that the user trusts.
func loadTrusting(t *testing.T, dir string, store *policy.Trust) *Assistant {
	t.Helper()
	r := open(t, dir)
	r.Trust = store
	a, err := r.Load("a")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func trusted(t *testing.T, dir string) *policy.Trust {
	t.Helper()
	store := &policy.Trust{Dir: filepath.Join(t.TempDir(), "trust")}
	a := loadTrusting(t, dir, store)
	content, err := a.Content()
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Add(a.File, content); err != nil {
		t.Fatal(err)
	}
	return store
}

func Test_An_Untrusted_Assistant_Is_Denied(t *testing.T) {
	t.Parallel()
	dir := layOut(t, whole)
	a := loadTrusting(t, dir, &policy.Trust{Dir: t.TempDir() + "/trust"})
	err := a.CheckTrust()
	if a.IsTrusted() || a.Sandbox.Layer.Trusted || sandbox.CodeOf(err) != sandbox.Denied {
		t.Fatalf("trusted %t, layer %t, %v", a.IsTrusted(), a.Sandbox.Layer.Trusted, err)
	}
	if got, want := sandbox.HintOf(err), "read it, then run: agent-sandbox trust "+dir+"/assistants/a/package.yao"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// The policy opens the network, which the layer of an assistant that is not
	// trusted must not do.
	if _, err := policy.Resolve(sandbox.Spec{Workspace: dir, Home: dir, Layers: []sandbox.Layer{policy.Defaults(), a.Sandbox.Layer}}); sandbox.CodeOf(err) != sandbox.Denied {
		t.Errorf("got %v", err)
	}
}

func Test_The_Users_Own_Assistants_Are_Trusted(t *testing.T) {
	t.Parallel()
	r := open(t, layOut(t, whole))
	r.Own = true
	a, err := r.Load("a")
	if err != nil {
		t.Fatal(err)
	}
	if !a.Sandbox.Layer.Trusted || a.CheckTrust() != nil {
		t.Error("it is not trusted")
	}
}

func Test_Trust_Ends_When_Executed_Content_Changes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(dir string) error
		want   bool
	}{
		{"nothing", func(string) error { return nil }, true},
		{"another assistant", func(dir string) error { return os.WriteFile(dir+"/assistants/b/package.yao", []byte("{"), 0o600) }, true},
		{"a file beside", func(dir string) error { return os.WriteFile(dir+"/README.md", []byte("y"), 0o600) }, true},
		{"what git keeps", func(dir string) error { return os.WriteFile(dir+"/assistants/a/.git/HEAD", []byte("y"), 0o600) }, true},
		{"a server", func(dir string) error {
			return os.WriteFile(dir+"/assistants/a/mcps/s.mcp.yao", []byte(`{"command": "evil"}`), 0o600)
		}, false},
		{"a server's program", func(dir string) error { return os.WriteFile(dir+"/assistants/a/server.sh", []byte("evil"), 0o600) }, false},
		{"a program that can be run now", func(dir string) error { return os.Chmod(dir+"/assistants/a/server.sh", 0o755) }, false},
		{"what a script imports", func(dir string) error { return os.WriteFile(dir+"/assistants/a/src/more.ts", []byte("evil"), 0o600) }, false},
		{"a skill", func(dir string) error {
			return os.WriteFile(dir+"/assistants/a/skills/s/SKILL.md", []byte("---\nname: s\ndescription: evil\n---\n"), 0o600)
		}, false},
		{"prompts", func(dir string) error { return os.Remove(dir + "/assistants/a/prompts.yml") }, false},
		{"a new file", func(dir string) error { return os.WriteFile(dir+"/assistants/a/.npmrc", []byte("evil"), 0o600) }, false},
		{"a new name", func(dir string) error { return os.Rename(dir+"/assistants/a/server.sh", dir+"/assistants/a/x") }, false},
		{"where a link leads", func(dir string) error {
			link := dir + "/assistants/a/link"
			if err := os.Remove(link); err != nil {
				return err
			}
			return os.Symlink("src/index.ts", link)
		}, false},
		{"the connector", func(dir string) error {
			return os.WriteFile(dir+"/connectors/m.conn.yao", []byte(`{"type": "openai", "options": {"model": "m", "host": "https://evil.example"}}`), 0o600)
		}, false},
		{"another connector", func(dir string) error { return os.Remove(dir + "/connectors/o.conn.yao") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := layOut(t, whole)
			store := trusted(t, dir)
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			a := loadTrusting(t, dir, store)
			if a.IsTrusted() != c.want || (a.CheckTrust() == nil) != c.want || a.Sandbox.Layer.Trusted != c.want {
				t.Errorf("trusted is %t, want %t", a.IsTrusted(), c.want)
			}
		})
	}
}

func Test_Trust_Does_Not_Move_To_Another_Place(t *testing.T) {
	t.Parallel()
	if a := loadTrusting(t, layOut(t, whole), trusted(t, layOut(t, whole))); a.IsTrusted() {
		t.Error("the same files elsewhere are trusted")
	}
}

func Test_A_Link_Out_Of_An_Assistant_Cannot_Be_Trusted(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/etc", "../b", "../../README.md", "src/../../b", ".."} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			dir := layOut(t, map[string]string{"assistants/a/out": "-> " + target})
			want := []string{"DIR/assistants/a/out: found a symbolic link that leads out of the assistant, whose content could not be trusted"}
			if diff := cmp.Diff(want, told(t, dir)); diff != "" {
				t.Error(diff)
			}
			r := open(t, dir)
			r.Own = true // no file is hashed, and reading refuses a link that leads out of the root
			a, err := r.Load("a")
			if err != nil {
				t.Fatal(err)
			}
			if content, err := a.Content(); content != nil || sandbox.CodeOf(err) != sandbox.Denied {
				t.Errorf("got %s, %v", content, err)
			}
		})
	}
}

func Test_A_File_That_Changed_After_It_Was_Trusted_Is_Not_Read(t *testing.T) {
	t.Parallel()
	dir := layOut(t, whole)
	a := loadTrusting(t, dir, trusted(t, dir))
	for _, read := range []func(string) ([]byte, error){a.ReadFile, func(name string) ([]byte, error) { return fs.ReadFile(a.FS(), name) }} {
		if data, err := read("src/more.ts"); err != nil || string(data) != "//" {
			t.Fatalf("got %q, %v", data, err)
		}
	}
	if err := a.Vouch([]byte("//")); err != nil {
		t.Error(err)
	}
	if err := a.Vouch([]byte("evil")); sandbox.CodeOf(err) != sandbox.Denied {
		t.Error(err)
	}
	if info, err := fs.Stat(a.FS(), "src"); err != nil || !info.IsDir() {
		t.Errorf("got %v, %v", info, err)
	}
	if info, err := fs.Stat(a.FS(), "../b"); err == nil {
		t.Errorf("got %v", info)
	}
	if err := os.WriteFile(dir+"/assistants/a/src/more.ts", []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]sandbox.Code{
		"src/more.ts": sandbox.Denied, "../b/package.yao": sandbox.Denied, "/etc/passwd": sandbox.Denied, "src/gone.ts": sandbox.NotFound, "src": sandbox.Invalid,
	} {
		if data, err := a.ReadFile(name); data != nil || sandbox.CodeOf(err) != code {
			t.Errorf("%s: got %q, %v; want %s", name, data, err, code)
		}
		if f, err := a.FS().Open(name); f != nil || sandbox.CodeOf(err) != code {
			t.Errorf("%s: got %v, %v; want %s", name, f, err, code)
		}
	}
}

func Test_Digest_Returns_The_Hash_Of_Content(t *testing.T) {
	t.Parallel()
	dir := layOut(t, whole)
	one, err := loadTrusting(t, dir, nil).Digest()
	if err != nil || len(one) != 64 {
		t.Fatalf("got %q, %v", one, err)
	}
	if again, err := loadTrusting(t, dir, nil).Digest(); again != one || err != nil {
		t.Errorf("got %s and %s, %v", one, again, err)
	}
}
