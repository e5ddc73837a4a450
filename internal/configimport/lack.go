package configimport

import (
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// Kind is the effect of a [Lack] on the sandbox.
type Kind string

// The kinds.
const (
	Restriction Kind = "restriction" // not enforced: the sandbox allows what the setting forbids
	Stricter    Kind = "stricter"    // enforced, and the sandbox forbids more than the setting
	Grant       Kind = "grant"       // not granted
	Moot        Kind = "moot"        // it has no effect here
	Unknown     Kind = "unknown"     // an unknown key, ignored
)

// Kinds returns all kinds, the most important ones first.
func Kinds() []Kind { return []Kind{Restriction, Unknown, Stricter, Grant, Moot} }

// Lack is a setting without an exact equivalent.
type Lack struct {
	Kind    Kind   `json:"kind"`
	File    string `json:"file,omitempty"` // empty: the setting is built into the tool
	Line    int    `json:"line,omitempty"` // from 1
	Key     string `json:"key"`            // "permissions.deny[3]"
	Value   string `json:"value,omitempty"`
	Why     string `json:"why"`
	Nearest string `json:"nearest,omitempty"` // the nearest setting of a policy; empty: none
}

// source is the location of a setting.
type source struct {
	file string
	line int
	key  string
}

func (s source) String() string {
	if s.file == "" {
		return s.key
	}
	return jsonc.OneLine(s.file) + ":" + strconv.Itoa(s.line) + ": " + jsonc.OneLine(s.key)
}

// item is one value and its location.
type item struct {
	value string
	from  source
}

func (it item) lack(kind Kind, why, nearest string) Lack {
	return Lack{Kind: kind, File: it.from.file, Line: it.from.line, Key: it.from.key, Value: it.value, Why: why, Nearest: nearest}
}
