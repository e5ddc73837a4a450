package policy

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxClip is how many bytes of a file's content a message repeats.
const maxClip = 60

// configErrorf makes the one line that every mistake in a configuration is:
// "FILE:LINE: KEY: text". Line 0 and an empty key are left out.
func configErrorf(file string, line int, key, format string, args ...any) *sandbox.Error {
	e := sandbox.Errorf(sandbox.Invalid, format, args...)
	return sandbox.Errorf(sandbox.Invalid, "%s%w", configPosition(file, line, key), e.Err)
}

func configPosition(file string, line int, key string) string {
	s := oneLine(file)
	if line > 0 {
		s += ":" + strconv.Itoa(line)
	}
	s += ": "
	if key != "" {
		s += oneLine(key) + ": "
	}
	return s
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
const noKey = "-"

// jsonKey is the name of a struct field in a file.
func jsonKey(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// structKeys lists the keys of a struct as its fields stand.
func structKeys(t reflect.Type) []string {
	keys := make([]string, 0, t.NumField())
	for f := range t.Fields() {
		if key := jsonKey(f); key != noKey {
			keys = append(keys, key)
		}
	}
	return keys
}

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

// nearest returns the word that a person who typed name most likely meant, or "".
func nearest(name string, words []string) string {
	best, limit := "", 1+len(name)/4
	for _, w := range words {
		if n := editDistance(strings.ToLower(name), strings.ToLower(w)); n <= limit {
			best, limit = w, n-1
		}
	}
	return best
}

// editDistance counts the letters to insert, delete, replace or swap with their
// neighbor to make b of a. Long words are not compared.
func editDistance(a, b string) int {
	if len(a) > maxClip || len(b) > maxClip {
		return maxClip
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			differs := 1
			if a[i-1] == b[j-1] {
				differs = 0
			}
			n := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, rows[i-2][j-2]+1)
			}
			rows[i][j] = n
		}
	}
	return rows[len(a)][len(b)]
}

// clip quotes text of a file for a message, and shortens it.
func clip(s string) string {
	if len(s) <= maxClip {
		return strconv.Quote(s)
	}
	n := maxClip
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strconv.Quote(s[:n]) + "..."
}

// oneLine returns s as it is when it prints on one line, else quoted: a name with
// a newline or an escape sequence must not write a second line of its own.
func oneLine(s string) string {
	printable := func(r rune) bool { return unicode.IsPrint(r) && r != utf8.RuneError }
	if s != "" && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !printable(r) }) {
		return s
	}
	return strconv.Quote(s)
}
