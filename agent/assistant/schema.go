package assistant

import (
	"bytes"
	"embed"
	"slices"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/policy"
)

//go:embed schema/*.json
var schemas embed.FS

// Schemas returns the names that Schema knows.
func Schemas() []string { return []string{"assistant", "connector", "mcp", "prompts"} }

// policyPlace is the path of the policy schema in the package schema.
const policyPlace = `"policy": {}`

// Schema returns the JSON Schema (draft 2020-12) of a package file, a connector, an MCP server or prompts, for editors;
// nil for any other name. [Root.Check] is stricter: a schema cannot express all rules.
func Schema(name string) []byte {
	switch {
	case name == "connector":
		return connector.Schema()
	case !slices.Contains(Schemas(), name):
		return nil
	}
	text, err := schemas.ReadFile("schema/" + name + ".json")
	if err != nil {
		panic(err) // it is embedded
	}
	// The policy's schema refers to parts of itself, so it keeps an identity of its own.
	own := bytes.Replace(bytes.TrimSpace(policy.Schema()), []byte("{"), []byte(`{ "$id": "https://agent-sandbox.invalid/policy",`), 1)
	return bytes.Replace(text, []byte(policyPlace), append([]byte(`"policy": `), bytes.ReplaceAll(own, []byte("\n"), []byte("\n    "))...), 1)
}
