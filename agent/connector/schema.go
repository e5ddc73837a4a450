package connector

import (
	_ "embed" // for schema.json
	"slices"
)

//go:embed schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft 2020-12) of a connector's file, for editors. [Parse] is stricter: a schema
// cannot express all rules.
func Schema() []byte { return slices.Clone(schemaJSON) }
