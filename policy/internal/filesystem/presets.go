package filesystem

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// activePresets toggles through the lists of all layers. They change the default,
// which is @all with a workspace and nothing without; a layer that names @all
// itself means the list literally.
func activePresets(layers []sandbox.Layer, workspace string) (map[string]bool, error) {
	active := map[string]bool{}
	literal := workspace == ""
	for _, l := range layers {
		literal = literal || slices.ContainsFunc(l.Policy.Filesystem.Presets, func(s string) bool {
			return strings.TrimPrefix(s, "!") == "@all"
		})
	}
	if !literal {
		for _, p := range preset.Members("@all") {
			active[p] = true
		}
	}
	for i := range layers {
		for n, written := range layers[i].Policy.Filesystem.Presets {
			name, off := strings.CutPrefix(written, "!")
			names := preset.Members(name)
			if names == nil {
				return nil, layer.EntryErrorf(&layers[i], "filesystem.presets", n, sandbox.Invalid, "unknown preset: %s", written).
					WithHint("the presets are %s", strings.Join(preset.Names(), " "))
			}
			for _, p := range names {
				active[p] = !off
			}
		}
	}
	return active, nil
}
