package assistant

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// places are the files of the connectors.
type places struct {
	reported
	t      *tree
	byID   map[string]string // ID → the file's name below the root
	failed map[string]bool   // IDs with two files
	dirs   int
	told   bool
}

// findConnectors finds the files of connectors and reads none.
func findConnectors(t *tree) *places {
	p := &places{t: t, byID: map[string]string{}, failed: map[string]bool{}}
	p.dir(connectorsDir, 0)
	return p
}

// ids returns the IDs of the files, sorted.
func (p *places) ids() []string { return slices.Sorted(maps.Keys(p.byID)) }

func (p *places) dir(name string, depth int) {
	p.dirs++
	if depth > maxDepth || p.dirs > maxDirs {
		p.full(name, "not searched: too many directories, or too deep")
		return
	}
	entries, err := p.t.entries(name)
	if err != nil {
		p.add(convertError(p.t.abs(name), err))
		return
	}
	for _, e := range entries {
		at := path.Join(name, e.Name())
		switch {
		case isHidden(e.Name()):
		case e.IsDir():
			p.dir(at, depth+1)
		default:
			p.file(at, e)
		}
	}
}

// full reports once that a bound was reached.
func (p *places) full(name, text string) {
	if !p.told {
		p.told = true
		p.add(jsonc.Problem{File: p.t.abs(name), Text: text})
	}
}

func (p *places) file(name string, e fs.DirEntry) {
	id, ofKind, ok := cutForm(e.Name(), "conn")
	switch {
	case !ofKind && e.Type()&fs.ModeSymlink != 0:
		p.warn(jsonc.Problem{File: p.t.abs(name), Text: "not searched: it is a symbolic link"})
		return
	case !ofKind:
		return
	case !ok:
		p.add(jsonc.Problem{File: p.t.abs(name), Text: "found another ending, expected .conn.yao, .conn.jsonc or .conn.json"})
		return
	}
	within := strings.TrimPrefix(path.Join(path.Dir(name), id), connectorsDir+"/")
	for part := range strings.SplitSeq(within, "/") {
		if !isValidName(part) {
			p.add(jsonc.Problem{
				File: p.t.abs(name), Text: fmt.Sprintf("found the name %s, expected letters, digits, '-', '_' and '.', at most 64", jsonc.Clip(part)),
			})
			return
		}
	}
	id = strings.ReplaceAll(within, "/", ".")
	switch other, twice := p.byID[id]; {
	case twice:
		p.failed[id] = true
		p.add(jsonc.Problem{
			File: p.t.abs(name), Text: "found a second file of the connector " + id + ", expected one (the other is " + jsonc.OneLine(p.t.abs(other)) + ")",
			Hint: "remove one of the two",
		})
	case len(p.byID) == MaxConnectors:
		p.full(name, fmt.Sprintf("not read: there are more than %d connectors", MaxConnectors))
	default:
		p.byID[id] = name
	}
}

// notFound returns the error for a connector that does not exist.
func (p *places) notFound(id string) *sandbox.Error {
	ids := p.ids()
	err := sandbox.Errorf(sandbox.NotFound, "found no connector %s, expected %s", jsonc.Clip(id), formatNames(ids, "one in "+jsonc.OneLine(p.t.abs(connectorsDir))))
	if near := jsonc.Nearest(id, ids); near != "" {
		return err.WithHint("did you mean %q?", near)
	}
	return err.WithHint("make %s", jsonc.OneLine(p.t.abs(path.Join(connectorsDir, strings.ReplaceAll(cutText(id), ".", "/")+".conn.yao"))))
}

// cutText shortens a text that a message repeats.
func cutText(s string) string { return s[:min(len(s), 64)] }

// formatNames lists the names, or returns none if the list is empty.
func formatNames(names []string, none string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return none
	case len(names) > most:
		return "one of " + strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return "one of " + strings.Join(names, ", ")
}

// parse reads one connector and stores the hash of its file in sums.
func (p *places) parse(id string, sums map[string]string) (*connector.Connector, []jsonc.Problem) {
	name := p.byID[id]
	data, err := p.t.read(name, MaxFile)
	if err != nil {
		return nil, []jsonc.Problem{convertError(p.t.abs(name), err)}
	}
	sums[name] = hashContent(data)
	return connector.Parse(id, p.t.abs(name), data)
}
