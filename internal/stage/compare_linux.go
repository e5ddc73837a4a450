package stage

import (
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
)

const (
	// special are the bits that make a program run as another user or group.
	special = 0o6000
	// applied are the permission bits that Apply sets.
	applied = 0o1777

	unreadableFile = "the stage's file cannot be read"
)

// entryOf returns the entry of one side of a change.
func entryOf(t *tree.Tree, path string, st tree.Info) (*Entry, error) {
	e := &Entry{Type: st.Kind(), Mode: st.Mode & 0o7777}
	switch e.Type {
	case patch.File:
		e.Size, e.Links = st.Size, int(st.Nlink)
	case patch.Symlink:
		var err error
		e.Mode = 0o777
		e.Target, err = t.Readlink(path)
		return e, err
	case patch.Directory, patch.FIFO, patch.Socket, patch.Device:
	}
	return e, nil
}

// compare reports path if the stage's entry up differs from the workspace's low, which may
// not exist.
func (d *differ) compare(path string, up, low tree.Info, origin bool) error {
	c := Change{Path: path, Never: neverReason(path)}
	var err error
	if c.New, err = entryOf(d.up, path, up); err != nil {
		return err
	}
	if low.Exists {
		if c.Old, err = entryOf(d.low, path, low); err != nil {
			return err
		}
	}
	switch {
	case c.Old == nil:
		c.Kind = patch.Created
		gone, err := d.base.vanished(path, up, origin)
		if err != nil {
			return err
		}
		if gone {
			c.Conflict = goneBelow
		}
	case c.Old.Type != c.New.Type:
		c.Kind = patch.Retyped
	default:
		c.Kind = patch.Modified
		if c.Content, err = d.contentDiffers(path, up, low, c.Old, c.New); err != nil {
			return err
		}
		if !c.Content && (c.New.Mode == c.Old.Mode || c.New.Type == patch.Symlink) {
			return nil
		}
	}
	if low.Exists && d.base.hasChanged(path, low) {
		c.Conflict = changedBelow
	}
	d.remark(&c)
	c.Binary = c.New.IsBinary(d.up.Opened, path) || c.Old.IsBinary(d.low.Opened, path)
	return d.add(c)
}

// remark sets Never and Note of c.
func (d *differ) remark(c *Change) {
	switch {
	case c.Never != "":
	case c.New.Type == patch.Socket || c.New.Type == patch.Device:
		c.Never = "a " + string(c.New.Type) + " is never applied"
	case c.Kind == patch.Modified && !c.Content && (c.New.Mode^c.Old.Mode)&applied == 0:
		c.Never = "set-user-ID and set-group-ID bits are never applied"
	case c.New.Type != patch.Directory && c.New.Mode&special != 0:
		c.Note = "without its set-user-ID and set-group-ID bits"
	}
	if c.Never == "" && c.New.Type == patch.File {
		f, err := d.up.Open(c.Path)
		if err != nil {
			c.Never = unreadableFile
			return
		}
		_ = f.Close() // opened to read
	}
}

// contentDiffers compares two entries of one type. An unreadable one differs.
func (d *differ) contentDiffers(path string, up, low tree.Info, now, was *Entry) (bool, error) {
	switch now.Type {
	case patch.Symlink:
		return now.Target != was.Target, nil
	case patch.Device:
		return up.Rdev != low.Rdev, nil
	case patch.Directory, patch.FIFO, patch.Socket:
		return false, nil
	case patch.File:
	}
	if up.Size != low.Size {
		return true, nil
	}
	a, err := d.up.Open(path)
	if err != nil {
		return true, nil // remark reports it
	}
	defer a.Close()
	b, err := d.low.Open(path)
	if err != nil {
		return true, nil // a file of the workspace that this user may not read
	}
	defer b.Close()
	equal, err := patch.EqualFiles(a, b)
	return !equal, err
}
