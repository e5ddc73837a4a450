//go:build linux

package guard

import "testing"

func Test_Guarded_Names_Are_Compared_As_File_Systems_Without_Regard_To_Case_Do(t *testing.T) {
	r := newRuleset(Rules{Names: []Name{
		{Dir: "/w", Name: ".mcp.json"}, {Dir: "/w", Name: ".hooks"}, {Dir: "/w", Name: "Élan"}, {Dir: "/w", Name: "a\xff"},
	}})
	for name, want := range map[string]bool{
		".mcp.json": true, ".MCP.Json": true, ".mcp.j\u017fon": true, ".hoo\u212as": true, ".HOO\u212a\u017f": true, "élan": true,
		"ÉLAN": true, "A\xff": true, ".mcp.json\u0301": false, "elan": false, ".mcp.js\u00f6n": false, "": false,
	} {
		if got := r.guarded("/w", name) != nil; got != want {
			t.Errorf("%q: guarded %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"HEAD": true, "object\u017f": true, "Ref\u017f": true, "COMMONDIR": true, "heads": false} {
		if got := isPart(name); got != want {
			t.Errorf("%q: a part %v, want %v", name, got, want)
		}
	}
}
