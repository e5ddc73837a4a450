package configimport

import (
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// Kind is the effect of a [Lack] on the sandbox.
type Kind string

// The kinds.
const (
	Restriction Kind = "restriction" // it is not enforced: what it forbids is possible here
	Stricter    Kind = "stricter"    // it is enforced and forbids more here
	Grant       Kind = "grant"       // it is not given
	Moot        Kind = "moot"        // it changes nothing here
	Unknown     Kind = "unknown"     // a key that is not known, ignored
)

// Kinds lists all kinds, those that matter most first.
func Kinds() []Kind { return []Kind{Restriction, Unknown, Stricter, Grant, Moot} }

// Lack is a setting without an exact equivalent.
type Lack struct {
	Kind    Kind   `json:"kind"`
	File    string `json:"file,omitempty"` // empty: built into the tool
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
