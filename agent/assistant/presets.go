package assistant

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Preset returns the prompts of the preset with that name, which are in prompts/NAME.yml, or for the name "A.B" in
// prompts/A/B.yml. "" selects the default prompts. NotFound: no preset has the name.
func (a *Assistant) Preset(name string) ([]message.Message, error) {
	if name == "" {
		return a.Prompts, nil
	}
	if prompts, ok := a.Presets[name]; ok {
		return prompts, nil
	}
	known := slices.Sorted(maps.Keys(a.Presets))
	err := sandbox.Errorf(sandbox.NotFound, "the assistant %s has no preset of prompts %s, expected %s", a.Name, jsonc.Clip(name),
		formatNames(known, "one in "+jsonc.OneLine(path.Join(a.Dir, presetsDir))))
	if near := jsonc.Nearest(name, known); near != "" {
		return nil, err.WithHint("did you mean %q?", near)
	}
	return nil, err.WithHint("make %s", jsonc.OneLine(path.Join(a.Dir, presetsDir, strings.ReplaceAll(cutText(name), ".", "/")+".yml")))
}

// presetFiles finds the files of presets by their names.
type presetFiles struct {
	*loading
	byName map[string]string
	dirs   int
	full   bool // a bound was reached, and reported
}

// presets reads prompts/. All its files together have at most MaxPrompts bytes, because the YAML parser takes
// quadratic time.
func (l *loading) presets() map[string][]message.Message {
	found := &presetFiles{loading: l, byName: map[string]string{}}
	top := path.Join(l.dir, presetsDir)
	found.search(top, top, 0)
	var out map[string][]message.Message
	left := int64(MaxPrompts)
	for _, name := range slices.Sorted(maps.Keys(found.byName)) {
		file := found.byName[name]
		data, ok := l.read(file, MaxPrompts)
		if !ok {
			continue
		}
		if left -= int64(len(data)); left < 0 {
			l.failFile(top, fmt.Sprintf("found presets of more than %s together, expected less", sandbox.Bytes(MaxPrompts)))
			break
		}
		prompts, problems := parsePrompts(l.t.abs(file), data)
		l.add(problems...)
		if out == nil {
			out = map[string][]message.Message{}
		}
		out[name] = prompts
	}
	return out
}

// search finds the files below a directory, and reads none.
func (p *presetFiles) search(top, dir string, depth int) {
	if p.dirs++; p.dirs > maxDirs || depth > maxDepth {
		p.stop(dir, "not searched: too many directories, or too deep")
		return
	}
	entries, err := p.t.entries(dir)
	if err != nil {
		p.add(convertError(p.t.abs(dir), err))
		return
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		switch {
		case p.full:
			return
		case isHidden(e.Name()):
		case e.IsDir():
			p.search(top, at, depth+1)
		default:
			p.file(top, at)
		}
	}
}

// file adds a YAML file; other files belong to the author.
func (p *presetFiles) file(top, at string) {
	ext := path.Ext(at)
	if ext != ".yml" && ext != ".yaml" {
		return
	}
	name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(at, top+"/"), ext), "/", ".")
	switch other := p.byName[name]; {
	case !isValidName(name):
		p.failFile(at, fmt.Sprintf("found the name %s, expected letters, digits, '-', '_' and '.', at most 64", jsonc.Clip(name)))
	case other != "":
		p.failFile(at, "found a second file of the preset "+name+", expected one (the other is "+jsonc.OneLine(p.t.abs(other))+")").Hint = "remove one of the two"
	case len(p.byName) == MaxPresets:
		p.stop(at, fmt.Sprintf("found more than %d presets, expected fewer", MaxPresets))
	default:
		p.byName[name] = at
	}
}

// stop reports once that a bound was reached.
func (p *presetFiles) stop(name, text string) {
	if !p.full {
		p.full = true
		p.failFile(name, text)
	}
}
