package dialect

import (
	"encoding/json"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// Models writes a list of models in the API's format.
func Models(p connector.Protocol, names []string) []byte {
	list := []json.RawMessage{}
	for _, name := range names {
		if p == connector.Anthropic {
			list = append(list, object("type", "model", "id", name, "display_name", name, "created_at", "1970-01-01T00:00:00Z"))
		} else {
			list = append(list, object("id", name, "object", "model", "created", 0, "owned_by", "agent-sandbox"))
		}
	}
	if p != connector.Anthropic {
		return object("object", "list", "data", list)
	}
	first, last := null(), null()
	if len(names) > 0 {
		first, last = appendString(nil, names[0]), appendString(nil, names[len(names)-1])
	}
	return object("data", list, "has_more", false, "first_id", first, "last_id", last)
}

// Counted writes the Messages API's answer to a token count request.
func Counted(n int64) []byte { return object("input_tokens", n) }
