package configimport

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_Settings_Of_Fence_Become_A_Policy(t *testing.T) {
	t.Parallel()
	const none = `{"network":"none","filesystem":{"ro":["."]}}`
	runRows(t, Fence, []importRow{
		{"nothing is allowed", `{}`, none, ""},
		{"comments and commas", "{ // x\n\"network\": {\"allowedDomains\": [\"a.com:80\",],}, /* */ }", `{"network":{"allow":["a.com:80"]},"filesystem":{"ro":["."]}}`, ""},
		{"every domain", `{"network":{"allowedDomains":["*"]}}`, `{"network":{"allow":["*"],"any":true},"filesystem":{"ro":["."]}}`, "stricter network.allowedDomains[0]"},
		{"alternatives in a glob", `{"filesystem":{"allowWrite":["."],"denyWrite":["**/*.{key,pem}"]}}`, `{"network":"none","filesystem":{"ro":["**/*.{key,pem}"],"rw":["."]}}`, ""},
		{"a denied read beats every grant", `{"filesystem":{"allowWrite":[".","~/a/c"],"allowRead":["~/a/b"],"denyRead":["~/a"]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["~/a"]}}`, "moot filesystem.allowRead[0], moot filesystem.allowWrite[1]"},
		{"a glob that may reach it", `{"filesystem":{"allowWrite":["."],"allowRead":["~/*/b"],"denyRead":["~/a"]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["~/a"]}}`, "grant filesystem.allowRead[0]"},
		{"reads are denied", `{"filesystem":{"defaultDenyRead":true,"allowWrite":["."],"allowRead":["~/a"]}}`, `{"network":"none","filesystem":{"ro":["~/a"],"rw":["."],"exclude":["~","/home","/root","/srv","/mnt","/media"]}}`, "restriction filesystem.defaultDenyRead"},
		{"denied commands", `{"command":{"deny":["sudo","git push","git checkout --"],"useDefaults":false}}`, `{"network":"none","filesystem":{"ro":["."]},"commands":{"sudo":false}}`, "restriction command.deny[1], restriction command.deny[2]"},
		{"an exception", `{"command":{"deny":["npm"],"allow":["npm  test","sudo"]}}`, `{"network":"none","filesystem":{"ro":["."]},"commands":{"npm":false}}`, "moot command.allow[0], moot command.allow[1]"},
		{"a denial that is taken back", `{"command":{"deny":["sudo"],"allow":["sudo"]}}`, none, "moot command.allow[0], moot command.deny[0]"},
		{"ssh with restricted commands stays closed", `{"network":{"allowedDomains":["a.com:80"]},"ssh":{"allowedHosts":["a.com"],"allowedCommands":["ls"]}}`, `{"network":{"allow":["a.com:80"]},"filesystem":{"ro":["."]}}`, "grant ssh.allowedHosts[0]"},
		{"ssh with any command", `{"network":{"allowedDomains":["a.com:80"]},"ssh":{"allowedHosts":["a.com","b.com"],"allowAllCommands":true}}`, `{"network":{"allow":["a.com:80","a.com:22"]},"filesystem":{"ro":["."]}}`, "moot ssh.allowedHosts[1]"},
		{"ssh with a denied pattern stays closed", `{"network":{"allowedDomains":["a.com:80"]},"ssh":{"allowedHosts":["a.com"],"allowAllCommands":true,"deniedHosts":["a*"]}}`, `{"network":{"allow":["a.com:80"]},"filesystem":{"ro":["."]}}`, "grant ssh.allowedHosts[0]"},
		{"a template", `{"extends":"code"}`, none, "restriction extends"},
		{"what is allowed without being listed", `{"network":{"defaultAction":"proxy","upstreamProxy":"http://127.0.0.1:8080"}}`, none, "grant network.defaultAction"},
		{"the Docker socket", `{"network":{"allowUnixSockets":["/var/run/docker.sock","~/s"]}}`, `{"network":"none","filesystem":{"ro":["."],"sockets":["~/s"]}}`, "grant network.allowUnixSockets[0]"},
		{"other systems", `{"macos":{"gpu":true},"filesystem":{"wslInterop":true},"devices":{"mode":"host"}}`, none, "grant devices.mode, moot filesystem.wslInterop, moot macos"},
		{"unknown keys", `{"x":1,"ssh":{"y":2}}`, none, "unknown ssh.y, unknown x"},
	})
}

func Test_Fence_Extends_Other_Files(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		testDir + "/base.json":                 `{"network":{"allowedDomains":["base.com:1"]}}`,
		testDir + "/sub/one.json":              `{"extends":"../base.json","network":{"allowedDomains":["one.com:1"]}}`,
		testDir + "/circle.json":               `{"extends":"./circle.json"}`,
		testDir + "/broken.json":               "{\n!",
		testHome + "/.config/fence/fence.json": `{"network":{"allowedDomains":["home.com:1"]}}`,
	}
	host := Host{Home: testHome, Dir: testDir, Read: func(file string) ([]byte, error) {
		if text, ok := files[filepath.Clean(file)]; ok {
			return []byte(text), nil
		}
		return nil, sandbox.Errorf(sandbox.NotFound, "%s: no such file", file)
	}}
	for _, row := range []struct{ name, extends, want, err string }{
		{"a file", "./base.json", "base.com:1", ""},
		{"a chain, relative to each file", "./sub/one.json", "base.com:1 one.com:1", ""},
		{"the user's own", "@base", "home.com:1", ""},
		{"a circle", "./circle.json", "", "~/project/circle.json:1: extends: /no-such-home/me/project/circle.json extends itself"},
		{"a file that is not there", "./gone.json", "", "no such file"},
		{"a broken file", "./broken.json", "", "/no-such-home/me/project/broken.json:2: found broken JSON"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r, err := Import(Fence, []File{{place(Fence), []byte(`{"extends":"` + row.extends + `"}`)}}, host)
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("error %v, want %s", err, row.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(r.Policy.Network.Allow, " "); got != row.want {
				t.Errorf("got %s", got)
			}
		})
	}
	t.Run("nothing is read without a reader", func(t *testing.T) {
		t.Parallel()
		_, err := Import(Fence, []File{{place(Fence), []byte(`{"extends":"./base.json"}`)}}, Host{Home: testHome, Dir: testDir})
		if !errors.Is(err, sandbox.ErrInvalid) {
			t.Errorf("error %v", err)
		}
	})
}
