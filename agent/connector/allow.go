package connector

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// Allow permits coding agents to use parts of the server's API that the broker does not permit for every connector. The
// zero value permits nothing more.
type Allow struct {
	Members []string `json:"members"` // of a request, such as "service_tier"
	Blocks  []string `json:"blocks"`  // types of content and of Responses' items, such as "web_search_tool_result"
	Tools   []string `json:"tools"`   // types of tools that the server runs, such as "web_search_20250305"
	Sources []string `json:"sources"` // of images and files that the request does not contain itself: some of AllowedSources
	Betas   []string `json:"betas"`   // values of the header anthropic-beta or openai-beta
}

// AllowedSources are the sources that a connector can permit: an address that the server fetches, and the account's
// files.
func AllowedSources() []string { return []string{"url", "file"} }

// closedMembers returns the members of a request that no connector can permit, because the broker could not enforce its
// limits or separate the account's stored requests.
func closedMembers() []string {
	return []string{"background", "best_of", "conversation", "n", "previous_response_id", "store"}
}

// CanOpen reports whether a connector's file may have the entry in the list of allow.
func CanOpen(list, entry string) bool {
	switch {
	case list == "sources":
		return slices.Contains(AllowedSources(), entry)
	case list == "members" && slices.Contains(closedMembers(), entry):
		return false
	}
	return entry != "" && len(entry) <= 100 && strings.Trim(entry, "abcdefghijklmnopqrstuvwxyz0123456789_-.=") == ""
}

const maxAllowed = 64 // entries of one list

// checkAllow checks the lists of allow.
func (r *reading) checkAllow() {
	a := r.doc.Allow
	for _, list := range []struct {
		name    string
		entries []string
	}{{"betas", a.Betas}, {"blocks", a.Blocks}, {"members", a.Members}, {"sources", a.Sources}, {"tools", a.Tools}} {
		key := "allow." + list.name
		if !r.has(key) {
			continue
		}
		if len(list.entries) > maxAllowed {
			r.fail(key, "found %d entries, expected at most %d", len(list.entries), maxAllowed)
			continue
		}
		for i, entry := range list.entries {
			if CanOpen(list.name, entry) {
				continue
			}
			text := "expected a name of the server's API"
			switch {
			case list.name == "sources":
				text = "expected one of " + strings.Join(AllowedSources(), ", ")
			case slices.Contains(closedMembers(), entry):
				text = "which no connector can open"
			}
			r.fail(jsonc.IndexKey(key, i), "found %s, %s", jsonc.Clip(entry), text)
		}
	}
}
