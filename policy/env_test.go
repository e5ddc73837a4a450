package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func envLayer(name string, e sandbox.Env) sandbox.Layer {
	return sandbox.Layer{Name: name, Trusted: true, Policy: sandbox.Policy{Env: e}}
}

func TestEnvVerdictWithoutRules(t *testing.T) {
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

		{"GH_TOKEN=x", whySecretName},
		{"NPM_TOKEN=x", whySecretName},
		{"TOKEN2=x", whySecretName},
		{"npm_config__authToken=x", whySecretName},
		{"npm_config_//registry.example.com/:_authToken=x", whySecretName},
		{"GITHUBTOKEN=x", whySecretName},
		{"CLIENT_SECRET=x", whySecretName},
		{"SECRETS=x", whySecretName},
		{"PGPASSWORD=x", whySecretName},
		{"PASSWORD=12345678", whySecretName},
		{"SMTP_PASS=x", whySecretName},
		{"MYSQL_PWD=x", whySecretName},
		{"SSH_PASSPHRASE=x", whySecretName},
		{"OPENAI_API_KEY=x", whySecretName},
		{"API-KEY=x", whySecretName},
		{"API_KEY_V2=x", whySecretName},
		{"APIKEY=x", whySecretName},
		{"STRIPE_KEY=x", whySecretName},
		{"STORAGE_ACCESS_KEY_ID=x", whySecretName},
		{"DEPLOY_PRIVATE_KEY=x", whySecretName},
		{"GOOGLE_APPLICATION_CREDENTIALS=/x", whySecretName},
		{"REDISCLI_AUTH=x", whySecretName},
		{"AZURE_DEVOPS_EXT_PAT=x", whySecretName},
		{"AWS_PROFILE=prod", whySecretName},
		{"OP_SESSION_abc=x", whySecretName},
		{"SENTRY_DSN=x", whySecretName},
		{"SLACK_WEBHOOK_URL=https://example.com/x", whySecretName},
		{"DATABASE_URL=sqlite:x", whySecretName},
		{"QUEUE=amqp://u:p@h/v", whySecretValue},
		{"PIP_EXTRA_INDEX_URL=https://a/ https://u:p@b/", whySecretValue},
		{"GOPROXY=https://u:p@proxy,direct", whySecretValue},
		{"REMOTE=https://abc@example.com/x", whySecretValue},
		{"CACHE=redis://:p@h", whySecretValue},
		{"https_proxy=u:p@proxy:3128", whySecretValue},
		{"NOTE=ghp_abcdefghijkl", whySecretValue},
		{"PEM=-----BEGIN OPENSSH PRIVATE KEY-----\nx", whySecretValue},

		{"LD_PRELOAD=x", whyLoader},
		{"LD_LIBRARY_PATH=x", whyLoader},
		{"DYLD_INSERT_LIBRARIES=x", whyLoader},
		{"GCONV_PATH=x", whyLoader},
		{"NODE_OPTIONS=--require x", whyLoader},
		{"PYTHONPATH=x", whyLoader},
		{"PYTHONSTARTUP=x", whyLoader},
		{"PERL5OPT=-Mx", whyLoader},
		{"RUBYOPT=-rx", whyLoader},
		{"BASH_ENV=x", whyLoader},
		{"ENV=$HOME/.shinit", whyLoader},
		{"BASH_FUNC_ls%%=() { rm; }", whyLoader},
		{"PROMPT_COMMAND=x", whyLoader},
		{"SHELLOPTS=xtrace", whyLoader},
		{"IFS=x", whyLoader},
		{"GIT_CONFIG_COUNT=1", whyLoader},
		{"GIT_CONFIG_KEY_0=alias.x", whyLoader},
		{"GIT_SSH_COMMAND=x", whyLoader},
		{"GIT_ASKPASS=x", whyLoader},
		{"GIT_EXEC_PATH=x", whyLoader},
		{"JAVA_TOOL_OPTIONS=-javaagent:x", whyLoader},
		{"_JAVA_OPTIONS=x", whyLoader},
		{"DOTNET_STARTUP_HOOKS=x", whyLoader},

		{"SSH_AUTH_SOCK=/tmp/x", whyService},
		{"GPG_AGENT_INFO=x", whyService},
		{"DBUS_SESSION_BUS_ADDRESS=unix:x", whyService},
		{"XDG_RUNTIME_DIR=/run/user/1000", whyService},
		{"DISPLAY=:0", whyService},
		{"WAYLAND_DISPLAY=wayland-0", whyService},
		{"XAUTHORITY=/x", whyService},
		{"TMUX=/tmp/tmux-0", whyService},
		{"VSCODE_IPC_HOOK_CLI=/x", whyService},
		{"KUBECONFIG=/x", whyService},
		{"DOCKER_HOST=tcp://x", whyService},
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

func TestEnvRules(t *testing.T) {
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

func TestEnvIsWellFormed(t *testing.T) {
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

func TestEnvHasAlwaysAPath(t *testing.T) {
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

func TestEnvPassesDockerWhereItIsAllowed(t *testing.T) {
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
