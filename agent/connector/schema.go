package connector

import (
	_ "embed" // for schema.json
	"slices"
)

//go:embed schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft 2020-12) of a connector's file, for editors. [Parse] is the judge: it also knows
// what a schema cannot say.
func Schema() []byte { return slices.Clone(schemaJSON) }
