package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy/internal/variable"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func envLayer(name string, e sandbox.Env) sandbox.Layer {
	return sandbox.Layer{Name: name, Trusted: true, Policy: sandbox.Policy{Env: e}}
}

func Test_Variables_Are_Judged_By_Name_And_Value_Without_Rules(t *testing.T) {
	for _, c := range []struct{ entry, want string }{
		// Ordinary work must not break.
		{"HOME=/home/u", ""},
		{"TERM=xterm", ""},
		{"PWD=/x", ""},
		{"OLDPWD=/x", ""},
		{"LANG=C.UTF-8", ""},
		{"TOKENIZERS_PARALLELISM=4", ""},
		{"KEYBOARD=us", ""},
		{"MONKEY=george", ""},
		{"GIT_AUTHOR_NAME=A U Thor", ""},
		{"GIT_AUTHOR_EMAIL=a@example.com", ""},
		{"AUTHOR=me", ""},
		{"GIT_EDITOR=vi", ""},
		{"GIT_DIR=/r/.git", ""},
		{"EDITOR=vi", ""},
		{"ENV=production", ""},
		{"DISABLE_AUTH=1", ""},
		{"AUTH_ENABLED=true", ""},
		{"API_KEY=", ""},
		{"MAX_OUTPUT_TOKENS=8000", ""},
		{"SSH_PUBLIC_KEY=ssh-ed25519 AAAA", ""},
		{"CACHE_KEY=linux-amd64", ""},
		{"KEY_REPEAT=fast", ""},
		{"COMPASS=north", ""},
		{"BYPASS=x", ""},
		{"SECRETARY=x", ""},
		{"PATTERN=x", ""},
		{"HTTP_PROXY=http://proxy:3128", ""},
		{"no_proxy=localhost", ""},
		{"AWS_REGION=eu-west-1", ""},
		{"GOPROXY=https://proxy.example.com,direct", ""},
		{"GOPRIVATE=git@example.com:*", ""},
		{"REMOTE=ssh://git@example.com/x", ""},
		{"REGISTRY=http://host:8080/@scope/x", ""},
		{"JAVA_HOME=/usr/lib/jvm", ""},
		{"MAVEN_OPTS=-Xmx1g", ""},
		{"CLASSPATH=/x", ""},
		{"XDG_CONFIG_HOME=/x", ""},
		{"ENVIRONMENT=dev", ""},

		{"GH_TOKEN=x", variable.SecretName},
		{"NPM_TOKEN=x", variable.SecretName},
		{"TOKEN2=x", variable.SecretName},
		{"npm_config__authToken=x", variable.SecretName},
		{"npm_config_//registry.example.com/:_authToken=x", variable.SecretName},
		{"GITHUBTOKEN=x", variable.SecretName},
		{"CLIENT_SECRET=x", variable.SecretName},
		{"SECRETS=x", variable.SecretName},
		{"PGPASSWORD=x", variable.SecretName},
		{"PASSWORD=12345678", variable.SecretName},
		{"SMTP_PASS=x", variable.SecretName},
		{"MYSQL_PWD=x", variable.SecretName},
		{"SSH_PASSPHRASE=x", variable.SecretName},
		{"OPENAI_API_KEY=x", variable.SecretName},
		{"API-KEY=x", variable.SecretName},
		{"API_KEY_V2=x", variable.SecretName},
		{"APIKEY=x", variable.SecretName},
		{"STRIPE_KEY=x", variable.SecretName},
		{"STORAGE_ACCESS_KEY_ID=x", variable.SecretName},
		{"DEPLOY_PRIVATE_KEY=x", variable.SecretName},
		{"GOOGLE_APPLICATION_CREDENTIALS=/x", variable.SecretName},
		{"REDISCLI_AUTH=x", variable.SecretName},
		{"AZURE_DEVOPS_EXT_PAT=x", variable.SecretName},
		{"AWS_PROFILE=prod", variable.SecretName},
		{"OP_SESSION_abc=x", variable.SecretName},
		{"SENTRY_DSN=x", variable.SecretName},
		{"SLACK_WEBHOOK_URL=https://example.com/x", variable.SecretName},
		{"DATABASE_URL=sqlite:x", variable.SecretName},
		{"QUEUE=amqp://u:p@h/v", variable.SecretValue},
		{"PIP_EXTRA_INDEX_URL=https://a/ https://u:p@b/", variable.SecretValue},
		{"GOPROXY=https://u:p@proxy,direct", variable.SecretValue},
		{"REMOTE=https://abc@example.com/x", variable.SecretValue},
		{"CACHE=redis://:p@h", variable.SecretValue},
		{"https_proxy=u:p@proxy:3128", variable.SecretValue},
		{"NOTE=ghp_abcdefghijkl", variable.SecretValue},
		{"PEM=-----BEGIN OPENSSH PRIVATE KEY-----\nx", variable.SecretValue},

		{"LD_PRELOAD=x", variable.Loader},
		{"LD_LIBRARY_PATH=x", variable.Loader},
		{"DYLD_INSERT_LIBRARIES=x", variable.Loader},
		{"GCONV_PATH=x", variable.Loader},
		{"NODE_OPTIONS=--require x", variable.Loader},
		{"PYTHONPATH=x", variable.Loader},
		{"PYTHONSTARTUP=x", variable.Loader},
		{"PERL5OPT=-Mx", variable.Loader},
		{"RUBYOPT=-rx", variable.Loader},
		{"BASH_ENV=x", variable.Loader},
		{"ENV=$HOME/.shinit", variable.Loader},
		{"BASH_FUNC_ls%%=() { rm; }", variable.Loader},
		{"PROMPT_COMMAND=x", variable.Loader},
		{"SHELLOPTS=xtrace", variable.Loader},
		{"IFS=x", variable.Loader},
		{"GIT_CONFIG_COUNT=1", variable.Loader},
		{"GIT_CONFIG_KEY_0=alias.x", variable.Loader},
		{"GIT_SSH_COMMAND=x", variable.Loader},
		{"GIT_ASKPASS=x", variable.Loader},
		{"GIT_EXEC_PATH=x", variable.Loader},
		{"JAVA_TOOL_OPTIONS=-javaagent:x", variable.Loader},
		{"_JAVA_OPTIONS=x", variable.Loader},
		{"DOTNET_STARTUP_HOOKS=x", variable.Loader},

		{"SSH_AUTH_SOCK=/tmp/x", variable.Service},
		{"GPG_AGENT_INFO=x", variable.Service},
		{"DBUS_SESSION_BUS_ADDRESS=unix:x", variable.Service},
		{"XDG_RUNTIME_DIR=/run/user/1000", variable.Service},
		{"DISPLAY=:0", variable.Service},
		{"WAYLAND_DISPLAY=wayland-0", variable.Service},
		{"XAUTHORITY=/x", variable.Service},
		{"TMUX=/tmp/tmux-0", variable.Service},
		{"VSCODE_IPC_HOOK_CLI=/x", variable.Service},
		{"KUBECONFIG=/x", variable.Service},
		{"DOCKER_HOST=tcp://x", variable.Service},
	} {
		t.Run(c.entry, func(t *testing.T) {
			env, dropped := resolveEnv([]sandbox.Layer{Defaults()}, []string{c.entry})
			name, _, _ := strings.Cut(c.entry, "=")
			var why string
			if len(dropped) > 0 {
				why = dropped[0].Why
			}
			if why != c.want {
				t.Errorf("dropped for %q, want %q", why, c.want)
			}
			if passes := slices.Contains(env, c.entry); passes != (c.want == "") {
				t.Errorf("passes: %v (%s)", passes, name)
			}
		})
	}
}

func Test_Layers_Decide_Which_Variables_Pass(t *testing.T) {
	host := []string{"A=1", "GH_TOKEN=s", "LD_PRELOAD=l", "PATH=/bin"}
	file := envLayer("global", sandbox.Env{Deny: []string{"X", "A"}})
	file.File, file.Lines = "/c.json", map[string]int{"env.deny[1]": 7}
	for _, c := range []struct {
		name    string
		layers  []sandbox.Layer
		env     string // without PATH and the three of /tmp
		dropped string
	}{
		{"nothing said", nil, "A=1", "GH_TOKEN: looks secret, LD_PRELOAD: loader variable"},
		{"a secret is passed by name", []sandbox.Layer{envLayer("global", sandbox.Env{Pass: []string{"GH_TOKEN"}})}, "A=1 GH_TOKEN=s", "LD_PRELOAD: loader variable"},
		{"a secret is passed by its beginning", []sandbox.Layer{envLayer("global", sandbox.Env{Pass: []string{"GH_*"}})}, "A=1 GH_TOKEN=s", "LD_PRELOAD: loader variable"},
		{"everything passes but loader variables", []sandbox.Layer{envLayer("global", sandbox.Env{Pass: []string{"*", "LD_*"}})}, "A=1 GH_TOKEN=s", "LD_PRELOAD: loader variable"},
		{"a loader variable passes by its exact name", []sandbox.Layer{envLayer("global", sandbox.Env{Pass: []string{"LD_PRELOAD"}})}, "A=1 LD_PRELOAD=l", "GH_TOKEN: looks secret"},
		{"deny names its line", []sandbox.Layer{file}, "", "A: env.deny in /c.json:7, GH_TOKEN: looks secret, LD_PRELOAD: loader variable"},
		{"deny beats pass of the same layer", []sandbox.Layer{envLayer("flags", sandbox.Env{Pass: []string{"A", "GH_TOKEN"}, Deny: []string{"A"}})}, "GH_TOKEN=s", "A: env.deny in --env, LD_PRELOAD: loader variable"},
		{"a later pass beats deny", []sandbox.Layer{file, envLayer("flags", sandbox.Env{Pass: []string{"A"}})}, "A=1", "GH_TOKEN: looks secret, LD_PRELOAD: loader variable"},
		{"a later deny beats pass", []sandbox.Layer{envLayer("global", sandbox.Env{Pass: []string{"GH_*"}}), envLayer("flags", sandbox.Env{Deny: []string{"GH_*"}})}, "A=1", "GH_TOKEN: env.deny in --env, LD_PRELOAD: loader variable"},
		{"only what is listed", []sandbox.Layer{envLayer("global", sandbox.Env{Deny: []string{"*"}}), envLayer("flags", sandbox.Env{Pass: []string{"A"}})}, "A=1", "GH_TOKEN: env.deny in global, LD_PRELOAD: env.deny in global"},
		{"set comes last", []sandbox.Layer{envLayer("flags", sandbox.Env{Deny: []string{"*"}, Set: map[string]string{"A": "2", "LD_PRELOAD": "x", "N": ""}})}, "A=2 LD_PRELOAD=x N=", "GH_TOKEN: env.deny in --env"},
		{"a later layer takes out what was set", []sandbox.Layer{envLayer("global", sandbox.Env{Set: map[string]string{"A": "2", "B": "3"}}), envLayer("flags", sandbox.Env{Deny: []string{"B"}})}, "A=2", "B: env.deny in --env, GH_TOKEN: looks secret, LD_PRELOAD: loader variable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, dropped := resolveEnv(append([]sandbox.Layer{Defaults()}, c.layers...), host)
			env = slices.DeleteFunc(env, func(e string) bool { return strings.HasSuffix(e, "=/tmp") || strings.HasPrefix(e, "PATH=") })
			if got := strings.Join(env, " "); got != c.env {
				t.Errorf("env is %q, want %q", got, c.env)
			}
			var why []string
			for _, d := range dropped {
				if always := []string{"PATH", "TEMP", "TMP", "TMPDIR"}; !slices.Contains(always, d.Name) {
					why = append(why, d.Name+": "+d.Why)
				}
			}
			if got := strings.Join(why, ", "); got != c.dropped {
				t.Errorf("dropped %q, want %q", got, c.dropped)
			}
		})
	}
}

func Test_Env_Is_Well_Formed(t *testing.T) {
	env, dropped := resolveEnv(nil, []string{
		"Z=last", "A=1", "A=2", "no sign", "=C:=x", "N=a\x00b", "B\nC=x", "TMPDIR=/home/u/tmp", "TMP=x", "PATH=/bin:.::rel:~/bin:/usr/bin:",
	})
	want := []string{"A=2", "PATH=/bin:/usr/bin", "TMP=/tmp", "TMPDIR=/tmp", "Z=last"}
	if !slices.Equal(env, want) {
		t.Errorf("env is %q, want %q", env, want)
	}
	var names []string
	for _, d := range dropped {
		names = append(names, d.Name+": "+d.Why)
	}
	const why = ": not a NAME=value entry"
	if want := []string{`""` + why, `"B\nC"` + why, `"N"` + why, `"no sign"` + why}; !slices.Equal(names, want) {
		t.Errorf("dropped %q, want %q", names, want)
	}
}

func Test_Env_Has_Always_A_Path(t *testing.T) {
	for _, c := range []struct {
		name string
		host []string
		rule sandbox.Env
		want string
	}{
		{"the host has none", nil, sandbox.Env{}, defaultPath},
		{"the host's is relative", []string{"PATH=bin:."}, sandbox.Env{}, defaultPath},
		{"it is denied", []string{"PATH=/x"}, sandbox.Env{Deny: []string{"PATH"}}, defaultPath},
		{"it is set, with a relative part", []string{"PATH=/x"}, sandbox.Env{Set: map[string]string{"PATH": "./bin:/y"}}, "/y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, _ := resolveEnv([]sandbox.Layer{envLayer("flags", c.rule)}, c.host)
			if got := lookupEnv(env, "PATH"); got != c.want {
				t.Errorf("PATH is %q, want %q", got, c.want)
			}
		})
	}
}

func Test_Env_Passes_Docker_Where_It_Is_Allowed(t *testing.T) {
	yes := true
	env, _ := resolveEnv([]sandbox.Layer{Defaults(), {Policy: sandbox.Policy{Docker: &yes}}}, []string{"DOCKER_HOST=unix:///x"})
	if lookupEnv(env, "DOCKER_HOST") == "" {
		t.Error("DOCKER_HOST does not pass")
	}
}

func Test_The_Last_Of_Each_Variable_Stays(t *testing.T) {
	got := LastOfEach([]string{"A=1", "B=2", "A=", "C", "B=3", "A=4=5"})
	if want := []string{"A=4=5", "B=3", "C"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func Test_Commands_Without_A_Network_Do_Not_Wait_For_Npm(t *testing.T) {
	for _, row := range []struct{ env, want []string }{
		{[]string{"A=b"}, []string{"A=b", "npm_config_fetch_retries=0", "npm_config_update_notifier=false"}},
		{[]string{"NPM_CONFIG_FETCH_RETRIES=3"}, []string{"NPM_CONFIG_FETCH_RETRIES=3", "npm_config_update_notifier=false"}},
	} {
		if got := OfflineEnv(row.env); !slices.Equal(got, row.want) {
			t.Errorf("%q: got %q, want %q", row.env, got, row.want)
		}
	}
}
