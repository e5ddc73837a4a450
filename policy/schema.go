package policy

import (
	_ "embed" // for schema.json
	"slices"
)

//go:embed schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft 2020-12) of a configuration file, for
// editors. [Decode] is the judge: it also knows what a schema cannot say.
func Schema() []byte { return slices.Clone(schemaJSON) }
