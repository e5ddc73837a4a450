package redact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// composerHosts are the other hosts that receive the token of a host.
var composerHosts = map[string][]string{"github.com": {"https://api.github.com", "https://codeload.github.com"}}

// composerWords are the keys of a login whose values are shown.
var composerWords = []string{"username", "header"}

// parseComposer reads an auth.json of Composer: logins by their kind and host.
func parseComposer(f *File, text string, _ Source) error {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil {
		return errSyntax
	}
	f.write("{")
	sep := "\n"
	for _, kind := range []string{"bearer", "bitbucket-oauth", "forgejo-token", "github-oauth", "gitlab-oauth", "gitlab-token", "http-basic"} {
		raw, ok := all[kind]
		if !ok || string(raw) == "[]" { // PHP's empty object
			continue
		}
		var logins map[string]any
		if json.Unmarshal(raw, &logins) != nil {
			return errSyntax
		}
		f.write(sep, "\t", quoteJSON(kind), ": {")
		sep = ",\n"
		inner := "\n"
		for _, host := range slices.Sorted(maps.Keys(logins)) {
			if !server().MatchString(host) || isToken(host) {
				return errWithoutAHost
			}
			f.write(inner, "\t\t", quoteJSON(host), ": ")
			inner = ",\n"
			if !f.composerLogin(logins[host], append(bindings("https", host), composerHosts[strings.ToLower(host)]...)) {
				return errSyntax
			}
		}
		f.write("\n\t}")
	}
	f.write("\n}\n")
	return nil
}

// composerLogin writes a token, or an object with a name and a token. It reports false for other values.
func (f *File) composerLogin(login any, to []string) bool {
	switch x := login.(type) {
	case string:
		f.write(`"`)
		f.writeValue(f.add(x, to...), unquotedJSON)
		f.write(`"`)
		return isPrintable(x)
	case map[string]any:
		f.write("{")
		sep := ""
		for _, key := range slices.Sorted(maps.Keys(x)) {
			text, ok := x[key].(string)
			if !ok {
				continue // such as the time at which a token expires
			}
			v := literal(text)
			if !slices.Contains(composerWords, key) || !isPlain(text) {
				v = f.add(text, to...)
			}
			if !isPlain(key) || !isPrintable(text) {
				return false
			}
			f.write(sep, quoteJSON(key), `: "`)
			f.writeValue(v, unquotedJSON)
			f.write(`"`)
			sep = ", "
		}
		f.write("}")
		return true
	}
	return false
}
