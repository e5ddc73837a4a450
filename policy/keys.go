package policy

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// configErrorf makes the one line that every mistake in a configuration is:
// "FILE:LINE: KEY: text". Line 0 and an empty key are left out.
func configErrorf(file string, line int, key, format string, args ...any) *sandbox.Error {
	cause := fmt.Errorf(format, args...)
	return jsonc.Problem{File: file, Line: line, Key: key, Text: cause.Error()}.Wrap(cause)
}

// layerErrorf is configErrorf at a key of a layer.
func layerErrorf(l sandbox.Layer, key, format string, args ...any) *sandbox.Error {
	return configErrorf(layerFile(l), l.Lines[key], key, format, args...)
}

// layerFile names a layer where a message names a file.
func layerFile(l sandbox.Layer) string {
	switch {
	case l.File != "":
		return l.File
	case l.Name != "":
		return l.Name
	}
	return "policy"
}

// layerSource says where a key of a layer was written: "FILE:LINE", a flag's name
// or "built in".
func layerSource(l sandbox.Layer, key string) string {
	switch {
	case l.File != "":
		s := oneLine(l.File)
		if n := l.Lines[key]; n > 0 {
			s += ":" + strconv.Itoa(n)
		}
		return s
	case l.Name == LayerDefaults:
		return "built in"
	case l.Name == LayerFlags:
		return flagSource(key)
	}
	return layerFile(l)
}

// flagSource is the flag of the command line that sets key.
func flagSource(key string) string {
	top, rest, _ := strings.Cut(key, ".")
	rest, _, _ = strings.Cut(rest, "[")
	switch top {
	case "commands":
		return "--cmd"
	case "limits":
		return "--limit"
	case "filesystem":
		return "--" + rest
	case "secrets":
		return "--secret"
	case "network":
		switch rest {
		case listAllow, listDeny, listPublish, "ca":
			return "--" + rest
		case listPrivate:
			return "--private-host"
		}
	}
	return "--" + top
}

// joinKey appends a name to a key path.
func joinKey(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// noKey is the jsonKey of a field that no file holds.
const noKey = jsonc.NoKey

func jsonKey(f reflect.StructField) string { return jsonc.Key(f) }

// keyHint proposes a known key for an unknown one, or returns "": one of the same
// object that is spelled nearly so, else one that exists elsewhere.
func keyHint(name string, keys []string) string {
	if near := nearest(name, keys); near != "" {
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
		if jsonKey(f) == noKey {
			continue
		}
		path := joinKey(prefix, jsonKey(f))
		paths = append(paths, path)
		if f.Type.Kind() == reflect.Struct {
			paths = append(paths, keyPaths(f.Type, path)...)
		}
	}
	return paths
}

func nearest(name string, words []string) string { return jsonc.Nearest(name, words) }

func clip(s string) string { return jsonc.Clip(s) }

func oneLine(s string) string { return jsonc.OneLine(s) }
