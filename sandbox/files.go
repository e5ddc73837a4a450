package sandbox

import (
	"context"
	"io"
	"io/fs"
)

// Maker is implemented by Files that make directories.
type Maker interface {
	// Mkdir makes name and the missing directories above it. An existing directory stays as it is; Exists: name is not a directory.
	Mkdir(ctx context.Context, name string, perm fs.FileMode) error
}

// Searcher is implemented by Files that search inside the sandbox.
type Searcher interface {
	// Search looks below root as [SearchTree].
	Search(ctx context.Context, root string, q Query) (Found, error)
}

// Archiver is implemented by Files that transfer directory trees as tar archives. Package transfer uses it.
type Archiver interface {
	// Pack streams the directory name and all below it out, with names relative to it. The caller closes the stream;
	// Close reports whether all of it arrived. The stream comes from the sandbox and is hostile: extract it with care.
	Pack(ctx context.Context, name string) (io.ReadCloser, error)
	// Unpack streams a tree into the directory name, which exists. What exists is replaced, directories are merged.
	Unpack(ctx context.Context, name string, r io.Reader) error
}

// files wraps a driver's Files, so that every error names its operation and sandbox. It has the optional interfaces, too, and
// returns Unsupported for those that the driver lacks.
type files struct{ s *Sandbox }

func (f files) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := f.s.usable("open file"); err != nil {
		return nil, err
	}
	r, err := f.s.instance.Files().Open(ctx, name)
	return r, f.s.wrap(err, "open file")
}

func (f files) Create(ctx context.Context, name string, perm fs.FileMode, r io.Reader) error {
	return f.do("create file", func(d Files) error { return d.Create(ctx, name, perm, r) })
}

func (f files) Stat(ctx context.Context, name string) (info FileInfo, err error) {
	err = f.do("stat", func(d Files) error { info, err = d.Stat(ctx, name); return err })
	return info, err
}

func (f files) List(ctx context.Context, name string) (infos []FileInfo, err error) {
	err = f.do("list", func(d Files) error { infos, err = d.List(ctx, name); return err })
	return infos, err
}

func (f files) Remove(ctx context.Context, name string) error {
	return f.do("remove", func(d Files) error { return d.Remove(ctx, name) })
}

func (f files) Rename(ctx context.Context, from, to string) error {
	return f.do("rename", func(d Files) error { return d.Rename(ctx, from, to) })
}

// Mkdir is that of [Maker].
func (f files) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	return f.do("make directory", func(d Files) error {
		m, ok := d.(Maker)
		if !ok {
			return Errorf(Unsupported, "this sandbox does not support creating directories")
		}
		return m.Mkdir(ctx, name, perm)
	})
}

// Search is that of [Searcher], and [SearchTree] where the driver has none.
func (f files) Search(ctx context.Context, root string, q Query) (found Found, err error) {
	err = f.do("search", func(d Files) error {
		if s, ok := d.(Searcher); ok {
			found, err = s.Search(ctx, root, q)
			return err
		}
		found, err = SearchTree(ctx, d, root, q)
		return err
	})
	return found, err
}

// Pack is that of [Archiver].
func (f files) Pack(ctx context.Context, name string) (r io.ReadCloser, err error) {
	err = f.do("pack", func(d Files) error {
		a, ok := d.(Archiver)
		if !ok {
			return Errorf(Unsupported, "this sandbox does not support reading directory trees")
		}
		r, err = a.Pack(ctx, name)
		return err
	})
	return r, err
}

// Unpack is that of [Archiver].
func (f files) Unpack(ctx context.Context, name string, r io.Reader) error {
	return f.do("unpack", func(d Files) error {
		a, ok := d.(Archiver)
		if !ok {
			return Errorf(Unsupported, "this sandbox does not support writing directory trees")
		}
		return a.Unpack(ctx, name, r)
	})
}

func (f files) do(op string, call func(Files) error) error {
	if err := f.s.usable(op); err != nil {
		return err
	}
	return f.s.wrap(call(f.s.instance.Files()), op)
}
