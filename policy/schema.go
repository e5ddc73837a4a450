package policy

import (
	_ "embed" // for schema.json
	"slices"
)

//go:embed schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft 2020-12) of a configuration file, for
// editors. [Decode] decides: it also checks what a schema cannot express.
func Schema() []byte { return slices.Clone(schemaJSON) }
