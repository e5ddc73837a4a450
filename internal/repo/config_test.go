package repo

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Configuration_Is_A_Policy(t *testing.T) {
	const always = `{"ro":[".git/hooks",".husky",".agent-sandbox",".agent-precommit/user-context.json"`
	for _, c := range []struct{ name, in, want string }{
		{"nothing", `{}`, `{"filesystem":` + always + `]}}`},
		{"comments", "{ // none\n}", `{"filesystem":` + always + `]}}`},
		{"the default ones stay", `{"protected":["x"]}`, `{"filesystem":` + always + `,"x"]}}`},
		{"ports", `{"ports":[80,"8080:81"]}`, `{"network":{"publish":["80","8080:81"]},"filesystem":` + always + `]}}`},
		{"hosts", `{"egress_allow_domains":["a.example"]}`, `{"network":{"allow":["a.example"]},"filesystem":` + always + `]}}`},
		{"variables", `{"env":{"A":"b"}}`, `{"filesystem":` + always + `]},"env":{"set":{"A":"b"}}}`},
		{"limits", `{"limits":{"memory":"2GiB","pids":500,"cpu":1.5}}`, `{"filesystem":` + always + `]},"limits":{"memory":"2GiB","pids":500,"cpu":1.5}}`},
		{"a limit that is none", `{"limits":{"memory":"much"}}`, ""},
		{"a limit that does not exist", `{"limits":{"files":3}}`, ""},
		{"a packet filter and a proxy", `{"firewall":["@default"],"egress_allow_domains":["a.example"]}`, ""},
		{"a packet filter and published ports", `{"firewall":["@default"],"ports":[80]}`, ""},
		{"a path outside", `{"protected":["../x"]}`, ""},
		{"an absolute path", `{"protected":["/etc"]}`, ""},
		{"an unknown key", `{"readonly":[]}`, ""},
		{"two documents", `{}{}`, ""},
		{"a port that is none", `{"ports":[true]}`, ""},
		{"a port that is zero", `{"ports":[0]}`, ""},
		{"nothing at all", ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, err := Decode("config.json", []byte(c.in))
			p := config.Policy()
			if c.want == "" {
				if err == nil || !strings.HasPrefix(err.Error(), "config.json: ") {
					t.Errorf("accepted as %+v, %v", p, err)
				}
				return
			}
			got, merr := json.Marshal(p)
			if err != nil || merr != nil || string(got) != c.want {
				t.Errorf("got %s, %v, %v\nwant %s", got, err, merr, c.want)
			}
		})
	}
}

func Test_Configuration_Is_Trusted_By_Its_Content(t *testing.T) {
	r := Repo{Path: t.TempDir()}
	trust := &policy.Trust{Dir: filepath.Join(t.TempDir(), "trust")}
	if l, _, err := r.Layer(trust); err != nil || !l.Trusted || len(l.Policy.Filesystem.RO) != 4 {
		t.Errorf("without a file: %+v, %v", l, err)
	}
	if made, err := r.Init(DefaultConfig(), false); err != nil || len(made) != 2 {
		t.Fatalf("%v, %v", made, err)
	}
	if made, err := r.Init(DefaultConfig(), false); err != nil || len(made) != 0 {
		t.Errorf("a second time it made %v, %v", made, err)
	}
	if l, _, err := r.Layer(trust); err != nil || l.Trusted || l.File != r.ConfigFile() {
		t.Errorf("it is not trusted: %+v, %v", l, err)
	}
	data, err := os.ReadFile(r.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Add(r.ConfigFile(), data); err != nil {
		t.Fatal(err)
	}
	if l, _, err := r.Layer(trust); err != nil || !l.Trusted {
		t.Errorf("it is trusted: %+v, %v", l, err)
	}
	borrower := Repo{Path: t.TempDir()}
	if err := os.Symlink(filepath.Join(r.Path, configDir), filepath.Join(borrower.Path, configDir)); err != nil {
		t.Fatal(err)
	}
	if l, _, err := borrower.Layer(trust); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("a repository borrows the trust in another: %+v, %v", l, err)
	}
	inside := Repo{Path: t.TempDir()}
	err = errors.Join(os.CopyFS(filepath.Join(inside.Path, "other"), os.DirFS(filepath.Join(r.Path, configDir))), os.Symlink("other", filepath.Join(inside.Path, configDir)))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := inside.Recipe(); !errors.Is(err, sandbox.ErrInvalid) {
		t.Errorf("a directory that is a link gives the recipe %+v, %v", c, err)
	}
}

func Test_A_Packet_Filter_Needs_Trust(t *testing.T) {
	r := Repo{Path: t.TempDir()}
	trust := &policy.Trust{Dir: filepath.Join(t.TempDir(), "trust")}
	const text = `{"firewall":["@default","a.example"]}`
	if err := errors.Join(os.Mkdir(filepath.Join(r.Path, configDir), 0o755), os.WriteFile(r.ConfigFile(), []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, rules, err := r.Layer(trust); !errors.Is(err, sandbox.ErrDenied) || rules != nil {
		t.Errorf("without trust: %q, %v", rules, err)
	}
	if err := trust.Add(r.ConfigFile(), []byte(text)); err != nil {
		t.Fatal(err)
	}
	if _, rules, err := r.Layer(trust); err != nil || strings.Join(rules, " ") != "@default a.example" {
		t.Errorf("with trust: %q, %v", rules, err)
	}
}

func Test_Init_Follows_No_Link_Out_Of_The_Repository(t *testing.T) {
	r, outside := Repo{Path: t.TempDir()}, t.TempDir()
	if err := os.Symlink(outside, filepath.Join(r.Path, ".agent-sandbox")); err != nil {
		t.Fatal(err)
	}
	if made, err := r.Init(DefaultConfig(), false); err == nil {
		t.Errorf("it made %v", made)
	}
	if r.IsInitialised() {
		t.Error("a link counts as initialised")
	}
	if made, err := r.Init(DefaultConfig(), true); err != nil || len(made) != 2 {
		t.Errorf("with force: %v, %v", made, err)
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("outside there is %v, %v", list, err)
	}
}

func Test_Words_Are_Quoted_For_A_Shell(t *testing.T) {
	for in, want := range map[string]string{"a/b=c": "a/b=c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(id)": "'$(id)'"} {
		if got := shellword.Quote(in); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}
