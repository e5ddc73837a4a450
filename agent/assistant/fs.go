package assistant

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"time"
)

// FS returns the assistant's directory as a file system whose files are read by [Assistant.ReadFile]: it reads nothing
// outside the directory, and no file that changed since the assistant was trusted by its content. It does not list
// directories.
func (a *Assistant) FS() fs.FS { return sources{a} }

type sources struct{ a *Assistant }

// Open implements [fs.FS].
func (s sources) Open(name string) (fs.File, error) {
	data, err := s.a.ReadFile(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &source{Reader: bytes.NewReader(data), name: path.Base(name)}, nil
}

// Stat implements [fs.StatFS], also for directories. Trust does not cover its result.
func (s sources) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	t, err := s.a.root.tree()
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	defer t.root.Close()
	return t.root.Stat(filepath.FromSlash(path.Join(assistantsDir, s.a.Name, name)))
}

// source is an open file whose content was read.
type source struct {
	*bytes.Reader

	name string
}

func (s *source) Stat() (fs.FileInfo, error) { return s, nil }
func (s *source) Close() error               { return nil }
func (s *source) Name() string               { return s.name }
func (s *source) Mode() fs.FileMode          { return 0o444 }
func (s *source) ModTime() time.Time         { return time.Time{} }
func (s *source) IsDir() bool                { return false }
func (s *source) Sys() any                   { return nil }
