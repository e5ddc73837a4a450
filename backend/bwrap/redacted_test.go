//go:build linux

package bwrap

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/plainuser"
)

func Test_Tools_Log_In_With_Configurations_That_Do_Not_Show_The_Credentials(t *testing.T) {
	plainuser.Repeat(t)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+secretValue))
	escaped := strings.NewReplacer("/", "%2F", "=", "%3D", "+", "%2B").Replace(secretValue)
	for _, c := range []struct {
		name, file, text string // $BOUND stands for the server
		needs, script    string
		want             string // the field that the server receives
	}{
		{"npm with a token", ".npmrc", "registry=https://$BOUND/\n//$BOUND/:_authToken=" + secretValue + "\n", "npm", pingNPM, "Bearer " + secretValue},
		{"npm with a variable", ".npmrc", "registry=https://$BOUND/\n//$BOUND/:_authToken=${TOKEN}\n", "npm", pingNPM, "Bearer " + secretValue},
		{"npm with a login in Base64", ".npmrc", "registry=https://$BOUND/\n//$BOUND/:_auth=" + strings.TrimPrefix(basic, "Basic ") + "\n", "npm", pingNPM, basic},
		{"npm with a password", ".npmrc", "registry=https://$BOUND/\n//$BOUND/:username=me\n//$BOUND/:_password=" + base64.StdEncoding.EncodeToString([]byte(secretValue)) + "\n", "npm", pingNPM, basic},
		{"pip", ".config/pip/pip.conf", "[global]\nretries = 0\nindex-url = https://me:" + escaped + "@$BOUND/simple\n", "pip3", "pip3 download --no-input --disable-pip-version-check nothing", basic},
		{"a header of git", ".gitconfig", "[http \"https://$BOUND/\"]\n\textraHeader = Authorization: Bearer " + secretValue + "\n", "git", "git ls-remote https://$BOUND/repository.git", "Bearer " + secretValue},
		{"a registry of containers", ".docker/config.json", `{"auths": {"$BOUND": {"auth": "` + strings.TrimPrefix(basic, "Basic ") + `"}}}`, "curl", `curl -sS -H "Authorization: Basic $(grep -o '"auth": "[^"]*' ~/.docker/config.json | cut -d'"' -f4)" https://$BOUND/v2/`, basic},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newScene(t)
			p.env = append(p.env, "PATH="+toolPath)
			if !hasTool(c.needs) {
				t.Skipf("%s has no %s", toolPath, c.needs)
			}
			if c.needs == "npm" {
				p.bound = serveWeb(t, "127.0.0.1", p.ca)
				p.byName()
			}
			p.file(t, c.file, strings.ReplaceAll(c.text, "$BOUND", p.bound.addr))
			res := p.shell(t, p.create(t), c.script+`; cat ~/`+c.file+`; grep -rs 'the[/]real' ~ /tmp /run /dev/shm "$PWD" && echo ex''posed`)
			if got := p.bound.header("Authorization"); !slices.Contains(got, c.want) {
				t.Errorf("the server received %q, want %q: %s", got, c.want, text(res))
			}
			if strings.Contains(text(res), "exposed") || strings.Contains(text(res), escaped) {
				t.Errorf("the credential is inside: %s", text(res))
			}
		})
	}
}

// toolPath is the PATH in which commands of these tests find tools.
const toolPath = "/usr/local/bin:/usr/bin:/bin"

func hasTool(name string) bool {
	for _, dir := range filepath.SplitList(toolPath) {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

func Test_Git_Clones_With_A_Token_Of_Its_Configuration(t *testing.T) {
	plainuser.Repeat(t)
	p := newScene(t)
	p.serveGit(t)
	p.file(t, ".gitconfig", "[url \"https://me:ghp_the%2Freal+value=1@"+p.bound.addr+"/\"]\n\tinsteadOf = https://"+p.bound.addr+"/\n")
	p.policy.Commands = map[string]sandbox.CommandRule{"git": "true"} // a clone makes a repository, which is forbidden in the workspace
	res := p.shell(t, p.create(t), `cd /tmp; git clone -q "https://$BOUND/repo.git" copy && cat copy/file; cat ~/.gitconfig`)
	if !strings.HasPrefix(string(res.Stdout), "hello from git") || strings.Contains(text(res), "the%2") {
		t.Error(text(res))
	}
}

func Test_A_Credential_Of_A_Configuration_Is_For_Reading_From_Its_Host(t *testing.T) {
	plainuser.Repeat(t)
	for _, c := range []struct {
		name, script string
		sent         bool   // the server receives the credential
		reason       string // of a denial; empty: there is none
	}{
		{"reading", `curl -sS -H "Authorization: Bearer $T" https://$BOUND/package`, true, ""},
		{"publishing", `curl -sS -X PUT -d '{}' -H "Authorization: Bearer $T" https://$BOUND/package`, false, "is for reading"},
		{"removing", `curl -sS -X DELETE -H "Authorization: Bearer $T" https://$BOUND/package`, false, "is for reading"},
		{"pushing", `curl -sS -H "Authorization: Bearer $T" "https://$BOUND/x.git/info/refs?service=git-receive-pack"`, false, "is for reading"},
		{"fetching", `curl -sS -X POST -H "Authorization: Bearer $T" "https://$BOUND/x.git/git-upload-pack"`, true, ""},
		{"another host", `curl -sS -H "Authorization: Bearer $T" http://$OTHER/package`, false, "was on its way to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newScene(t)
			p.file(t, ".npmrc", "//"+p.bound.addr+"/:_authToken="+secretValue+"\n")
			res := p.shell(t, p.create(t), "T=$(cut -d= -f2 ~/.npmrc); [ \"$T\" ] || echo no placeholder; "+c.script)
			if got := slices.Contains(p.bound.header("Authorization"), "Bearer "+secretValue); got != c.sent {
				t.Errorf("the server received the credential: %v, want %v: %s", got, c.sent, text(res))
			}
			d := p.hosts()
			if c.reason == "" && len(d) > 0 || c.reason != "" && (len(d) != 1 || !strings.Contains(d[0].Reason, c.reason)) {
				t.Errorf("refused: %+v, want %q", d, c.reason)
			}
		})
	}
}

func Test_A_Configuration_That_Is_Not_Understood_Stays_Hidden(t *testing.T) {
	plainuser.Repeat(t)
	p := newScene(t)
	p.policy.Network = sandbox.Network{}
	p.file(t, ".npmrc", "//h/:_authToken=\""+secretValue+"\n")
	p.file(t, ".config/pip/pip.conf", secretValue+"\n")
	p.file(t, ".cargo/credentials.toml", "token = '''"+secretValue+"'''\n")
	p.file(t, ".m2/settings.xml", "<settings><servers>"+secretValue+"\n")
	p.file(t, ".docker/config.json", "{\"auths\": {\"x\": \""+secretValue+"\"}}")
	res := p.shell(t, p.create(t), `cat ~/.npmrc ~/.config/pip/pip.conf ~/.cargo/credentials.toml ~/.m2/settings.xml ~/.docker/config.json; grep -rs 'the[/]real' ~ && echo ex''posed`)
	if len(res.Stdout) > 0 {
		t.Errorf("got %s", text(res))
	}
	if data, err := os.ReadFile(filepath.Join(p.home, ".npmrc")); err != nil || !strings.Contains(string(data), secretValue) {
		t.Errorf("the host's file is %q, %v", data, err)
	}
}
