package sandbox

import (
	"context"
	"io"
	"io/fs"
)

// files wraps a driver's Files, so that every error says where it happened.
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

func (f files) do(op string, call func(Files) error) error {
	if err := f.s.usable(op); err != nil {
		return err
	}
	return f.s.wrap(call(f.s.instance.Files()), op)
}
