package files

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxFound bounds the bytes of a search's answer.
const maxFound = 16 << 20

// Mkdir implements sandbox.Maker.
func (f files) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	return f.run(ctx, opMkdir, name, strconv.FormatUint(uint64(perm.Perm()), 8))
}

// Search implements sandbox.Searcher.
func (f files) Search(ctx context.Context, root string, q sandbox.Query) (sandbox.Found, error) {
	if q.Max <= 0 {
		q.Max = sandbox.DefaultMatches
	}
	query, err := json.Marshal(wireQuery{[]byte(q.Name), []byte(q.Text), q.Max})
	if err != nil {
		return sandbox.Found{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &boundedBuffer{limit: maxFound, over: cancel}
	c, err := f.begin(ctx, sandbox.Stdio{Stdout: out}, opSearch, root, string(query))
	if err != nil {
		return sandbox.Found{}, err
	}
	err = c.end()
	if out.cut {
		return sandbox.Found{}, sandbox.Errorf(sandbox.Exhausted, "what was found is more than %d bytes", maxFound).
			WithHint("look for fewer matches")
	}
	if err != nil {
		return sandbox.Found{}, err
	}
	return decodeFound(out.buf.Bytes(), q.Max)
}

// decodeFound decodes a search's answer and checks the paths, but not the texts.
func decodeFound(data []byte, limit int) (sandbox.Found, error) {
	var w wireFound
	if err := json.Unmarshal(data, &w); err != nil {
		return sandbox.Found{}, sandbox.Errorf(sandbox.Internal, "the guest's matches: %w", err)
	}
	if len(w.Matches) > limit {
		return sandbox.Found{}, sandbox.Errorf(sandbox.Internal, "the guest found %d matches of %d at most", len(w.Matches), limit)
	}
	found := sandbox.Found{Matches: []sandbox.Match{}, Cut: w.Cut}
	for _, m := range w.Matches {
		name := string(m.Name)
		// A careless caller could join such a name to a path on the host.
		if len(name) > maxName || strings.ContainsRune(name, 0) || !fs.ValidPath(strings.ToValidUTF8(name, "?")) || m.Line < 0 {
			return sandbox.Found{}, sandbox.Errorf(sandbox.Internal, "the guest found an impossible file %.100q", name)
		}
		found.Matches = append(found.Matches, sandbox.Match{Name: name, Line: m.Line, Text: m.Text})
	}
	return found, nil
}

// Pack implements sandbox.Archiver. It returns when Open does.
func (f files) Pack(ctx context.Context, name string) (io.ReadCloser, error) {
	return f.receive(ctx, opPack, name)
}

// Unpack implements sandbox.Archiver.
func (f files) Unpack(ctx context.Context, name string, r io.Reader) error {
	return f.send(ctx, r, opUnpack, name)
}
