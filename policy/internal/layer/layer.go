// Package layer reads and checks one layer of a policy, which is one of its sources: it names where an entry was written,
// makes the errors about it, and refuses values that are wrong on every host.
package layer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The names of two layers that have no file: their entries come from this program and from the command line.
const (
	Defaults = "defaults"
	Flags    = "flags"
)

// EphemeralCA is the value of a network's ca for an authority that is created for one run.
const EphemeralCA = "ephemeral"

// FileErrorf makes the one-line error for a mistake in a configuration:
// "FILE:LINE: KEY: text". Line 0 and an empty key are left out.
func FileErrorf(file string, line int, key, format string, args ...any) *sandbox.Error {
	cause := fmt.Errorf(format, args...)
	return jsonc.Problem{File: file, Line: line, Key: key, Text: cause.Error()}.Wrap(cause)
}

// Errorf makes the error about a key of a layer, with code Invalid: "FILE:LINE: KEY: text".
func Errorf(l sandbox.Layer, key, format string, args ...any) *sandbox.Error {
	return FileErrorf(layerFile(l), l.Lines[key], key, format, args...)
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

// Source returns the place where a key of a layer was written: "FILE:LINE", a flag's name
// or "built in".
func Source(l sandbox.Layer, key string) string {
	switch {
	case l.File != "":
		s := jsonc.OneLine(l.File)
		if n := l.Lines[key]; n > 0 {
			s += ":" + strconv.Itoa(n)
		}
		return s
	case l.Name == Defaults:
		return "built in"
	case l.Name == Flags:
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
	case "requests":
		return "--request"
	case "filesystem":
		switch rest {
		case "presets":
			return "--preset"
		case "sockets":
			return "--socket"
		}
		return "--" + rest
	case "secrets":
		return "--secret"
	case "network":
		switch rest {
		case ListAllow, ListDeny, ListPublish, "ca":
			return "--" + rest
		case ListPrivate:
			return "--private-host"
		}
	}
	return "--" + top
}

// EntryErrorf is a one-line error about one entry of a layer.
func EntryErrorf(l *sandbox.Layer, list string, n int, code sandbox.Code, format string, args ...any) *sandbox.Error {
	key := jsonc.IndexKey(list, n)
	err := Errorf(*l, key, "%w", fmt.Errorf(format, args...))
	if l.File == "" {
		err = sandbox.Errorf(code, "%s: %w", Source(*l, key), fmt.Errorf(format, args...))
	}
	err.Code = code
	return err
}
