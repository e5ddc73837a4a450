package policy

import (
	"reflect"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// MaxConfig is the size in bytes above which a configuration file is refused.
const MaxConfig = jsonc.MaxFile

// Decode reads a configuration file, JSON with or without comments and trailing
// commas. file is its name for messages. The map holds the line, from 1, of
// each key and list entry: "network", "filesystem.ro[0]", "commands.git".
//
// It is strict: an unknown or repeated key, a value of a wrong type, a value that is never valid, or anything after the object is
// an error with code Invalid and one line of text, "FILE:LINE: KEY: what was found, expected what". An empty file is an error,
// too: a file that an editor failed to save must not count as a policy that asks for nothing.
func Decode(file string, data []byte) (sandbox.Policy, map[string]int, error) {
	reader := jsonc.Reader{Expect: expectation, Hint: keyHint, Open: openNetwork}
	top, problem := reader.Parse(file, data)
	if problem != nil {
		return sandbox.Policy{}, nil, problem.Err()
	}
	var p sandbox.Policy
	lines, problems := reader.Decode(top, &p)
	if len(problems) > 0 {
		return sandbox.Policy{}, nil, problems[0].Err()
	}
	if err := layer.Check(sandbox.Layer{File: file, Policy: p, Lines: lines}); err != nil {
		return sandbox.Policy{}, nil, err
	}
	return p, lines, nil
}

// openNetwork sets the mode of a network that is written as an object: an allow-list.
func openNetwork(v reflect.Value) bool {
	n, ok := reflect.TypeAssert[*sandbox.Network](v.Addr())
	if ok {
		n.Mode = sandbox.NetworkAllow
	}
	return ok
}

// expectation describes the valid values of a type of package sandbox; "" for other types.
func expectation(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[sandbox.Network]():
		return layer.ExpectedNetwork
	case reflect.TypeFor[sandbox.CommandRule]():
		return `true, false, "@preset" or the path of a script`
	case reflect.TypeFor[sandbox.Duration]():
		return `a positive duration such as "90s" or "10m"`
	case reflect.TypeFor[sandbox.Bytes]():
		return `a positive size such as "512MiB"`
	}
	return ""
}

// keyHint proposes a known key for an unknown one, or returns "": one of the same
// object that is spelled nearly so, else one that exists elsewhere.
func keyHint(name string, keys []string) string {
	if near := jsonc.Nearest(name, keys); near != "" {
		return `did you mean "` + near + `"?`
	}
	for _, path := range keyPaths(reflect.TypeFor[sandbox.Policy](), "") {
		if _, last, ok := strings.Cut(path, "."); (ok && last == name) || path == name {
			return `did you mean "` + path + `"?`
		}
	}
	return ""
}

// keyPaths lists the key of every field, in nested structs too.
func keyPaths(t reflect.Type, prefix string) []string {
	var paths []string
	for f := range t.Fields() {
		if jsonc.Key(f) == jsonc.NoKey {
			continue
		}
		path := jsonc.JoinKey(prefix, jsonc.Key(f))
		paths = append(paths, path)
		if f.Type.Kind() == reflect.Struct {
			paths = append(paths, keyPaths(f.Type, path)...)
		}
	}
	return paths
}
