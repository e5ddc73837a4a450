package dialect

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
)

// sealed marks a seal of another API: those of the APIs themselves have no such beginning.
const sealed = "agent-sandbox:"

// carried is what a seal of another API holds.
type carried struct {
	Origin connector.Protocol `json:"o"`
	ID     string             `json:"i,omitempty"`
	Value  string             `json:"v,omitempty"`
	Text   string             `json:"t,omitempty"` // the thought, where the place of the seal has none
}

// closeSeal is how a seal is told to who speaks the protocol to: as it is where it comes from there, otherwise so that
// openSeal knows it again.
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

// openSeal reads what closeSeal made, or a seal of the API itself.
func openSeal(s string, from connector.Protocol) Seal {
	seal, _ := openThought(s, from)
	return seal
}

// openThought reads the thought of a seal, too.
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
