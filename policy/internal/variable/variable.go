// Package variable classifies environment variables by their names and values: those that hold a secret, make a program load
// code, or point to services of the host.
package variable

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// The reasons for which a variable is dropped without a rule.
const (
	SecretName  = "looks secret"
	SecretValue = "looks secret (value)"
	Loader      = "loader variable"
	Service     = "host service"
)

// loaderNames make a dynamic linker, an interpreter, a shell or git load or run
// something, so that the command that runs is not the one that was typed. Search
// paths of libraries count where they are read at every start (PYTHONPATH finds
// sitecustomize); EDITOR, PAGER and the like do not: they run only when the user starts them.
var loaderNames = []string{
	"LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES", "HOSTALIASES", "RESOLV_HOST_CONF",
	"OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
	"BASH_ENV", "BASH_FUNC_*", "PROMPT_COMMAND", "PS4", "SHELLOPTS", "BASHOPTS", "IFS", "BASH_LOADABLES_PATH",
	"NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONPATH", "PYTHONBREAKPOINT", "PYTHONUSERBASE",
	"PERL5OPT", "PERL5LIB", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "LUA_INIT*", "R_PROFILE*", "R_ENVIRON*",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
	"DOTNET_STARTUP_HOOKS", "CORECLR_*", "COR_PROFILER*", "COR_ENABLE_PROFILING",
	"GIT_CONFIG*", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND",
	"GIT_EXTERNAL_DIFF", "GIT_TEMPLATE_DIR",
}

// serviceNames point to sockets, displays, agents and sessions of the host.
var serviceNames = []string{
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GNOME_KEYRING_*",
	"DBUS_*", "AT_SPI_BUS_ADDRESS", "XDG_RUNTIME_DIR", "SESSION_MANAGER",
	"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "ICEAUTHORITY",
	"SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE",
	"PULSE_*", "PIPEWIRE_*", "TMUX", "TMUX_PANE", "STY", "KITTY_LISTEN_ON", "ALACRITTY_SOCKET",
	"NVIM", "NVIM_LISTEN_ADDRESS", "EMACS_SERVER_FILE", "VSCODE_*",
	"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WSL_INTEROP",
	"CONTAINER_HOST", "KUBECONFIG",
}

// dockerNames point to the Docker engine, and pass where the policy allows it.
var dockerNames = []string{"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"}

// secretNames are secret although no part of the name is in secretParts or secretEndings.
var secretNames = []string{
	"AWS_*", "OP_SESSION_*", "DATABASE_URL", "MYSQL_PWD", "DB_PWD", "SSHPASS",
	"GOOGLE_APPLICATION_CREDENTIALS", "CONNECTION_STRING",
}

// plainNames are not secret although a list above matches them.
var plainNames = []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_DEFAULT_OUTPUT", "AWS_CA_BUNDLE"}

// secretParts make a name secret when they are one of its parts: AUTH is in
// REDISCLI_AUTH but not in GIT_AUTHOR_NAME.
var secretParts = []string{
	"AUTH", "OAUTH", "CREDENTIAL", "CREDENTIALS", "CREDS", "CRED", "JWT", "BEARER", "COOKIE", "COOKIES",
	"DSN", "OTP", "TOTP", "TOKENS", "SECRETS", "PASSWORDS", "PASSCODE", "WEBHOOK", "APIKEYS",
}

// secretEndings make a name secret when one of its parts ends so: PGPASSWORD,
// authToken; not TOKENIZERS_PARALLELISM.
var secretEndings = []string{
	"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE",
	"APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY", "AUTHKEY",
}

// plainKeys precede KEY in names of variables that are not secret.
var plainKeys = []string{"PUBLIC", "PUB", "SORT", "CACHE", "PRIMARY", "FOREIGN", "PARTITION", "HOT"}

// Compiled when a value needs them: few do, and a command that starts in
// milliseconds would notice.
var (
	// urlLogin is a URL with a name and a password before the host, or with
	// anything there when the scheme is HTTP, where it is a token.
	urlLogin = compileLater(`(?i)(://[^\s/?#@:]*:[^\s/?#@]+@|https?://[^\s/?#@]+@)`)
	// tokenValue is the beginning of keys of well-known makers.
	tokenValue = compileLater(`^(gh[opsur]_|github_pat_|glpat-|sk-(ant|proj|or)-|xox[abeprs]-|npm_[0-9A-Za-z]{36}|(AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|eyJ[0-9A-Za-z_-]+\.eyJ|-----BEGIN [A-Z ]*PRIVATE KEY)`)
)

// tokenStarts are the beginnings of everything that tokenValue matches.
var tokenStarts = []string{"gh", "github_pat_", "glpat-", "sk-", "xox", "npm_", "AKIA", "ASIA", "AIza", "eyJ", "-----BEGIN "}

func compileLater(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// isSecretValue reports whether a value looks like a secret.
func isSecretValue(name, value string) bool {
	token := slices.ContainsFunc(tokenStarts, func(s string) bool { return strings.HasPrefix(value, s) })
	return strings.Contains(value, "://") && urlLogin().MatchString(value) ||
		token && tokenValue().MatchString(value) || isProxyLogin(name, value)
}

// Judge returns why a variable is dropped when no rule names it, one of the reasons; "" when it passes. With docker, the
// variables of the Docker engine pass.
func Judge(name, value string, docker bool) string {
	is := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return Match(p, name) })
	}
	switch {
	// Shells run the file that ENV names; most often ENV is "production" and no file.
	case is(loaderNames), name == "ENV" && strings.ContainsAny(value, "/$`~"):
		return Loader
	case is(serviceNames), !docker && is(dockerNames):
		return Service
	case isSecretValue(name, value):
		return SecretValue
	case is(plainNames), isPlainValue(value):
		return ""
	case is(secretNames), isSecretName(name, value):
		return SecretName
	}
	return ""
}

// isPlainValue reports whether a value is too short or common for a secret: DISABLE_AUTH=1.
func isPlainValue(v string) bool {
	return slices.Contains([]string{"", "0", "1", "true", "false", "yes", "no", "on", "off"}, strings.ToLower(v))
}

// isProxyLogin finds logins that urlLogin does not match: proxies are also written without a scheme.
func isProxyLogin(name, value string) bool {
	return strings.HasSuffix(strings.ToUpper(name), "_PROXY") && strings.Contains(value, "@")
}

// isSecretName looks at the parts of a name, which are separated by anything but
// letters and digits and may end in a number.
func isSecretName(name, value string) bool {
	parts := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for i, p := range parts {
		if n := strings.TrimRight(p, "0123456789"); n != "" {
			parts[i] = n
		}
	}
	for i, p := range parts {
		switch {
		case p == "TOKENS" && isNumber(value):
			// MAX_OUTPUT_TOKENS=8000 is a number of tokens, not a token.
		case slices.Contains(secretParts, p),
			slices.ContainsFunc(secretEndings, func(end string) bool { return strings.HasSuffix(p, end) }):
			return true
		case p == "KEY" || p == "KEYS":
			if isSecretKey(parts, i) {
				return true
			}
		case (p == "PASS" || p == "PAT") && i == len(parts)-1:
			return true
		}
	}
	return false
}

// isSecretKey judges the part KEY at i: API_KEY, AWS_ACCESS_KEY_ID and STRIPE_KEY are
// secret, PUBLIC_KEY and KEY_REPEAT are not.
func isSecretKey(parts []string, i int) bool {
	if i > 0 && slices.Contains(plainKeys, parts[i-1]) {
		return false
	}
	named := i > 0 && slices.Contains([]string{"API", "ACCESS", "PRIVATE", "SECRET", "SIGNING", "ENCRYPTION", "MASTER"}, parts[i-1])
	return named || i == len(parts)-1
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// IsLoader reports whether a variable of this name makes a program load or run something.
func IsLoader(name string) bool {
	return slices.ContainsFunc(loaderNames, func(p string) bool { return Match(p, name) })
}

// Match reports whether name equals pattern, or begins with the part before its final *.
func Match(pattern, name string) bool {
	prefix, wild := strings.CutSuffix(pattern, "*")
	return pattern == name || (wild && strings.HasPrefix(name, prefix))
}

// IsName reports whether a variable may have this name. Shells are stricter, but
// programs do use names such as "ProgramFiles(x86)" and "BASH_FUNC_f%%".
func IsName(s string) bool {
	return s != "" && !strings.ContainsAny(s, "=*") && !strings.ContainsFunc(s, unicode.IsControl)
}
