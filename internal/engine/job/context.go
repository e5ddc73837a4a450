package job

import (
	"archive/tar"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ContextError is the error of a build context that cannot be packed. A client finds it again behind its own errors.
type ContextError struct{ Err error }

func (e ContextError) Error() string { return e.Err.Error() }

func (e ContextError) Unwrap() error { return e.Err }

// PackContext writes the files of a build context, except some of those at its top, for [Build.Archive]: whoever has to
// know what is built has it there.
func PackContext(w io.Writer, files fs.FS, except ...string) error {
	return packContext(w, files, nil, except...)
}

// Pack writes the archive of the build's context, as an engine wants it.
func (b *Build) Pack(w io.Writer) error {
	if b.Archive == nil {
		return packContext(w, b.Context, b.Extra)
	}
	_, err := io.Copy(w, b.Archive)
	return err
}

// packContext writes the files of a build context as a tar archive. It follows no link: the engine gets them as they
// are and resolves them within the context. Owners and times are left out, so that the same files are the same layers.
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
		return sandbox.Errorf(sandbox.Invalid, "%s is no file, directory or link", name)
	}
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	// What grows or shrinks while it is read is an error of the archive's.
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
