package run

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/backend/virtual/workspace"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// unapplied is what remains of changes in memory that could not be made in the workspace: the sandbox ends with its command.
type unapplied struct {
	Archive string   `json:"archive,omitempty"` // a tar file, whose names are relative to /
	Deleted []string `json:"deleted,omitempty"` // paths that are to be deleted, which no archive can say
	Omitted []string `json:"omitted,omitempty"` // neither a file, a directory nor a link
}

// storeUnapplied writes the changes to an archive in the first of the directories that has room for it. What the policy refuses is
// not among them.
func storeUnapplied(ctx context.Context, files sandbox.Files, list []workspace.Change, skipped func(path string) bool, dirs ...string) (u unapplied, err error) {
	var paths []string
	for _, c := range list {
		switch {
		case !skipped(c.Path):
		case c.Kind == "deleted":
			u.Deleted = append(u.Deleted, c.Path)
		default:
			paths = append(paths, c.Path)
		}
	}
	if len(paths) == 0 {
		return u, nil
	}
	for _, dir := range dirs {
		var once error
		u.Archive, u.Omitted, once = archive(ctx, files, paths, dir)
		if once == nil {
			return u, nil
		}
		err = errors.Join(err, once)
	}
	u.Omitted = paths
	return u, fmt.Errorf("store what was not applied: %w", err)
}

// archive writes what is at the paths inside to a new tar file in dir, which is created for this user alone.
func archive(ctx context.Context, files sandbox.Files, paths []string, dir string) (name string, omitted []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	f, err := os.CreateTemp(dir, "unapplied-*.tar")
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	w := tar.NewWriter(f)
	for _, path := range paths {
		isStored, err := archiveEntry(ctx, w, files, path)
		if err != nil {
			return "", nil, err
		}
		if !isStored {
			omitted = append(omitted, path)
		}
	}
	return f.Name(), omitted, w.Close()
}

// archiveEntry writes one file, directory or link; false: it is none of them.
func archiveEntry(ctx context.Context, w *tar.Writer, files sandbox.Files, path string) (bool, error) {
	info, err := files.Stat(ctx, path)
	if err != nil {
		return false, err
	}
	h := &tar.Header{Name: strings.TrimPrefix(path, "/"), Mode: int64(info.Mode.Perm()), ModTime: info.Time, Format: tar.FormatGNU}
	switch {
	case info.Mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
	case info.Mode&fs.ModeSymlink != 0:
		h.Typeflag, h.Linkname = tar.TypeSymlink, info.Target
	case info.Mode.IsRegular():
		h.Typeflag, h.Size = tar.TypeReg, info.Size
	default:
		return false, nil
	}
	if err := w.WriteHeader(h); err != nil || h.Typeflag != tar.TypeReg {
		return err == nil, err
	}
	r, err := files.Open(ctx, path)
	if err != nil {
		return false, err
	}
	_, err = io.CopyN(w, r, info.Size)
	return err == nil, errors.Join(err, r.Close())
}

// print says where the changes are and how to make them.
func (u unapplied) print(a *console.App) {
	if u.Archive != "" {
		a.Err.Say("what was not applied is in " + patch.Quote(u.Archive) + "; to make these changes: tar -xpf " + shellword.Quote(u.Archive) + " -C /")
	}
	if len(u.Deleted) > 0 {
		a.Err.Say("not deleted: " + listPaths(u.Deleted))
	}
	if len(u.Omitted) > 0 {
		a.Err.Say("lost, because it could not be stored: " + listPaths(u.Omitted))
	}
}

// listPaths lists the first ten paths.
func listPaths(paths []string) string {
	const most = 10
	var words []string
	for _, p := range paths[:min(len(paths), most)] {
		words = append(words, patch.Quote(p))
	}
	if more := len(paths) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// unappliedDirs are the directories for such archives: agent-sandbox's own, and that for temporary files, which may be on another disk.
func unappliedDirs(data string) []string {
	return []string{filepath.Join(data, "unapplied"), os.TempDir()}
}
