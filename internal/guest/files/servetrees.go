package files

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// makeDirectory makes name and its missing parents.
func makeDirectory(name, perm string) error {
	mode, err := parsePerm("mkdir", name, perm)
	if err != nil {
		return err
	}
	if info, err := os.Stat(name); err == nil {
		if info.IsDir() {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.EEXIST}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		return err
	}
	return os.Chmod(name, mode)
}

// search answers a wireQuery.
func search(name, query string, out io.Writer) error {
	q, err := parseQuery(query)
	if err != nil {
		return err
	}
	found, err := sandbox.SearchTree(context.Background(), ownTree{}, name, q)
	if err != nil {
		return err
	}
	return sendFound(found, out)
}

func parseQuery(query string) (sandbox.Query, error) {
	var q wireQuery
	if err := json.Unmarshal([]byte(query), &q); err != nil {
		return sandbox.Query{}, errUsage
	}
	return sandbox.Query{Name: string(q.Name), Text: string(q.Text), Max: q.Max}, nil
}

func sendFound(found sandbox.Found, out io.Writer) error {
	w := wireFound{Matches: []wireMatch{}, Cut: found.Cut}
	for _, m := range found.Matches {
		w.Matches = append(w.Matches, wireMatch{[]byte(m.Name), m.Line, m.Text})
	}
	return json.NewEncoder(out).Encode(w)
}

// ownTree gives package search access to the files of this process.
type ownTree struct{}

func (ownTree) Open(_ context.Context, name string) (io.ReadCloser, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (ownTree) List(_ context.Context, name string) ([]sandbox.FileInfo, error) {
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	infos := make([]sandbox.FileInfo, len(entries))
	for i, e := range entries {
		infos[i] = sandbox.FileInfo{Name: e.Name(), Mode: e.Type()}
	}
	return infos, nil
}

func packTree(name string, out io.Writer) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return transfer.Pack(context.Background(), out, root)
}

// unpackTree extracts without limits: the host sends the user's own files, and the isolation enforces the limits of files.
func unpackTree(name string, in io.Reader) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return withContent(in, func(r io.Reader) error {
		_, err := transfer.Unpack(context.Background(), r, root, transfer.Options{AnyLink: true})
		return err
	})
}

// withContent calls do with the content of chunks. It returns an error if the content was incomplete, even if do succeeded.
func withContent(in io.Reader, do func(r io.Reader) error) error {
	r, w := io.Pipe()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		_ = w.CloseWithError(copyChunks(w, in)) // documented to return nil
	}()
	err := do(r)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // data after the archive's end
	}
	_ = r.CloseWithError(err) // documented to return nil
	<-fed
	return err
}
