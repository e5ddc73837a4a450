package layer

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/policy/internal/variable"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// variableName matches the names of variables that every program can read.
var variableName = compileLater(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ownVariables are variables whose value agent-sandbox sets: a placeholder there would break the sandbox and protect nothing.
var ownVariables = []string{
	"PATH", "HOME", "PWD", "SHELL", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP", "NODE_USE_ENV_PROXY", "NODE_EXTRA_CA_CERTS",
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
}

func isOwnVariable(name string) bool {
	return slices.Contains(ownVariables, name) || strings.HasSuffix(strings.ToLower(name), "_proxy") ||
		variable.IsLoader(name)
}

func checkSecrets(l sandbox.Layer) *sandbox.Error {
	for _, name := range slices.Sorted(maps.Keys(l.Policy.Secrets)) {
		s := l.Policy.Secrets[name]
		for _, check := range []func(sandbox.Layer, string, sandbox.Secret) *sandbox.Error{
			checkSecretName, checkSecretSource, checkSecretHosts,
		} {
			if err := check(l, name, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkSecretName(l sandbox.Layer, name string, s sandbox.Secret) *sandbox.Error {
	key := "secrets." + name
	written := func(field string) bool { return l.Lines[key+"."+field] > 0 }
	const expected = "found %s, expected a variable's name"
	switch {
	case !variable.IsName(name) || len(name) > 255:
		return Errorf(l, key, "found %s, expected a name", jsonc.Clip(name))
	case (s.Env != "" || written("env")) && (!variableName().MatchString(s.Env) || isOwnVariable(s.Env)):
		return Errorf(l, key+".env", expected+" that is not the sandbox's own", jsonc.Clip(s.Env))
	case (s.File == "" && written("file")) || strings.ContainsRune(s.File, 0):
		return Errorf(l, key+".file", "found %s, expected a path", jsonc.Clip(s.File))
	case s.File != "" || s.Env != "" && HasSource(s):
		return nil // the name is a label
	case !variableName().MatchString(name) || isOwnVariable(name):
		return Errorf(l, key, expected+" that is not the sandbox's own, or env or file", jsonc.Clip(name))
	}
	return nil
}

// HasSource reports whether a secret names a source of its value.
func HasSource(s sandbox.Secret) bool {
	return s.FromEnv != "" || s.FromFile != "" || len(s.FromCommand) > 0
}

func checkSecretSource(l sandbox.Layer, name string, s sandbox.Secret) *sandbox.Error {
	key := "secrets." + name
	var found []string
	for _, f := range []struct {
		field string
		set   bool
	}{{"from_env", s.FromEnv != ""}, {"from_file", s.FromFile != ""}, {"from_command", len(s.FromCommand) > 0}} {
		switch {
		case f.set:
			found = append(found, f.field)
		case l.Lines[key+"."+f.field] > 0:
			return Errorf(l, key+"."+f.field, "found nothing in it, expected where the value comes from")
		}
	}
	nul := func(text string) bool { return strings.ContainsRune(text, 0) }
	switch {
	case len(found) > 1:
		return Errorf(l, key+"."+found[1], "found %s, expected one of them", strings.Join(found, " and "))
	case s.FromEnv != "" && !variable.IsName(s.FromEnv):
		return Errorf(l, key+".from_env", "found %s, expected a variable's name", jsonc.Clip(s.FromEnv))
	case nul(s.FromFile):
		return Errorf(l, key+".from_file", "found %s, expected a path", jsonc.Clip(s.FromFile))
	case len(s.FromCommand) > 0 && s.FromCommand[0] == "", slices.ContainsFunc(s.FromCommand, nul):
		// Not repeated: an argument may be a password.
		return Errorf(l, key+".from_command", "found an empty program or a NUL character, expected a program and its arguments")
	}
	return nil
}

func checkSecretHosts(l sandbox.Layer, name string, s sandbox.Secret) *sandbox.Error {
	key := "secrets." + name
	if len(s.Hosts) == 0 {
		return Errorf(l, key, "found no hosts, expected those that get the value")
	}
	for i, text := range s.Hosts {
		if why := checkSecretHost(text); why != "" {
			return Errorf(l, jsonc.IndexKey(key+".hosts", i), "%s: %s", jsonc.Clip(text), why)
		}
	}
	if written := l.Lines[key+".header"] > 0; (s.Header != "" || written) && !httpguts.ValidHeaderFieldName(s.Header) {
		return Errorf(l, key+".header", "found %s, expected the name of a header field", jsonc.Clip(s.Header))
	}
	return nil
}

// checkSecretHost returns what is wrong with a host that a secret is bound to, or "".
func checkSecretHost(text string) string {
	scheme, host, ok := strings.Cut(text, "://")
	if !ok {
		scheme, host = "https", text
	}
	if scheme != "http" && scheme != "https" || strings.ContainsAny(host, " /") {
		return "a secret is bound to https or http hosts, without methods and paths"
	}
	if _, err := hosts.ParseBinding(scheme + "://" + host); err != nil {
		return err.Error()
	}
	return ""
}
