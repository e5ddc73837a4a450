package virtual

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/memory/hostdir"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// state has the changes of commands to a tree. It is independent of the system files and of the host's directories.
type state struct {
	part   *vfs.Snapshot
	grafts []vfs.Graft
	// expected has by mount the host's entries at the changed paths.
	expected map[string]hostdir.Expected
}

// stateDocument is the part of a state beside its tree. Paths are quoted, because JSON allows only UTF-8.
type stateDocument struct {
	Version  int                         `json:"version"`
	Grafts   []graftDocument             `json:"grafts"`
	Expected map[string]hostdir.Expected `json:"expected"`
}

type graftDocument struct {
	Path       string `json:"path"`
	Attributes bool   `json:"attributes,omitempty"`
	Gone       bool   `json:"gone,omitempty"`
}

const (
	stateVersion = 1
	// stateFile holds the document in the saved tree. Commands cannot create files in the root directory.
	stateFile = "/.agent-sandbox-state"
)

// isOutside reports whether a path is neither in a directory of the host nor a given file.
func (t *tree) isOutside(p string) bool { return !t.isGiven(p) && !t.has(p) }

// save returns the state of a snapshot of the tree.
func (t *tree) save(now *vfs.Snapshot) (*state, error) {
	changes := vfs.DiffExcept(t.base, now, func(p string) bool { return !t.isOutside(p) })
	s := &state{expected: map[string]hostdir.Expected{}}
	for _, m := range t.mounts {
		list, expected, err := m.Pending(now)
		if err != nil {
			return nil, err
		}
		s.expected[strconv.QuoteToASCII(m.path)] = expected
		for _, c := range list {
			if c.Path = path.Join(m.path, c.Path); !t.isGiven(c.Path) {
				changes = append(changes, c)
			}
		}
	}
	for _, c := range changes {
		s.grafts = append(s.grafts, vfs.Graft{
			Path: c.Path, Gone: c.Kind == vfs.Deleted,
			Attributes: c.Kind == vfs.Modified && !c.Content && c.New.Mode.IsRegular(),
		})
	}
	part, lost, err := now.Extract(s.grafts)
	if err != nil {
		return nil, err
	}
	s.part = part
	s.grafts = slices.DeleteFunc(s.grafts, func(g vfs.Graft) bool { return slices.Contains(lost, g.Path) })
	return s, nil
}

// load replaces all changes of the tree by those of a state.
func (t *tree) load(s *state) error {
	for _, m := range t.mounts {
		if err := m.Discard(); err != nil {
			return err
		}
	}
	var back []vfs.Graft
	for _, c := range vfs.DiffExcept(t.base, t.fs.Snapshot(), func(p string) bool { return !t.isOutside(p) }) {
		back = append(back, vfs.Graft{Path: c.Path, Gone: c.Kind == vfs.Created})
	}
	t.fs.Graft(t.base, back)
	t.fs.Graft(s.part, slices.DeleteFunc(slices.Clone(s.grafts), func(g vfs.Graft) bool { return t.isGiven(g.Path) }))
	for _, m := range t.mounts {
		m.Expect(s.expected[strconv.QuoteToASCII(m.path)])
	}
	return nil
}

// pack returns a state as one tree.
func (s *state) pack() (*vfs.Snapshot, error) {
	doc := stateDocument{Version: stateVersion, Expected: s.expected}
	for _, g := range s.grafts {
		doc.Grafts = append(doc.Grafts, graftDocument{strconv.QuoteToASCII(g.Path), g.Attributes, g.Gone})
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	f := s.part.FS(vfs.Options{Limits: unlimited})
	if err := f.WriteFile(context.Background(), vfs.Cred{}, stateFile, text, 0o600); err != nil {
		return nil, err
	}
	return f.Snapshot(), nil
}

var unlimited = vfs.Limits{Bytes: -1, FileBytes: -1, Nodes: -1}

// unpack reverses pack. It returns an error for a tree that pack did not make.
func unpack(packed *vfs.Snapshot) (*state, error) {
	f := packed.FS(vfs.Options{Limits: unlimited})
	text, err := f.ReadFile(context.Background(), vfs.Cred{}, stateFile)
	if err != nil {
		return nil, damagedError(err)
	}
	var doc stateDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, damagedError(err)
	}
	if doc.Version != stateVersion {
		return nil, sandbox.Errorf(sandbox.Unsupported, "the saved files have version %d; this program supports version %d", doc.Version, stateVersion)
	}
	s := &state{expected: doc.Expected}
	for _, g := range doc.Grafts {
		p, err := strconv.Unquote(g.Path)
		if err != nil {
			return nil, damagedError(err)
		}
		s.grafts = append(s.grafts, vfs.Graft{Path: p, Attributes: g.Attributes, Gone: g.Gone})
	}
	s.part = packed
	return s, nil
}

func damagedError(err error) error {
	return sandbox.Errorf(sandbox.Internal, "the saved files: %w", err)
}

// readPack reads a state from a file.
func readPack(r io.Reader) (*state, error) {
	packed, _, err := vfs.ReadPack(r, unlimited)
	if err != nil {
		return nil, damagedError(err)
	}
	return unpack(packed)
}

func (s *state) writePack(w io.Writer) error {
	packed, err := s.pack()
	if err == nil {
		_, err = packed.WritePack(w)
	}
	return err
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
