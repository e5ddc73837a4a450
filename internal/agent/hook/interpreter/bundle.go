package interpreter

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// hooks lists the names of the hook functions.
var hooks = []string{"Create", "Next"}

// found is the global property into which a bundle puts its hooks.
const found = "agent-sandbox hooks"

// Namespaces of esbuild's modules: none is "file", so that esbuild itself reads nothing from the host.
const (
	namespace = "assistant"
	start     = "start"
)

// read reads a source file by its slash-separated path in the assistant's directory. A refusal with Missing means that the
// file does not exist.
type read func(name string) (string, error)

// bundleFiles bundles a source file and its imports into one script.
func bundleFiles(entry string, read read) (*protocol.Bundle, *protocol.Fault) {
	s := &sources{read: read, entry: entry, texts: map[string]string{}}
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{start}, Outfile: "hooks.js", Bundle: true, Write: false,
		Format: api.FormatIIFE, Platform: api.PlatformNeutral, Charset: api.CharsetUTF8, LogLevel: api.LogLevelSilent,
		Sourcemap: api.SourceMapInline, SourcesContent: api.SourcesContentExclude,
		TsconfigRaw: "{}", // otherwise esbuild looks for a file
		Target:      api.ES2022,
		// Features of ES2022 that the engine lacks.
		Supported: map[string]bool{"async-generator": false, "for-await": false, "dynamic-import": false, "import-meta": false},
		Plugins:   []api.Plugin{{Name: namespace, Setup: s.setup}},
	})
	if len(result.Errors) > 0 {
		return nil, sourceFault(result.Errors)
	}
	code := string(result.OutputFiles[0].Contents)
	sum := sha256.Sum256([]byte(code))
	return &protocol.Bundle{ID: hex.EncodeToString(sum[:]), Code: code}, nil
}

// sourceFault converts the first of esbuild's errors.
func sourceFault(messages []api.Message) *protocol.Fault {
	m := messages[0]
	f := &protocol.Fault{Kind: protocol.InvalidSource, Text: protocol.Clip(m.Text, protocol.MaxText)}
	if l := m.Location; l != nil {
		f.File, f.Line, f.Column = strings.TrimPrefix(l.File, namespace+":"), l.Line, l.Column+1
	}
	if n := len(messages) - 1; n > 0 {
		f.Text += fmt.Sprintf(", and %d more", n)
	}
	return f
}

// sources finds and reads the files of a bundle. esbuild calls it from many goroutines.
type sources struct {
	read  read
	entry string
	mu    chan struct{}
	texts map[string]string
	total int
	looks int
}

func (s *sources) setup(b api.PluginBuild) {
	s.mu = make(chan struct{}, 1)
	b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		if a.Kind == api.ResolveEntryPoint {
			return api.OnResolveResult{Path: start, Namespace: start}, nil
		}
		name, err := s.resolve(a)
		if err != nil {
			return api.OnResolveResult{}, err
		}
		return api.OnResolveResult{Path: name, Namespace: namespace}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: start}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		return loaded(s.first(), api.LoaderJS), nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: namespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		text, err := s.text(a.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		text = mapless.Replace(text)
		if a.Path == s.entry {
			text += s.last()
		}
		return loaded(text, loaders[path.Ext(a.Path)]), nil
	})
}

func loaded(text string, l api.Loader) api.OnLoadResult {
	return api.OnLoadResult{Contents: &text, Loader: l}
}

// first is a module that collects the entry's exported hooks, under any local name.
func (s *sources) first() string {
	var b strings.Builder
	fmt.Fprintf(&b, "import * as exported from %q;\n", "./"+s.entry)
	for _, h := range hooks {
		fmt.Fprintf(&b, "{ const name = %q; if (typeof exported[name] === 'function') globalThis[%q][name] = exported[name]; }\n", h, found)
	}
	return b.String()
}

// last follows the entry's text and collects hooks that are declared there but not exported.
func (s *sources) last() string {
	var b strings.Builder
	b.WriteString("\n;")
	for _, h := range hooks {
		fmt.Fprintf(&b, "if (typeof %s === 'function') globalThis[%q].%s = %s;", h, found, h, h)
	}
	return b.String()
}

var loaders = map[string]api.Loader{
	".ts": api.LoaderTS, ".mts": api.LoaderTS, ".js": api.LoaderJS, ".mjs": api.LoaderJS, ".json": api.LoaderJSON,
}

// resolve finds the file that an import names.
func (s *sources) resolve(a api.OnResolveArgs) (string, error) {
	spec := a.Path
	relative := spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../")
	switch {
	case path.IsAbs(spec):
		return "", fmt.Errorf("import of %q: absolute paths are refused; hooks import files of the assistant's directory", protocol.Clip(spec, 200))
	case !relative:
		return "", fmt.Errorf("import of %q: there are no packages and no modules of Node.js; hooks import files of the assistant's directory, as \"./name\"", protocol.Clip(spec, 200))
	}
	dir := "."
	if a.Namespace == namespace {
		dir = path.Dir(a.Importer)
	}
	name := path.Join(dir, spec)
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", fmt.Errorf("import of %q: it leads out of the assistant's directory", protocol.Clip(spec, 200))
	}
	for _, candidate := range candidates(name) {
		_, err := s.text(candidate)
		if r := (*protocol.Refusal)(nil); errors.As(err, &r) && r.Missing {
			continue
		}
		return candidate, err
	}
	return "", fmt.Errorf("import of %q: there is no such file in the assistant's directory", protocol.Clip(spec, 200))
}

// mapless disables comments that name a source map: esbuild would read that file from this host.
var mapless = strings.NewReplacer(
	"//# sourceMappingURL=", "//# sourceMappingURL:", "//@ sourceMappingURL=", "//@ sourceMappingURL:",
	"/*# sourceMappingURL=", "/*# sourceMappingURL:", "/*@ sourceMappingURL=", "/*@ sourceMappingURL:",
)

// candidates lists the files that an import may refer to, best first.
func candidates(name string) []string {
	var out []string
	ext := path.Ext(name)
	if _, ok := loaders[ext]; ok {
		out = append(out, name)
	}
	// TypeScript imports name the compiled file.
	switch ext {
	case ".js":
		out = append(out, strings.TrimSuffix(name, ext)+".ts")
	case ".mjs":
		out = append(out, strings.TrimSuffix(name, ext)+".mts")
	}
	return append(out, name+".ts", name+".js", name+".json", path.Join(name, "index.ts"), path.Join(name, "index.js"))
}

// text reads a file once, within the size limits of a script.
func (s *sources) text(name string) (string, error) {
	s.mu <- struct{}{}
	defer func() { <-s.mu }()
	if text, ok := s.texts[name]; ok {
		return text, nil
	}
	if s.looks++; s.looks > protocol.MaxProbes {
		return "", fmt.Errorf("%s: the script looks for more than %d files", name, protocol.MaxProbes)
	}
	text, err := s.read(name)
	if err != nil {
		return "", err
	}
	if s.total += len(text); s.total > protocol.MaxSources {
		return "", fmt.Errorf("%s: the script's files have more than %d bytes together", name, protocol.MaxSources)
	}
	s.texts[name] = text
	return text, nil
}
