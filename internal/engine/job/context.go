package job

import (
	"archive/tar"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ContextError is an error of packing a build context. errors.As finds it in the errors of a client.
type ContextError struct{ Err error }

func (e ContextError) Error() string { return e.Err.Error() }

func (e ContextError) Unwrap() error { return e.Err }

// PackContext writes the files of a build context for [Build.Archive], without the named files in its top directory.
// The caller can examine the archive before the build.
func PackContext(w io.Writer, files fs.FS, except ...string) error {
	return packContext(w, files, nil, except...)
}

// Pack writes the archive of the build's context for an engine.
func (b *Build) Pack(w io.Writer) error {
	if b.Archive == nil {
		return packContext(w, b.Context, b.Extra)
	}
	_, err := io.Copy(w, b.Archive)
	return err
}

// packContext writes the files of a build context as a tar archive. It stores links as they are, which the engine resolves
// within the context. It omits owners and times, so that equal files make equal layers.
func packContext(w io.Writer, files fs.FS, extra map[string][]byte, except ...string) error {
	t := tar.NewWriter(w)
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." || slices.Contains(except, name) && !e.IsDir() {
			return err
		}
		return packFile(t, files, name, e)
	})
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if err == nil {
			err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(extra[name]))})
		}
		if err == nil {
			_, err = t.Write(extra[name])
		}
	}
	if err == nil {
		err = t.Close()
	}
	if err != nil {
		return ContextError{sandbox.Errorf(sandbox.Invalid, "build context: %w", err)}
	}
	return nil
}

func packFile(t *tar.Writer, files fs.FS, name string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: name, Mode: int64(info.Mode().Perm())}
	switch {
	case info.IsDir():
		h.Typeflag = tar.TypeDir
		h.Name += "/"
		return t.WriteHeader(h)
	case info.Mode()&fs.ModeSymlink != 0:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = fs.ReadLink(files, name); err != nil {
			return err
		}
		return t.WriteHeader(h)
	case !info.Mode().IsRegular():
		return sandbox.Errorf(sandbox.Invalid, "%s is not a file, directory or link", name)
	}
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	// If a file changes its size meanwhile, the archive writer returns an error.
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
