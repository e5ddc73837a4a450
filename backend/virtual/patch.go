package virtual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/hostdir"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// patch calls f with each change, in the order of [Workspace.Changes].
func (t *tree) patch(ctx context.Context, o PatchOptions, f func(Patched) error) error {
	for _, m := range t.mounts {
		names, any := m.named(o.Paths)
		if !any {
			continue
		}
		look, err := m.Look()
		if err != nil {
			return err
		}
		for _, c := range look.Changes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if t.isGiven(m.path+"/"+c.Path) || len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return isBeneath(c.Path, n) }) {
				continue
			}
			p, ok, err := newPatched(look, c)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if m.path != t.plan.Workspace {
				p.Path, p.Text = []byte(m.path+"/"+c.Path), nil
			}
			if err := f(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func isBeneath(p, dir string) bool {
	return dir == "." || p == dir || strings.HasPrefix(p, dir+"/")
}

// newPatched describes a change in the form of stages; false: the host's file no longer differs.
func newPatched(look *hostdir.Look, c vfs.Change) (p Patched, ok bool, err error) {
	p.Path = []byte(c.Path)
	was, err := entryOf(look.Host, c.Path)
	if err != nil {
		return p, false, err
	}
	now, err := entryOf(look.Now, c.Path)
	if err != nil {
		return p, false, err
	}
	sides := patch.Sides{Old: look.Host.Open, New: look.Now.Open}
	p.Change, ok, err = sides.Describe(c.Path, was, now)
	p.Change.Conflict = look.Conflict(c)
	if !ok {
		return p, false, err
	}
	var text bytes.Buffer
	if err == nil {
		err = sides.WritePatch(&text, []patch.Change{p.Change})
	}
	if err == nil {
		p.Text, p.Lines = text.Bytes(), patch.LinesOf(text.Bytes())
	}
	return p, true, nil // a file that cannot be read, or was changed outside while it is half in memory, has no text
}

// entryOf describes the entry of one side; nil: that side has none.
func entryOf(side hostdir.Side, name string) (*patch.Entry, error) {
	info, err := side.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // a Change may have no entry on one side
	}
	if err != nil {
		return nil, err
	}
	e := &patch.Entry{Type: patch.Device, Mode: unixMode(info.Mode())}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Type, e.Size = patch.File, info.Size()
	case mode.IsDir():
		e.Type = patch.Directory
	case mode&fs.ModeNamedPipe != 0:
		e.Type = patch.FIFO
	case mode&fs.ModeSocket != 0:
		e.Type = patch.Socket
	case mode&fs.ModeSymlink != 0:
		e.Type, e.Mode = patch.Symlink, 0o777
		e.Target, err = side.Readlink(name)
	}
	return e, err
}

// unixMode returns the mode as chmod(2) takes it.
func unixMode(m fs.FileMode) uint32 {
	out := uint32(m.Perm())
	for bit, unix := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if m&bit != 0 {
			out |= unix
		}
	}
	return out
}

// operatePatch answers OpPatch.
func (i *instance) operatePatch(ctx context.Context, arg json.RawMessage, out *json.Encoder) error {
	var o PatchOptions
	if arg != nil {
		if err := json.Unmarshal(arg, &o); err != nil {
			return sandbox.Errorf(sandbox.Invalid, "the argument of %s: %w", OpPatch, err)
		}
	}
	return i.tree.patch(ctx, o, func(p Patched) error { return out.Encode(p) })
}
