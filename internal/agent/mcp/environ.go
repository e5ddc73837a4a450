package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// reference is the prefix of a value that refers to a variable of this process.
const reference = "$ENV."

// passed lists the host variables that every server gets: none of them is a secret.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// lookupVariable returns the last value of a name in an environment.
func lookupVariable(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// resolve replaces references. Its errors name variables and never contain a value.
func resolve(values map[string]string, env []string, what string) (map[string]string, error) {
	out := make(map[string]string, len(values))
	for key, value := range values {
		if key == "" || strings.ContainsAny(key, "=\x00\r\n") || strings.ContainsAny(value, "\x00") {
			return nil, sandbox.Errorf(sandbox.Invalid, "%s: %.100q cannot be the name of one, or its value has a NUL byte", what, key)
		}
		if name, ok := strings.CutPrefix(value, reference); ok {
			if value, ok = lookupVariable(env, name); !ok {
				return nil, sandbox.Errorf(sandbox.Invalid, "%s %s: the variable %.100s is not set", what, key, name).
					WithHint("export %.100s before you start", name)
			}
		}
		out[key] = value
	}
	return out, nil
}

// environment returns the environment of a server.
func environment(s tool.Server, env []string) ([]string, error) {
	own, err := resolve(s.Env, env, "server "+s.ID+": env")
	if err != nil {
		return nil, err
	}
	out := []string{} // nil would pass this process's whole environment
	for _, name := range passed {
		if value, ok := lookupVariable(env, name); ok && value != "" {
			if _, replaced := own[name]; !replaced {
				out = append(out, name+"="+value)
			}
		}
	}
	for name, value := range own {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out, nil
}

// findProgram finds a program in the PATH of an environment, as a shell would.
func findProgram(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, checkExecutable(name)
	}
	path, _ := lookupVariable(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if at := filepath.Join(dir, name); filepath.IsAbs(dir) && checkExecutable(at) == nil {
			return at, nil
		}
	}
	return "", sandbox.Errorf(sandbox.NotFound, "%.200q is in no directory of PATH", name)
}

func checkExecutable(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return sandbox.Errorf(sandbox.NotFound, "%w", err)
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return sandbox.Errorf(sandbox.Denied, "%.200s is not a program", name)
	}
	return nil
}
