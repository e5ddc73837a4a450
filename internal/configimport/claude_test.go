package configimport

import (
	"strings"
	"testing"
)

// perms returns a document with one list of permissions.
func perms(list string, rules ...string) string {
	return `{"sandbox":{"enabled":true},"permissions":{"` + list + `":["` + strings.Join(rules, `","`) + `"]}}`
}

func Test_Settings_Of_Claude_Code(t *testing.T) {
	t.Parallel()
	const none = `{"network":"none","filesystem":{}}`
	runRows(t, Claude, []importRow{
		{"a sandbox and nothing else", `{"sandbox":{"enabled":true}}`, none, ""},
		{"neither section", `{"model":"opus"}`, `{}`, "moot permissions, stricter sandbox.enabled"},
		{"a sandbox that is off", `{"sandbox":{"enabled":false}}`, `{}`, "stricter sandbox.enabled"},
		{"every domain", `{"sandbox":{"enabled":true,"network":{"allowedDomains":["*"]}}}`, `{"network":{"allow":["*"],"any":true},"filesystem":{}}`, "stricter sandbox.network.allowedDomains[0]"},

		{"a denied command with any arguments", perms("deny", "Bash(curl:*)", "Bash(wget *)"), `{"network":"none","filesystem":{},"commands":{"curl":false,"wget":false}}`, ""},
		{"a denied command without arguments", perms("deny", "Bash(make)"), `{"network":"none","filesystem":{},"commands":{"make":false}}`, "stricter permissions.deny[0]"},
		{"commands that begin so", perms("deny", "Bash(curl*)"), `{"network":"none","filesystem":{},"commands":{"curl":false}}`, "restriction permissions.deny[0]"},
		{"a denied subcommand", perms("deny", "Bash(npm publish:*)"), none, "restriction permissions.deny[0]"},
		{"a subcommand of git that its wrapper refuses", perms("deny", "Bash(git push --force:*)", "Bash(git tag -d *)", "Bash(git clean:*)"), none, "moot permissions.deny[0], moot permissions.deny[1], moot permissions.deny[2]"},
		{"a subcommand of git that its wrapper refuses if work would be lost", perms("deny", "Bash(git reset --hard *)", "Bash(git checkout:*)"), none, "restriction permissions.deny[0], restriction permissions.deny[1]"},
		{"a subcommand of git that it does not", perms("deny", "Bash(git push:*)", "Bash(git pushy --force)", "Bash(git restore:*)"), none, "restriction permissions.deny[0], restriction permissions.deny[1], restriction permissions.deny[2]"},
		{"all of git", perms("deny", "Bash(git:*)"), `{"network":"none","filesystem":{},"commands":{"git":false}}`, ""},
		{"a command by its path is hidden", perms("deny", "Bash(/opt/tool:*)"), `{"network":"none","filesystem":{"exclude":["/opt/tool"]}}`, ""},
		{"what a shell does itself", perms("deny", "Bash(eval:*)", "Bash(X=1 ls:*)", "Bash(a | b)", "Bash($(x):*)"), none, "restriction permissions.deny[0], restriction permissions.deny[1], restriction permissions.deny[2], restriction permissions.deny[3]"},
		{"all commands", perms("deny", "Bash", "Bash(*)", "Bash(:*)"), none, "restriction permissions.deny[0], restriction permissions.deny[1], restriction permissions.deny[2]"},
		{"tools of the agent", perms("deny", "WebSearch", "mcp__x", "Task(y)", "WebFetch"), none, "restriction permissions.deny[0], restriction permissions.deny[1], restriction permissions.deny[2], restriction permissions.deny[3]"},
		{"a rule that is none", perms("deny", "Bash(x"), none, "restriction permissions.deny[0]"},
		{"what asks is refused", perms("ask", "Bash(ssh:*)", "Edit(/go.mod)"), `{"network":"none","filesystem":{"ro":["go.mod"]},"commands":{"ssh":false}}`, "stricter permissions.ask[0]"},
		{"allowed commands need nothing", perms("allow", "Bash(ls:*)", "Bash", "Glob", "Edit"), none, "grant permissions.allow[3], moot permissions.allow[0], moot permissions.allow[1], moot permissions.allow[2]"},

		{"a name without slash is at any depth", perms("deny", "Read(.env)"), `{"network":"none","filesystem":{"exclude":[".env","**/.env"]}}`, ""},
		{"a glob without slash, too", perms("deny", "Read(*.pem)"), `{"network":"none","filesystem":{"exclude":["**/*.pem"]}}`, ""},
		{"a directory at any depth", perms("deny", "Read(secrets/)"), `{"network":"none","filesystem":{"exclude":["secrets","**/secrets"]}}`, ""},
		{"all below a directory", perms("deny", "Read(./secrets/**)", "Read(a/**/*)"), `{"network":"none","filesystem":{"exclude":["secrets","a"]}}`, ""},
		{"absolute", perms("deny", "Read(//etc/shadow)"), `{"network":"none","filesystem":{"exclude":["/etc/shadow"]}}`, ""},
		{"at the project's root", perms("deny", "Read(/etc/shadow)"), `{"network":"none","filesystem":{"exclude":["etc/shadow"]}}`, ""},
		{"at home", perms("deny", "Read(~/.ssh/**)"), `{"network":"none","filesystem":{"exclude":["~/.ssh"]}}`, ""},
		{"an escaped name", perms("deny", `Read(a\\ b/c)`), `{"network":"none","filesystem":{"exclude":["a b/c"]}}`, ""},
		{"a negation", perms("deny", "Read(!x)"), none, "restriction permissions.deny[0]"},
		{"everything on the machine", perms("deny", "Read(//**)"), `{"network":"none","filesystem":{"presets":["!@git","!@lint/ts","!@lint/go","!@lint/python"],"exclude":["~","."]}}`, "restriction permissions.deny[0], stricter permissions.deny[0]"},
		{"everything in the project", perms("deny", "Read(**)"), `{"network":"none","filesystem":{"presets":["!@git","!@lint/ts","!@lint/go","!@lint/python"],"exclude":["."]}}`, "stricter permissions.deny[0]"},
		{"reading at all", perms("deny", "Read"), none, "restriction permissions.deny[0]"},
		{"editing at all", perms("deny", "Edit"), `{"network":"none","filesystem":{"ro":["."]}}`, ""},
		{"editing one file", perms("deny", "Edit(/a/b)", "Write(~/c)"), `{"network":"none","filesystem":{"ro":["a/b","~/c"]}}`, ""},
		{"allowed edits", perms("allow", "Edit(//srv/x/**)", "Write(~/y)"), `{"network":"none","filesystem":{"rw":["/srv/x","~/y"]}}`, ""},
		{"allowed reads outside", perms("allow", "Read(~/.zshrc)", "Read(src/**)"), `{"network":"none","filesystem":{"ro":["~/.zshrc"]}}`, ""},
		{"a denied read beats an allowed one inside it", `{"sandbox":{"enabled":true},"permissions":{"deny":["Read(~/a/**)"],"allow":["Read(~/a/b)","Edit(~/a/c)"]}}`, `{"network":"none","filesystem":{"exclude":["~/a"]}}`, "moot permissions.allow[0], moot permissions.allow[1]"},
		{"domains of WebFetch", `{"permissions":{"allow":["WebFetch(domain:a.com)"],"deny":["WebFetch(domain:b.com)"],"ask":["WebFetch(domain:c.com)"]}}`, `{"network":{"allow":["a.com"],"deny":["b.com","c.com"]}}`, "stricter permissions.allow[0], stricter permissions.ask[0], stricter sandbox.enabled"},
		{"more directories", `{"sandbox":{"enabled":true},"permissions":{"additionalDirectories":["../x","~/y","/z"]}}`, `{"network":"none","filesystem":{"rw":["../x","~/y","/z"]}}`, ""},
		{"plan mode", `{"sandbox":{"enabled":true},"permissions":{"defaultMode":"plan","allow":["Edit(~/x)"]}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "moot permissions.allow[0]"},
		{"what no rule allows is refused", `{"sandbox":{"enabled":true},"permissions":{"defaultMode":"dontAsk"}}`, none, "restriction permissions.defaultMode"},
		{"a mode of the future", `{"sandbox":{"enabled":true},"permissions":{"defaultMode":"dance"}}`, none, "unknown permissions.defaultMode"},
		{"paths of the sandbox", `{"sandbox":{"enabled":true,"filesystem":{"allowWrite":["//a","/b","c","~/d"],"denyRead":["e"]}}}`, `{"network":"none","filesystem":{"rw":["/a","/b","c","~/d"],"exclude":["e"]}}`, ""},
		{"without a sandbox presets stay, but those that would show what is hidden", `{"permissions":{"deny":["Read(~/**)"]}}`, `{"filesystem":{"presets":["!@git","!@lint/ts","!@lint/go","!@lint/python"],"exclude":["~","."]}}`, "stricter permissions.deny[0], stricter sandbox.enabled"},
		{"a key of the future", `{"sandbox":{"enabled":true,"network":{"x":1}},"permissions":{"y":2}}`, none, "unknown permissions.y, unknown sandbox.network.x"},
	})
}

func Test_Files_Of_Claude_Code_Are_Joined(t *testing.T) {
	t.Parallel()
	user, project := testHome+"/.claude/settings.json", testDir+"/.claude/settings.json"
	local, managed := testDir+"/.claude/settings.local.json", "/etc/claude-code/managed-settings.json"
	for _, row := range []struct {
		name, want string
		files      []File
	}{
		{"the last value counts", `{}`, []File{{user, []byte(`{"sandbox":{"enabled":true}}`)}, {local, []byte(`{"sandbox":{"enabled":false}}`)}}},
		{"lists are added", `{"network":"none","filesystem":{"rw":["~/.claude/a","b"]}}`, []File{
			{user, []byte(`{"sandbox":{"enabled":true,"filesystem":{"allowWrite":["a"]}}}`)},
			{project, []byte(`{"sandbox":{"filesystem":{"allowWrite":["b"]}}}`)},
		}},
		{"a denial of one file beats a permission of another", `{"network":"none","filesystem":{"ro":["b"]}}`, []File{
			{user, []byte(`{"sandbox":{"enabled":true},"permissions":{"deny":["Edit(./b)"]}}`)},
			{local, []byte(`{"permissions":{"allow":["Edit(b/c)"]}}`)},
		}},
		{"managed settings may be the only ones with rules", `{"network":"none","filesystem":{"rw":["~/m"],"exclude":["~/s"]}}`, []File{
			{project, []byte(`{"permissions":{"allow":["Edit(~/p)"],"deny":["Read(~/s)"]}}`)},
			{managed, []byte(`{"allowManagedPermissionRulesOnly":true,"sandbox":{"enabled":true},"permissions":{"allow":["Edit(~/m)"]}}`)},
		}},
		{"and with domains", `{"network":{"allow":["m.com"],"deny":["d.com"]},"filesystem":{}}`, []File{
			{project, []byte(`{"permissions":{"allow":["WebFetch(domain:p.com)"]},"sandbox":{"network":{"allowedDomains":["q.com"],"deniedDomains":["d.com"]}}}`)},
			{managed, []byte(`{"sandbox":{"enabled":true,"network":{"allowManagedDomainsOnly":true,"allowedDomains":["m.com"]}}}`)},
		}},
		{"a project cannot say that it is managed", `{"network":{"allow":["q.com"]},"filesystem":{}}`, []File{
			{project, []byte(`{"sandbox":{"enabled":true,"network":{"allowManagedDomainsOnly":true,"allowedDomains":["q.com"]}}}`)},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r, err := Import(Claude, row.files, testHost(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := compact(t, r); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}
