package dialect

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// sealed is the prefix of a seal from another API; the APIs' own seals do not begin with it.
const sealed = "agent-sandbox:"

// carried is the content of a seal from another API.
type carried struct {
	Origin connector.Protocol `json:"o"`
	ID     string             `json:"i,omitempty"`
	Value  string             `json:"v,omitempty"`
	Text   string             `json:"t,omitempty"` // the thought, if the API's seal has no field for it
}

// closeSeal encodes a seal for the protocol to. A seal of that protocol stays as it is; any other is wrapped so that
// openSeal recognises it.
func closeSeal(s Seal, to connector.Protocol, thought string) string {
	if s.Origin == "" || s.Origin == to {
		return s.Value
	}
	data, err := json.Marshal(carried{s.Origin, s.ID, s.Value, thought})
	if err != nil {
		return ""
	}
	return sealed + base64.RawURLEncoding.EncodeToString(data)
}

// openSeal decodes a seal that closeSeal wrapped, or returns a seal of the API itself.
func openSeal(s string, from connector.Protocol) Seal {
	seal, _ := openThought(s, from)
	return seal
}

// openThought decodes the seal and the thought in it.
func openThought(s string, from connector.Protocol) (Seal, string) {
	if s == "" {
		return Seal{}, ""
	}
	rest, ours := strings.CutPrefix(s, sealed)
	if !ours {
		return Seal{Origin: from, Value: s}, ""
	}
	data, err := base64.RawURLEncoding.DecodeString(rest)
	var c carried
	if err != nil || json.Unmarshal(data, &c) != nil {
		return Seal{}, ""
	}
	return Seal{c.Origin, c.ID, c.Value}, c.Text
}
