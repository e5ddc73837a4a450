package redact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// dockerHub are the hosts that the login of Docker's own registry is for.
var dockerHub = []string{"https://index.docker.io", "https://registry-1.docker.io", "https://auth.docker.io", "https://docker.io"}

// dockerPlain are the keys of config.json that are shown if they are text.
var dockerPlain = []string{
	"currentContext", "detachKeys", "psFormat", "imagesFormat", "networksFormat", "pluginsFormat", "volumesFormat", "statsFormat", "serviceInspectFormat",
	"servicesFormat", "tasksFormat", "secretFormat", "configFormat", "nodesFormat", "experimental", "stackOrchestrator",
}

// parseDocker reads a config.json of Docker. Helpers for credentials are left out: they are programs that ask services of the host.
func parseDocker(f *File, text string, _ Source) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return errSyntax
	}
	f.write("{")
	sep := "\n"
	for _, key := range dockerPlain {
		var s string
		if json.Unmarshal(all[key], &s) == nil && all[key] != nil && isPlain(s) {
			f.write(sep, "\t", quoteJSON(key), ": ", quoteJSON(s))
			sep = ",\n"
		}
	}
	if raw, ok := all["auths"]; ok {
		var auths map[string]map[string]any
		if json.Unmarshal(raw, &auths) != nil {
			return errSyntax
		}
		f.write(sep, "\t\"auths\": {")
		if err := f.dockerAuths(auths); err != nil {
			return err
		}
		f.write("\n\t}")
	}
	f.write("\n}\n")
	return nil
}

func (f *File) dockerAuths(auths map[string]map[string]any) error {
	sep := "\n"
	for _, registry := range slices.Sorted(maps.Keys(auths)) {
		hosts, ok := dockerHosts(registry)
		if !ok {
			return errWithoutAHost
		}
		f.write(sep, "\t\t", quoteJSON(registry), ": {")
		sep = ",\n"
		inner := ""
		for _, key := range []string{"auth", "username", "password", "identitytoken", "registrytoken"} {
			text, isText := auths[registry][key].(string)
			if !isText || text == "" || !isPrintable(text) {
				continue
			}
			v := f.dockerValue(key, text, hosts)
			f.write(inner, quoteJSON(key), ": \"")
			f.writeValue(v, unquotedJSON)
			f.write("\"")
			inner = ", "
		}
		f.write("}")
	}
	return nil
}

func (f *File) dockerValue(key, text string, hosts []string) value {
	switch {
	case key == "auth":
		return f.addLogin(text, hosts...)
	case key == "username" && isPlain(text):
		return literal(text)
	}
	return f.add(text, hosts...)
}

// dockerHosts returns the bindings of a registry's name, which may be an address.
func dockerHosts(registry string) ([]string, bool) {
	_, rest, ok := strings.Cut(registry, "://")
	if !ok {
		rest = registry
	}
	host, rest, _ := strings.Cut(rest, "/")
	if !server().MatchString(host) || !path().MatchString(rest) || isToken(registry) {
		return nil, false
	}
	if slices.Contains([]string{"docker.io", "index.docker.io", "registry-1.docker.io"}, strings.ToLower(host)) {
		return dockerHub, true
	}
	if scheme, _, _ := strings.Cut(registry, "://"); scheme == "http" {
		return bindings("http", host), true
	}
	return bindings("https", host), true
}

func quoteJSON(s string) string { return `"` + quoteTOML(s) + `"` }

func unquotedJSON(s string) string { return quoteTOML(s) }
