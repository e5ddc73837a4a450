package assistant

import (
	"path"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// hooks finds the script of the hooks, and reads it to report errors early.
func (l *loading) hooks() string {
	file, err := l.t.one(path.Join(l.dir, sourceDir), "index.ts", "index.js")
	if err != nil {
		l.add(convertError(l.t.abs(l.dir), err))
	}
	if file == "" {
		return ""
	}
	if _, ok := l.read(file, MaxFile); !ok {
		return ""
	}
	return path.Join(sourceDir, path.Base(file))
}

// skills reads the assistant's own skills. A skipped skill is an error here, because the author of the assistant put
// it there.
func (l *loading) skills() *skill.Catalog {
	found := skill.Discover(skill.Source{Scope: skill.Assistant, Base: l.t.dir, Path: path.Join(l.dir, skillsDir)})
	for _, p := range found.Problems {
		at := jsonc.Problem{File: p.File, Line: p.Line, Key: p.Field, Text: p.Text}
		l.warn(at) // Load leaves an invalid skill out; the assistant works without it
	}
	return found
}
